"""The walk over the calendar: which bars each fold trains on, is measured on, and which are kept for paper."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from alphaswarm_assets.arrays import Float64Array, Int64Array
from alphaswarm_assets.defs.drawing import canvas
from alphaswarm_assets.defs.drawing.canvas import LegendEntry


def folds_chart(
    walk: Mapping[str, Any],
    sessions: Int64Array | int,
    *,
    title: str = "Walk-forward: what each fold learns from and is measured on",
) -> bytes:
    """Draw the windows of a walk over the calendar, or over bars.

    Parameters
    ----------
    walk : JSON object
        As `markets.folds.walk_to_json` writes it: bars, start inclusive, stop exclusive.
    sessions : (T,) int64, or int
        Days since 1970-01-01 of the bars that the windows count; or only how many bars there are, and the axis counts
        bars.
    title : str
        What the picture shows.
    """
    dated = not isinstance(sessions, int)
    days = np.asarray(sessions if dated else np.arange(sessions), dtype=np.float64)
    rows = [(fold["name"], "train", fold["train"], canvas.BLUE, "") for fold in walk["folds"]]
    rows += [
        (f["name"], "evaluate", f["evaluate"], canvas.ORANGE, "//")
        for f in walk["folds"]
        if f["evaluate"]
    ]
    if walk.get("paper"):
        rows.append(("paper", "paper (never seen before)", walk["paper"], canvas.GREEN, ".."))
    names = list(dict.fromkeys(row[0] for row in rows))
    kinds = list(dict.fromkeys(row[1] for row in rows))
    top = canvas.legend_bottom(kinds)
    figure = canvas.new_figure(top + (40 if dated else 60) + 30 * max(len(names), 2), title)
    axes = canvas.plot_axes(figure, top=top, x=None if dated else "bar")
    if not names or days.size == 0:
        canvas.say_nothing_to_draw(axes, "no fold to draw")
        return canvas.to_png(figure)
    entries = _windows(axes, days, rows, names)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    if dated:
        canvas.show_dates(axes, days)
    canvas.show_legend(figure, entries)
    return canvas.to_png(figure)


def _windows(
    axes: canvas.Axes,
    days: Float64Array,
    rows: Sequence[tuple[str, str, Sequence[int], str, str]],
    names: Sequence[str],
) -> list[LegendEntry]:
    shown: dict[str, LegendEntry] = {}
    for name, kind, (start, stop), colour, hatch in rows:
        first, last = days[min(start, len(days) - 1)], days[min(stop, len(days)) - 1]
        bar = axes.barh(
            names.index(name), max(last - first, 1.0), left=first, height=0.62,
            color=colour, alpha=0.85, hatch=hatch, edgecolor="white", linewidth=0,
        )  # fmt: skip
        shown.setdefault(kind, LegendEntry(handle=bar, text=kind))
    return list(shown.values())
