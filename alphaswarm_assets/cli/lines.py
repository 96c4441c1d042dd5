"""A run as plain text, a line an event: for pipes, logs and dumb terminals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from alphaswarm_assets.cli.live import remaining, seed_line
from alphaswarm_assets.cli.tracking import TRAINING, Run
from alphaswarm_assets.cli.words import clock, duration, many
from alphaswarm_assets.drive.loop import DriveEvent

EVERY_S: Final = 4.0
"""Seconds between two lines about one seed; the step counter is to move every five."""


@dataclass(slots=True)
class Lines:
    """The lines of one run; it remembers which seed it spoke of, and when."""

    said: dict[str, tuple[float, int]] = field(default_factory=dict[str, tuple[float, int]])

    def of_event(self, run: Run, event: DriveEvent, *, now_s: float) -> str:
        """Return the line that tells *event*, after *run* took it in."""
        at = f"[{clock(now_s - run.started_s)}]"
        if event.cell is None:
            return f"{at} {run.spec.key}: {_counts(run)}"
        cell = event.cell.cell
        lead = f"{at} {cell.stage:<9}{cell.name}"
        match event.kind:
            case "made":
                return f"{lead} made in {duration(run.took_s[cell.name])}"
            case "failed":
                return f"{lead} failed: {run.failed[cell.name]}"
            case "interrupted":
                return f"{lead} interrupted"
            case _:
                return f"{lead} ({event.cell.why or 'to make'})"

    def of_seeds(self, run: Run, *, now_s: float) -> Iterator[str]:
        """Yield a line for every seed under way that moved and was not spoken of in the last seconds."""
        if run.running is None or run.running.cell.asset != TRAINING:
            return
        for topic, progress in run.seeds_of(run.running).items():
            said_s, said_step = self.said.get(topic, (run.running_since_s - EVERY_S, -1))
            done = progress.step >= progress.total
            if progress.step != said_step and (done or now_s - said_s >= EVERY_S):
                self.said[topic] = (now_s, progress.step)
                left = remaining(run, now_s)
                yield f"[{clock(now_s - run.started_s)}]   {seed_line(run, topic, progress)}" + (
                    f"  {left}" if left else ""
                )


def _counts(run: Run) -> str:
    states = Counter(run.state(planned) for planned in run.plan)
    return f"{many(len(run.plan), 'cell')}: " + ", ".join(
        f"{n} {state}" for state, n in states.items()
    )
