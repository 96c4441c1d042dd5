"""A gate a row: what was observed, the threshold it had to clear, and in words how it went."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from alphaswarm_assets.defs.drawing import canvas
from alphaswarm_assets.defs.drawing.canvas import LegendEntry
from alphaswarm_assets.defs.drawing.rows import (
    as_number,
    leave_blank,
    new_row_chart,
    set_scale,
    short,
)
from alphaswarm_assets.gates.outcome import clears

SIGNS: Final = {">=": "≥", "<=": "≤", ">": ">"}

WORDS: Final = {"threshold_failed": "FAIL", "missing_evidence": "NO EVIDENCE"}
"""Where a status is said in other words than its own."""


def gate_chart(
    outcomes: Sequence[Mapping[str, Any]], *, title: str = "Gates: observed against threshold"
) -> bytes:
    """Draw a gate a row, each on its own scale; colour never says what words do not.

    Parameters
    ----------
    outcomes : sequence of mapping
        Keys ``check``, ``observed``, ``comparator``, ``threshold``, ``status``, ``passed``, ``reason``, ``unit``, as
        a verdict or an acceptance lists them.
    title : str
        What the picture shows.
    """
    chart = new_row_chart(title, len(outcomes), _legend() if outcomes else [])
    if not outcomes:
        canvas.say_nothing_to_draw(chart.panel(0), "no gate is configured")
    for i, row in enumerate(outcomes):
        chart.name(i, str(row["check"]), row.get("unit"))
        _draw(chart.panel(i), row)
        status = str(row["status"])
        word = WORDS.get(status, status.replace("_", " ").upper())
        chart.say(i, f"{word}   {_compare(row)}", str(row.get("reason") or ""), color=_colour(row))
    return canvas.to_png(chart.figure)


def _draw(axes: canvas.Axes, row: Mapping[str, Any]) -> None:
    observed, threshold = as_number(row.get("observed")), as_number(row.get("threshold"))
    drawn = [value for value in (observed, threshold) if value is not None]
    if not drawn:
        leave_blank(axes)
        return
    set_scale(axes, drawn)
    if threshold is not None:
        left, right = axes.get_xlim()
        side = (left, threshold) if row.get("comparator") == "<=" else (threshold, right)
        axes.axvspan(*side, color=canvas.BLUE, alpha=0.10, linewidth=0)
        axes.axvline(threshold, color=canvas.INK, linewidth=1.8)
    if observed is None:
        axes.set_xticks(drawn, [short(value) for value in drawn])
        return
    marker, colour = ("o", canvas.BLUE) if row["passed"] is True else ("X", canvas.VERMILLION)
    axes.plot(observed, 0.0, marker=marker, markersize=10, color=colour, zorder=5, clip_on=False)


def _compare(row: Mapping[str, Any]) -> str:
    observed, threshold = as_number(row.get("observed")), as_number(row.get("threshold"))
    if threshold is None:
        return "" if observed is None else short(observed)
    comparator = row.get("comparator")
    needs = f"{SIGNS.get(str(comparator), comparator)} {short(threshold)}"
    if observed is None:
        return f"needs {needs}"
    if comparator not in SIGNS or clears(observed, comparator, threshold):
        return f"{short(observed)} {needs}"
    # A near miss must not read as if it had been enough.
    near = short(observed) == short(threshold) and observed != threshold
    side = "" if not near else "just above " if observed > threshold else "just below "
    return f"{side}{short(observed)}, needs {needs}"


def _colour(row: Mapping[str, Any]) -> str:
    if row["passed"] is True:
        return canvas.BLUE
    return canvas.FAINT if row["status"] == "not_applicable" else canvas.VERMILLION


def _legend() -> list[LegendEntry]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    dot = Line2D([], [], color=canvas.BLUE, linewidth=0, marker="o", markersize=9)
    cross = Line2D([], [], color=canvas.VERMILLION, linewidth=0, marker="X", markersize=9)
    bar = Line2D([], [], color=canvas.INK, linewidth=1.8)
    side = Patch(color=canvas.BLUE, alpha=0.10, linewidth=0)
    return [
        LegendEntry(handle=dot, text="observed, passes"),
        LegendEntry(handle=cross, text="observed, does not"),
        LegendEntry(handle=bar, text="threshold"),
        LegendEntry(handle=side, text="side that passes"),
    ]
