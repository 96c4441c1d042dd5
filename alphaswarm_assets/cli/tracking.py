"""A run as it goes: what became of every cell, what is being made, and about how long the rest takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from alphaswarm_assets.cli.pace import Pace
from alphaswarm_assets.drive.loop import DriveEvent, DriveReport
from alphaswarm_assets.drive.plan import Planned
from alphaswarm_assets.ports import Progress
from alphaswarm_assets.specs.research import ResearchSpec

TRAINING: Final = "trained_checkpoint"
"""The asset whose cells report their steps."""


@dataclass(slots=True)
class Run:
    """One drive of one spec, as its watcher knows it."""

    spec: ResearchSpec
    started_s: float
    pace: Pace
    plan: tuple[Planned, ...] = ()
    running: Planned | None = None
    running_since_s: float = 0.0
    took_s: dict[str, float] = field(default_factory=dict[str, float])
    """Seconds by name of the cells made."""
    failed: dict[str, str] = field(default_factory=dict[str, str])
    """Error text by name of the cells that failed."""
    run_ids: dict[str, str] = field(default_factory=dict[str, str])
    """Run of the orchestrator by name of the cells it made or failed to make."""
    _training_s: float = 0.0

    def take(self, event: DriveEvent, *, now_s: float) -> None:
        """Take in an *event* of the drive."""
        self.plan = event.plan
        if event.kind == "making":
            self.running, self.running_since_s = event.cell, now_s
        if event.cell is None or event.kind in {"planned", "making"}:
            return
        name, took_s = event.cell.cell.name, now_s - self.running_since_s
        if event.cell.cell.asset == TRAINING:
            self._training_s += took_s
        self.running = None
        if event.result is not None:
            self.run_ids[name] = event.result.run_id
        if event.kind == "made":
            self.took_s[name] = took_s
        elif event.kind == "failed":
            error = event.result.error if event.result is not None else None
            self.failed[name] = error or "no reason was recorded"

    def state(self, planned: Planned) -> str:
        """Return what became of a cell, in a word: current, made, running, failed, to make, waiting, not due."""
        name = planned.cell.name
        if self.running is not None and self.running.cell.name == name:
            return "running"
        if name in self.failed or planned.state == "given_up":
            return "failed"
        if name in self.took_s:
            return "made"
        return {"ready": "to make", "not_due": "not due"}.get(planned.state, planned.state)

    def seeds_of(self, planned: Planned) -> Mapping[str, Progress]:
        """Return the progress of the seeds of a training cell, by topic."""
        fold = planned.cell.partition.split("|")[0]
        prefix = f"{self.spec.key}/{fold}/"
        return {topic: at for topic, at in self.pace.seen.items() if topic.startswith(prefix)}

    def about_left_s(self, *, now_s: float) -> float | None:
        """Return about how many seconds the rest takes, None while nothing is known of its speed."""
        rest = [p for p in self.plan if self.state(p) in {"running", "to make", "waiting"}]
        training = [p for p in rest if p.cell.asset == TRAINING]
        steps_per_s = self.pace.mean_steps_per_s(training_s=self._training_seconds(now_s))
        if training and steps_per_s is None:
            return None
        steps_left = sum(self._steps_left(p) for p in training)
        others_s = sum(self._usual_s(p, now_s) for p in rest if p.cell.asset != TRAINING)
        return others_s + (steps_left / steps_per_s if steps_per_s else 0.0)

    def report(self) -> DriveReport:
        """Return the run so far as an interrupted drive: what there is when the drive itself was cut off."""
        return DriveReport(
            made=tuple(self.took_s), failed=dict(self.failed), interrupted=True, plan=self.plan
        )

    def _training_seconds(self, now_s: float) -> float:
        under_way = self.running is not None and self.running.cell.asset == TRAINING
        return self._training_s + (now_s - self.running_since_s if under_way else 0.0)

    def _steps_left(self, planned: Planned) -> int:
        seeds = list(self.seeds_of(planned).values()) if self.state(planned) == "running" else []
        total = max(
            [progress.total for progress in self.pace.seen.values()],
            default=self.spec.training.total_timesteps,
        )
        return max(0, len(self.spec.seeds) * total - sum(progress.step for progress in seeds))

    def _usual_s(self, planned: Planned, now_s: float) -> float:
        alike = [s for name, s in self.took_s.items() if name.startswith(f"{planned.cell.asset}[")]
        known = alike or [
            s for name, s in self.took_s.items() if not name.startswith(f"{TRAINING}[")
        ]
        usual = sum(known) / len(known) if known else 0.0
        return (
            max(0.0, usual - (now_s - self.running_since_s))
            if self.state(planned) == "running"
            else usual
        )
