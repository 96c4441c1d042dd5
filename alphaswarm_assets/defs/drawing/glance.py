"""A picture small enough to stand on an asset's page itself: two lines of equity in a few hundred letters of SVG.

The UI of Dagster 1.13 shows Markdown of up to 999 letters in place and anything longer behind a link, so a PNG never
stands where the eye falls first.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from alphaswarm_assets.arrays import Float64Array, Int64Array
from alphaswarm_assets.defs.wording import who_is

MOST_LETTERS: Final = 999
"""Of a Markdown entry that the UI shows in place."""

WIDTH_PX, HEIGHT_PX, MARGIN_PX = 560, 150, 6
COLOURS: Final = ("royalblue", "darkorange")
COLOUR_WORDS: Final = ("blue", "orange")
POINTS: Final = (80, 70, 56, 40, 28, 20)
"""Numbers of points a line may have; the first that fits is taken. Each divides the width."""


def equity_glance(session_days: Int64Array, curves: Mapping[str, Float64Array]) -> str:
    """Return the first two *curves* as Markdown with a picture in it; empty where there is nothing to draw.

    Parameters
    ----------
    session_days : (T,) int64
        Days since 1970-01-01.
    curves : mapping of label to (T,) float64
        Equity as a multiple of its start, finite.
    """
    shown = dict(list(curves.items())[: len(COLOURS)])
    if len(session_days) < 2 or not shown:
        return ""
    caption = _caption(session_days, shown)
    for n in POINTS:
        markdown = f"![equity]({_svg(shown, n)})\n\n{caption}"
        if len(markdown) <= MOST_LETTERS:
            return markdown
    return ""


def _caption(session_days: Int64Array, curves: Mapping[str, Float64Array]) -> str:
    lines = [
        f"{colour}: {who_is(label)}, 1 → {curve[-1]:.2f}"
        for (label, curve), colour in zip(curves.items(), COLOUR_WORDS, strict=False)
    ]
    first, last = (np.datetime64(int(day), "D") for day in (session_days[0], session_days[-1]))
    return f"{' · '.join(lines)}\\\n{first} to {last}, net of costs; grey: where it started"


def _svg(curves: Mapping[str, Float64Array], n: int) -> str:
    step = WIDTH_PX // n
    values = {label: _thinned(curve, n + 1) for label, curve in curves.items()}
    every = np.concatenate([*values.values(), [1.0]])
    low, span = float(every.min()), float(np.ptp(every)) or 1.0
    heights = {label: _pixels(line, low, span) for label, line in values.items()}
    start = int(_pixels(np.ones(1), low, span)[0])
    paths = [f"<path d='M0,{start}h{WIDTH_PX}' stroke='silver'/>"]
    paths += [
        f"<path d='{_path(line, step)}' stroke='{colour}'/>"
        for line, colour in reversed(list(zip(heights.values(), COLOURS, strict=False)))
    ]
    size = f"width='{WIDTH_PX}' height='{HEIGHT_PX}'"
    head = f"<svg xmlns='http://www.w3.org/2000/svg' {size} fill='none' stroke-width='2'>"
    text = f"{head}{''.join(paths)}</svg>"
    for letter, code in ((" ", "%20"), ("<", "%3C"), (">", "%3E")):
        text = text.replace(letter, code)
    return f"data:image/svg+xml,{text}"


def _thinned(curve: Float64Array, n: int) -> Float64Array:
    at = np.linspace(0, len(curve) - 1, n).round().astype(np.int64)
    return np.concatenate(([1.0], np.asarray(curve, dtype=np.float64)[at[1:]]))


def _pixels(line: Float64Array, low: float, span: float) -> Int64Array:
    room = HEIGHT_PX - 2 * MARGIN_PX
    return (MARGIN_PX + room * (1.0 - (line - low) / span)).round().astype(np.int64)


def _path(heights: Int64Array, step: int) -> str:
    moves = "".join(f"{step}{d if d < 0 else f',{d}'}," for d in np.diff(heights).tolist())
    return f"M0,{int(heights[0])}l{moves.rstrip(',')}"
