"""A verdict for people: the decision and its reasons, each gate's evidence, the baselines beside the ensemble."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from alphaswarm_assets.cli.words import DECISION_STYLES, metric, quantity, rule
from alphaswarm_assets.drive.verdicts import VerdictView


def verdict_view(verdict: VerdictView) -> RenderableType:
    """Return the whole verdict."""
    decision = Text.assemble(
        (verdict.decision, DECISION_STYLES.get(verdict.decision, "bold")), f"  {verdict.key}"
    )
    parts: list[RenderableType] = [decision, *(Text(f"  - {reason}") for reason in verdict.reasons)]
    if verdict.outcomes:
        parts += ["", gate_table(verdict)]
    if verdict.metrics:
        parts += ["", metric_table(verdict)]
    parts += ["", Text(f"verdict {verdict.digest}", style="dim")]
    if not verdict.current:
        parts.append(
            Text(
                "It is not current: what it was judged on has changed since. Run the spec again.",
                style="yellow",
            )
        )
    return Group(*parts)


def gate_table(verdict: VerdictView) -> Table:
    """Return one row a gate: observed, the rule, the status, and why."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("gate", "observed", "rule", "status", "why"):
        table.add_column(name, overflow="fold", justify="right" if name == "observed" else "left")
    for row in verdict.outcomes:
        unit = str(row["unit"])
        table.add_row(
            str(row["check"]),
            quantity(row["observed"], unit=unit),
            rule(str(row["comparator"]), row["threshold"], unit=unit),
            Text(str(row["status"]), style=_style(row)),
            str(row["reason"] or ""),
        )
    return table


def metric_table(verdict: VerdictView) -> Table:
    """Return one row a metric, one column a label: the ensemble and the baselines."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("out of sample", overflow="fold")
    for label in verdict.metrics:
        table.add_column(label.replace("_", " "), justify="right", overflow="fold")
    for name in dict.fromkeys(name for row in verdict.metrics.values() for name in row):
        cells = (metric(row.get(name), name=name) for row in verdict.metrics.values())
        table.add_row(name.replace("_", " "), *cells)
    return table


def verdict_json(verdict: VerdictView | None) -> dict[str, Any] | None:
    """Return the verdict as JSON."""
    if verdict is None:
        return None
    return {
        "key": verdict.key,
        "decision": verdict.decision,
        "reasons": list(verdict.reasons),
        "outcomes": [dict(row) for row in verdict.outcomes],
        "metrics": {label: dict(row) for label, row in verdict.metrics.items()},
        "digest": verdict.digest,
        "current": verdict.current,
        "pack": dict(verdict.pack) if isinstance(verdict.pack, Mapping) else None,
    }


def _style(row: Mapping[str, Any]) -> str:
    if row["status"] == "not_applicable":
        return "dim"
    return "green" if row["passed"] else "red"
