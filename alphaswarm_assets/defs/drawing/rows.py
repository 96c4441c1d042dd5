"""What charts with a row a quantity share: a name at the left, a scale of its own, words at the right."""

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from alphaswarm_assets.defs.drawing import canvas
from alphaswarm_assets.defs.drawing.canvas import LegendEntry

ROW_PX: Final = 58
NAME_PX: Final = 196
PANEL_PX: Final = 340
LINE_CHARS: Final = 54
"""Letters of small print that fit on one of the two lines at the right of a row."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RowChart:
    """A figure with as many rows as there are quantities."""

    figure: canvas.Figure
    top_px: float
    """Where the first row begins."""

    def panel(self, i: int) -> canvas.Axes:
        """Return the axes of row *i*, from -1 to 1 upwards, with a scale below."""
        top = self.top_px + i * ROW_PX + 6
        axes = canvas.add_axes(self.figure, left=NAME_PX, top=top, width=PANEL_PX, height=26)
        axes.spines["left"].set_visible(False)
        axes.grid(visible=False)
        axes.set_yticks([])
        axes.set_ylim(-1.0, 1.0)
        axes.tick_params(labelsize=8.5, length=2, pad=2, labelcolor=canvas.FAINT)
        return axes

    def name(self, i: int, name: str, unit: object) -> None:
        """Write what row *i* is about, and its unit if there is one, at its left."""
        self._write(i, 16, 19, name.replace("_", " "), size=10.5, color=canvas.INK)
        if unit:
            self._write(i, 16, 36, str(unit), size=8.5, color=canvas.FAINT)

    def say(self, i: int, lead: str, rest: str, *, color: str) -> None:
        """Write *lead* at the right of row *i*, and *rest* in small print under it."""
        left = NAME_PX + PANEL_PX + 22
        self._write(i, left, 19, lead, size=10.5, color=color, weight="bold")
        if rest:
            small = textwrap.fill(rest, LINE_CHARS, max_lines=2, placeholder=" …")
            self._write(
                i, left, 28, small, size=8.5, color=canvas.FAINT, va="top", linespacing=1.15
            )

    def _write(self, i: int, left_px: float, down_px: float, text: str, **look: Any) -> None:
        self.figure.text(
            canvas.from_left(left_px),
            canvas.from_top(self.figure, self.top_px + i * ROW_PX + down_px),
            canvas.plain(text),
            **({"va": "center", "fontsize": look.pop("size")} | look),
        )


def new_row_chart(title: str, n_rows: int, legend: Sequence[LegendEntry]) -> RowChart:
    """Return a chart for *n_rows* rows under *title* and *legend*."""
    top = canvas.legend_bottom([entry.text for entry in legend])
    figure = canvas.new_figure(top + ROW_PX * max(n_rows, 1) + 8, title)
    canvas.show_legend(figure, legend)
    return RowChart(figure=figure, top_px=top)


def set_scale(axes: canvas.Axes, values: Sequence[float]) -> None:
    """Let *axes* span *values*; whole numbers get whole ticks, values that all but agree get room around them."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    least, most = min(values), max(values)
    largest = max(abs(least), abs(most))
    if largest < 1e-300:
        largest = 0.0
    span = max(most - least, 0.3 * largest) or 1.0
    whole = all(value.is_integer() for value in values)
    axes.set_xlim(least - 0.18 * span, most + 0.18 * span)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=whole, min_n_ticks=1 if whole else 2))
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: "0" if abs(value) < 1e-9 * span else short(value))
    )


def leave_blank(axes: canvas.Axes) -> None:
    """Draw *axes* as a faint line: there is no number to put on it."""
    axes.set_xticks([])
    axes.spines["bottom"].set_color(canvas.HAIRLINE)


def short(value: float) -> str:
    """Return *value* in three significant digits."""
    return f"{value:.3g}".replace("-", "−")


def as_number(value: object) -> float | None:
    """Return *value* as a float if it is a finite number, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None
