"""How standings are shown: one row a spec, or one row a cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from alphaswarm_assets.cli.consoles import say
from alphaswarm_assets.cli.standing import Standing
from alphaswarm_assets.cli.words import DECISION_STYLES, STATE_STYLES, instant
from alphaswarm_assets.ports import HALT_ALL, Progress


def show_overview(
    console: Console, standings: Sequence[Standing], halts: Mapping[str, str]
) -> None:
    """Print one row a spec, then what runs, then what is halted."""
    if not standings:
        say(console, "no spec is registered. Run one: alphaswarm run FILE")
    else:
        console.print(_overview(standings))
    for standing in standings:
        show_progress(console, standing.progress)
    show_halts(console, halts)


def show_one(console: Console, standing: Standing, halts: Mapping[str, str]) -> None:
    """Print every cell of one spec, how far its running seeds are, and what halts it."""
    say(console, Text.assemble((standing.key, "bold"), "  ", _decision(standing)))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("stage", "cell", "state", "why"):
        table.add_column(name, overflow="fold")
    shown = ""
    for planned, state in standing.cells:
        stage = planned.cell.stage
        why = "" if state == "running" else planned.why
        table.add_row(
            "" if stage == shown else stage,
            planned.cell.name,
            Text(state, style=STATE_STYLES[state]),
            why,
        )
        shown = stage
    console.print(table)
    show_progress(console, standing.progress)
    show_halts(
        console, {key: reason for key, reason in halts.items() if key in {standing.key, HALT_ALL}}
    )


def show_progress(console: Console, progress: Mapping[str, Progress]) -> None:
    """Print how far every running seed is."""
    for topic, at in progress.items():
        key = topic.split("/")[0]
        share = at.step / at.total if at.total else 0.0
        say(
            console,
            f"running {key}  {at.label}  {at.step:,} / {at.total:,} steps ({share:.0%}), reported {instant(at.at)}",
        )


def show_halts(console: Console, halts: Mapping[str, str]) -> None:
    """Print what is halted, and how it is let go."""
    for key, reason in halts.items():
        what, how = ("everything", "--all") if key == HALT_ALL else (key, key)
        say(
            console,
            Text.assemble(
                ("halted ", "bold red"),
                (what, "bold"),
                f": {reason}. Let it go: alphaswarm resume {how}",
            ),
        )


def status_json(
    home: Path, standings: Sequence[Standing], halts: Mapping[str, str]
) -> dict[str, Any]:
    """Return what ``status --json`` prints."""
    return {
        "home": str(home),
        "specs": [standing.to_json() for standing in standings],
        "halts": dict(halts),
    }


def _overview(standings: Sequence[Standing]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("spec", "verdict", "cells"):
        table.add_column(name, overflow="fold")
    for standing in standings:
        cells: str | Text = ", ".join(f"{n} {state}" for state, n in standing.counts.items())
        table.add_row(
            standing.key,
            _decision(standing),
            Text(standing.error, style="red") if standing.error else cells,
        )
    return table


def _decision(standing: Standing) -> Text:
    if standing.decision is None:
        return Text("not judged", style="dim")
    text = Text(standing.decision, style=DECISION_STYLES.get(standing.decision, "bold"))
    return text if standing.judged_on_current else text.append(" (not current)", style="yellow")
