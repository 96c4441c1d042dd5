"""The live view of a run: stages, cells, the seeds of the cell in hand with their steps, and the time left."""

from __future__ import annotations

from itertools import groupby

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from alphaswarm_assets.cli.tracking import TRAINING, Run
from alphaswarm_assets.cli.words import STATE_STYLES, about, clock, duration
from alphaswarm_assets.drive.cells import split_partition
from alphaswarm_assets.drive.plan import Planned
from alphaswarm_assets.ports import Progress

MAX_SEED_ROWS = 8
"""Seeds shown one a row; of a larger battery, those under way, and a count of the others."""


def live_view(run: Run, *, now_s: float, note: str = "") -> RenderableType:
    """Return the whole view as it stands at *now_s*."""
    parts: list[RenderableType] = [_headline(run, now_s), stage_table(run, now_s=now_s)]
    if run.running is not None and run.running.cell.asset == TRAINING:
        parts.append(_seed_table(run, run.running))
    if note:
        parts.append(Text(note, style="yellow"))
    return Group(*parts)


def stage_table(run: Run, *, now_s: float) -> Table:
    """Return one row an asset: its stage, its name, and the state of each of its cells."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for style in ("bold", "", ""):
        table.add_column(style=style, overflow="fold")
    shown = ""
    for (stage, asset), cells in groupby(run.plan, key=lambda p: (p.cell.stage, p.cell.asset)):
        states = [_cell_text(run, planned, now_s) for planned in cells]
        table.add_row("" if stage == shown else stage, asset, Text(" · ", style="dim").join(states))
        shown = stage
    return table


def seed_line(run: Run, topic: str, progress: Progress) -> str:
    """Return how far a seed is, in one line of text."""
    share = progress.step / progress.total if progress.total else 0.0
    line = f"{progress.label}  {progress.step:,} / {progress.total:,} steps ({share:.0%})"
    speed = run.pace.steps_per_s(topic)
    return f"{line}  {speed:,.0f} steps/s" if speed else line


def remaining(run: Run, now_s: float) -> str:
    """Return about how long the rest takes, in words; empty while nothing is known."""
    left = run.about_left_s(now_s=now_s)
    return f"{about(left)} left" if left else ""


def _headline(run: Run, now_s: float) -> Text:
    text = Text.assemble((run.spec.key, "bold"), f"   {clock(now_s - run.started_s)}")
    left = remaining(run, now_s)
    return text.append(f" · {left}" if left else "")


def _cell_text(run: Run, planned: Planned, now_s: float) -> Text:
    state = run.state(planned)
    fold = split_partition(planned.cell.partition)[0] if planned.cell.axis == "fold" else None
    words = f"{fold} {state}" if fold else state
    if state == "made":
        words += f" {duration(run.took_s[planned.cell.name])}"
    elif state == "running":
        words += f" {clock(now_s - run.running_since_s)}"
    elif state == "not due" and planned.why:
        words += f", {planned.why}"
    return Text(words, style=STATE_STYLES.get(state, ""))


def _seed_table(run: Run, planned: Planned) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(4):
        table.add_column()
    seeds = run.seeds_of(planned)
    rows, others = _worth_showing(dict(seeds))
    for topic, progress in rows.items():
        speed = run.pace.steps_per_s(topic)
        table.add_row(
            f"  {progress.label}",
            ProgressBar(total=max(1, progress.total), completed=progress.step, width=24),
            f"{progress.step:,} / {progress.total:,}",
            f"{speed:,.0f} steps/s" if speed else "",
        )
    to_come = max(0, len(run.spec.seeds) - len(seeds))
    if others or to_come:
        parts = [f"{others} more seeds under way or done"] if others else []
        parts += [f"{to_come} of {len(run.spec.seeds)} seeds to come"] if to_come else []
        table.add_row(Text("  " + ", ".join(parts), style="dim"))
    return table


def _worth_showing(seeds: dict[str, Progress]) -> tuple[dict[str, Progress], int]:
    if len(seeds) <= MAX_SEED_ROWS:
        return seeds, 0
    first = sorted(seeds, key=lambda topic: seeds[topic].step >= seeds[topic].total)[:MAX_SEED_ROWS]
    return {topic: seeds[topic] for topic in first}, len(seeds) - len(first)
