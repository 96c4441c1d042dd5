"""A metric a row: its mean over seeds, the interval of that mean, and the interquartile mean."""

from collections.abc import Mapping, Sequence
from typing import Any

from alphaswarm_assets.defs.drawing import canvas
from alphaswarm_assets.defs.drawing.canvas import LegendEntry
from alphaswarm_assets.defs.drawing.rows import (
    as_number,
    leave_blank,
    new_row_chart,
    set_scale,
    short,
)


def interval_plot(
    rows: Sequence[Mapping[str, Any]],
    *,
    title: str = "Over seeds: mean, its interval, interquartile mean",
) -> bytes:
    """Draw a metric a row, each on its own scale with zero on it.

    Parameters
    ----------
    rows : sequence of mapping
        Keys ``metric``, ``point``, ``lo``, ``hi``, ``iqm``, optionally ``unit``. A value that is None, or an object
        with a ``reason``, is said and not drawn.
    title : str
        What the picture shows.
    """
    legend = _legend() if rows else []
    chart = new_row_chart(title, len(rows), legend)
    if not rows:
        canvas.say_nothing_to_draw(chart.panel(0), "no metric to draw")
    for i, row in enumerate(rows):
        numbers = {key: as_number(row.get(key)) for key in ("point", "lo", "hi", "iqm")}
        chart.name(i, str(row["metric"]), row.get("unit"))
        _draw(chart.panel(i), numbers)
        lead, rest = _say(row, numbers)
        chart.say(i, lead, rest, color=canvas.INK)
    return canvas.to_png(chart.figure)


def _draw(axes: canvas.Axes, numbers: Mapping[str, float | None]) -> None:
    drawn = [value for value in numbers.values() if value is not None]
    if not drawn:
        leave_blank(axes)
        return
    set_scale(axes, [0.0, *drawn])
    axes.axvline(0.0, color=canvas.FAINT, linewidth=1.0, linestyle=(0, (3, 2)))
    lo, hi, point, iqm = (numbers[key] for key in ("lo", "hi", "point", "iqm"))
    if lo is not None and hi is not None:
        ends = {"color": canvas.BLUE, "marker": "|", "markersize": 11, "markeredgewidth": 1.6}
        axes.plot([lo, hi], [0.1, 0.1], color=canvas.BLUE, linewidth=3, alpha=0.45)
        axes.plot([lo, hi], [0.1, 0.1], linewidth=0, **ends)
    if point is not None:
        axes.plot(point, 0.1, color=canvas.BLUE, marker="o", markersize=8, zorder=4)
    if iqm is not None:
        axes.plot(iqm, 0.1, zorder=5, **_DIAMOND)


def _say(row: Mapping[str, Any], numbers: Mapping[str, float | None]) -> tuple[str, str]:
    point, lo, hi, iqm = (numbers[key] for key in ("point", "lo", "hi", "iqm"))
    if point is None:
        return "not computable", _reason(row.get("point"))
    beside = "" if iqm is None else f"interquartile mean {short(iqm)}"
    if lo is None or hi is None:
        return f"{short(point)}   no interval", _reason(row.get("lo")) or beside
    return f"{short(point)}   [{short(lo)}, {short(hi)}]", beside


def _reason(value: object) -> str:
    return str(value.get("reason") or "") if isinstance(value, Mapping) else ""


def _legend() -> list[LegendEntry]:
    from matplotlib.lines import Line2D

    dot = Line2D([], [], color=canvas.BLUE, linewidth=0, marker="o", markersize=8)
    bar = Line2D([], [], color=canvas.BLUE, linewidth=3, alpha=0.45)
    return [
        LegendEntry(handle=dot, text="mean over seeds"),
        LegendEntry(handle=bar, text="interval of the mean"),
        LegendEntry(handle=Line2D([], [], linewidth=0, **_DIAMOND), text="interquartile mean"),
    ]


_DIAMOND: Mapping[str, Any] = {
    "color": "white",
    "marker": "D",
    "markersize": 5.5,
    "markeredgecolor": canvas.VERMILLION,
    "markeredgewidth": 1.6,
}
