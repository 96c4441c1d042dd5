"""The canvas every picture is drawn on: one size, one palette, PNG bytes out, no global state."""

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from alphaswarm_assets.arrays import Float64Array

Figure: TypeAlias = Any
"""A matplotlib Figure; matplotlib is imported where something is drawn, not where a graph is loaded."""

Axes: TypeAlias = Any
"""A matplotlib Axes."""

WIDTH_PX: Final = 900
DPI: Final = 100
N_COLOURS: Final = 64
"""Of the PNG: a third of the bytes of true colour, and no difference to be seen."""

INK: Final = "#22262b"
FAINT: Final = "#8a9199"
HAIRLINE: Final = "#d9dde1"

BLUE: Final = "#0072b2"
ORANGE: Final = "#e69f00"
GREEN: Final = "#009e73"
VERMILLION: Final = "#d55e00"
PURPLE: Final = "#cc79a7"
SKY: Final = "#56b4e9"

PALETTE: Final = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION, INK, FAINT)
"""Okabe and Ito's colours, told apart by colour-blind eyes, and two greys."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LegendEntry:
    """One line of a legend."""

    handle: Any
    """The artist whose look is shown."""
    text: str


def new_figure(height_px: int, title: str) -> Figure:
    """Return an empty white figure, 900 px wide, with *title* at its top left.

    Parameters
    ----------
    height_px : int
        Whole height in pixels, title included.
    title : str
        What the picture shows, as a person would say it.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as NewFigure

    figure = NewFigure(
        figsize=(WIDTH_PX / DPI, height_px / DPI), dpi=DPI, facecolor="white", layout=None
    )
    FigureCanvasAgg(figure)
    figure.text(
        from_left(16),
        from_top(figure, 12),
        plain(title),
        ha="left",
        va="top",
        fontsize=13,
        color=INK,
        weight="bold",
    )
    return figure


def from_left(pixels: float) -> float:
    """Return the figure coordinate *pixels* from the left edge."""
    return pixels / WIDTH_PX


def from_top(figure: Figure, pixels: float) -> float:
    """Return the figure coordinate *pixels* below the top edge of *figure*."""
    return 1.0 - pixels / (figure.get_figheight() * DPI)


def add_axes(figure: Figure, *, left: float, top: float, width: float, height: float) -> Axes:
    """Return axes at the given place in pixels from the top left of *figure*, in the house style."""
    total = figure.get_figheight() * DPI
    axes = figure.add_axes(
        (left / WIDTH_PX, 1.0 - (top + height) / total, width / WIDTH_PX, height / total),
        facecolor="white",
    )
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(FAINT)
    axes.tick_params(colors=INK, labelsize=10, length=3, color=FAINT)
    axes.grid(visible=True, color=HAIRLINE, linewidth=0.8)
    axes.set_axisbelow(True)
    return axes


def plot_axes(
    figure: Figure, *, top: float = 76, x: str | None = None, y: str | None = None
) -> Axes:
    """Return the axes of a picture that has only one, labelled with units.

    Parameters
    ----------
    figure : Figure
        From `new_figure`.
    top : float
        Pixels kept for title and legend.
    x, y : str, optional
        What the axes show, with the unit; absent for dates and for names, which speak for themselves.
    """
    below = 34 if x is None else 54
    height = figure.get_figheight() * DPI - top - below
    axes = add_axes(figure, left=76, top=top, width=WIDTH_PX - 76 - 44, height=height)
    if y is not None:
        axes.set_ylabel(plain(y), fontsize=10.5, color=INK)
    if x is not None:
        axes.set_xlabel(plain(x), fontsize=10.5, color=INK)
    return axes


def show_dates(axes: Axes, days: Float64Array) -> None:
    """Label the x axis of *axes* with dates; *days* are counted from 1970-01-01.

    The axis spans *days*, and a day more on each side where they are a single one.
    """
    from matplotlib.dates import AutoDateLocator, DateFormatter, DayLocator

    first, last = float(days.min()), float(days.max())
    span = last - first
    margin = 0.01 * span or 1.0
    axes.set_xlim(first - margin, last + margin)
    locator = (
        DayLocator(tz="UTC") if span < 8 else AutoDateLocator(minticks=3, maxticks=8, tz="UTC")
    )
    # The locator steps in years from three of them on, in months from three, in days below.
    form = "%Y-%m-%d" if span < 120 else "%b %Y" if span < 1100 else "%Y"
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(DateFormatter(form, tz="UTC"))


def show_legend(figure: Figure, entries: Sequence[LegendEntry]) -> None:
    """Write *entries*, row by row, between the title of *figure* and its axes."""
    if not entries:
        return
    n = _legend_columns([entry.text for entry in entries])
    # matplotlib fills a legend column by column.
    in_columns = [entry for column in range(n) for entry in entries[column::n]]
    figure.legend(
        [entry.handle for entry in in_columns],
        [plain(entry.text) for entry in in_columns],
        loc="upper left",
        bbox_to_anchor=(from_left(12), from_top(figure, 34)),
        ncols=n,
        frameon=False,
        fontsize=10,
        labelcolor=INK,
        handlelength=1.8,
        columnspacing=1.6,
        borderaxespad=0.0,
        borderpad=0.3,
    )


def legend_bottom(texts: Sequence[str]) -> int:
    """Return the pixels from the top of a figure to where a legend of *texts* ends and axes may begin."""
    if not texts:
        return 46
    n = _legend_columns(texts)
    return 46 + 21 * -(-len(texts) // n)


def _legend_columns(texts: Sequence[str]) -> int:
    # Letters are 7 px wide on average; the handle and the space between columns take 56.
    widest = max(len(text) for text in texts) * 7.0 + 56.0
    return max(1, min(len(texts), int((WIDTH_PX - 20) // widest)))


def say_nothing_to_draw(axes: Axes, why: str) -> None:
    """Write *why* in the middle of *axes*, where there is no data."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.text(
        0.5,
        0.5,
        plain(why),
        transform=axes.transAxes,
        ha="center",
        va="center",
        fontsize=11,
        color=FAINT,
    )


def plain(text: str) -> str:
    """Return *text* so that it is drawn letter by letter: a dollar starts no formula."""
    shown = text.replace("\\", "\\\\").replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def to_png(figure: Figure) -> bytes:
    """Return *figure* as PNG in 64 colours, which lines and words need no more of; equal figures give equal bytes."""
    from PIL import Image

    figure.canvas.draw()
    picture = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())[:, :, :3].copy())
    reduced = picture.quantize(
        colors=N_COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
    )
    buffer = io.BytesIO()
    reduced.save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()


def markdown_image(png: bytes, alt: str) -> str:
    """Return *png* as Markdown that carries its own bytes.

    Parameters
    ----------
    png : bytes
        A picture of this module's.
    alt : str
        What it shows, for those who cannot see it.
    """
    words = " ".join(alt.replace("[", "(").replace("]", ")").split())
    return f"![{words}](data:image/png;base64,{base64.b64encode(png).decode('ascii')})"
