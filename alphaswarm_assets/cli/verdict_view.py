"""A verdict for people: the decision and its reasons, each gate's evidence, the baselines beside the ensemble."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from alphaswarm_assets.cli.consoles import say
from alphaswarm_assets.cli.words import (
    DECISION_STYLES,
    LABELS,
    METRICS,
    in_order,
    instant,
    many,
    metric,
    quantity,
    rule,
)
from alphaswarm_assets.drive.verdicts import VerdictView


def show_verdict(console: Console, verdict: VerdictView) -> None:
    """Print the whole verdict."""
    style = DECISION_STYLES.get(verdict.decision, "bold")
    say(console, Text.assemble((verdict.decision, style), f"  {verdict.key}"))
    for reason in verdict.reasons:
        say(console, f"  - {reason}")
    for table in (gate_table(verdict), metric_table(verdict)):
        if table.row_count:
            console.print()
            console.print(table)
    console.print()
    if verdict.pack is not None:
        say(console, pack_line(verdict.pack))
        for reason in (verdict.pack.get("acceptance") or {}).get("reasons", ()):
            say(console, f"  - {reason}")
    say(console, Text(f"verdict {verdict.digest}", style="dim"))
    if not verdict.current:
        why = "It is not current: what it was judged on has changed since. Run the spec again."
        say(console, Text(why, style="yellow"))


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
    labels = in_order(verdict.metrics, LABELS)
    for label in labels:
        table.add_column(label.replace("_", " "), justify="right", overflow="fold")
    for name in in_order({name for row in verdict.metrics.values() for name in row}, METRICS):
        cells = (metric(verdict.metrics[label].get(name), name=name) for label in labels)
        table.add_row(name.replace("_", " "), *cells)
    return table


def pack_line(pack: Mapping[str, Any]) -> Text:
    """Return what the paper session came to, in one line."""
    session, decision = pack["session"], str(pack["decision"])
    total_return = session["metrics"]["total_return"]
    gained = (
        metric(total_return, name="total_return")
        if isinstance(total_return, float)
        else "undefined"
    )
    expiry = pack.get("approval_expiry")
    return Text.assemble(
        ("paper ", ""),
        (decision, DECISION_STYLES.get(decision, "bold")),
        f"  {session['status']}: {many(session['n_episodes'], 'episode')}, total return {gained}",
        f", approval holds until {instant(expiry)}" if decision == "PASS" and expiry else "",
    )


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
