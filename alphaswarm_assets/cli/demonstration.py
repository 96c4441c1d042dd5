"""The demonstration: the example specs registered, run one after the other, and told side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from alphaswarm_assets.cli.consoles import say
from alphaswarm_assets.cli.driving import drive_and_watch
from alphaswarm_assets.cli.house import House
from alphaswarm_assets.cli.report import Ending, show_ending
from alphaswarm_assets.cli.serving import FIRST_PORT
from alphaswarm_assets.cli.words import DECISION_STYLES, duration, many
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.specs.loading import load_spec
from alphaswarm_assets.specs.research import ResearchSpec


def demo_specs(folder: Path) -> list[ResearchSpec]:
    """Return the specs in the files ``demo-*.yaml`` of *folder*, by file name.

    Raises
    ------
    InvalidInputError
        If there is none.
    """
    found = sorted(folder.glob("demo-*.yaml"))
    if not found:
        raise InvalidInputError(
            f"there is no demo-*.yaml in {folder.absolute()}. Run the demo in the project's folder, "
            "or name the folder: --specs FOLDER"
        )
    return [load_spec(path) for path in found]


def demonstrate(
    house: House, specs: Sequence[ResearchSpec], console: Console, *, quiet: bool, tell: bool
) -> list[Ending]:
    """Register and run *specs* one after the other, telling each end; an interrupt ends the demonstration."""
    for spec in specs:
        house.specs.register(spec)
    endings: list[Ending] = []
    for spec in specs:
        if not quiet:
            console.print(Rule(Text(spec.name, style="bold"), align="left"))
            say(console, Text(spec.description or "", style="dim"))
        ending = drive_and_watch(house, spec, console, folds=None, parallel=False, quiet=quiet)
        endings.append(ending)
        if tell:
            show_ending(console, ending, with_next=False)
        if ending.report.interrupted:
            break
    return endings


def show_summary(console: Console, endings: Sequence[Ending]) -> None:
    """Print one line a spec, the time of all, and where to look next."""
    console.print(Rule(Text("in short", style="bold"), align="left"))
    for ending in endings:
        decision = ending.verdict.decision if ending.verdict is not None else "no verdict"
        counts = ending.counts
        words = f"  {ending.key}  {counts['made']} made, {counts['current']} current, {counts['failed']} failed"
        say(
            console, Text.assemble((f"{decision:<8}", DECISION_STYLES.get(decision, "bold")), words)
        )
    if endings[-1].report.interrupted:
        say(console, "stopped; what was made is kept, the same command resumes")
        return
    took = duration(sum(ending.elapsed_s for ending in endings))
    say(console, f"{many(len(endings), 'spec')} in {took}.")
    say(
        console,
        f"Look at them at http://127.0.0.1:{FIRST_PORT}, or the next port that is free, with: make ui",
    )
