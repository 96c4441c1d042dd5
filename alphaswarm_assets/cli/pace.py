"""Steps per second and the time that is left, from what the progress board said and when. Pure arithmetic."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from alphaswarm_assets.ports import Progress

WINDOW_S: Final = 15.0
"""Seconds over which a seed's speed is taken; shorter jumps with every update of the policy."""


@dataclass(slots=True)
class Pace:
    """How fast steps go by, seed by seed and over the whole run."""

    baseline: Mapping[str, Progress]
    """What stood on the board before the run: another run's, until it changes."""
    seen: dict[str, Progress] = field(default_factory=dict[str, Progress])
    """Latest progress of this run, by topic."""
    gained_steps: int = 0
    """Steps this run has made, over all seeds and folds."""
    _samples: dict[str, deque[tuple[float, int]]] = field(
        default_factory=dict[str, "deque[tuple[float, int]]"]
    )

    def observe(self, board: Mapping[str, Progress], *, now_s: float) -> None:
        """Take in what the *board* says at *now_s* on a monotonic clock."""
        for topic, progress in board.items():
            if progress == self.baseline.get(topic) and topic not in self.seen:
                continue
            before = self.seen.get(topic)
            samples = self._samples.setdefault(topic, deque())
            if before is not None and progress.step > before.step:
                self.gained_steps += progress.step - before.step
            elif before is not None and progress.step < before.step:
                samples.clear()
            if before is None or progress.step != before.step:
                samples.append((now_s, progress.step))
            while len(samples) > 2 and samples[1][0] < now_s - WINDOW_S:
                samples.popleft()
            self.seen[topic] = progress

    def steps_per_s(self, topic: str) -> float | None:
        """Return the speed of *topic* over the last seconds, None before its second report."""
        samples = self._samples.get(topic)
        if not samples or len(samples) < 2:
            return None
        (first_s, first), (last_s, last) = samples[0], samples[-1]
        return (last - first) / (last_s - first_s) if last_s > first_s else None

    def mean_steps_per_s(self, *, training_s: float) -> float | None:
        """Return the speed over the whole run, *training_s* being the seconds its training cells have taken."""
        return self.gained_steps / training_s if self.gained_steps > 0 and training_s > 0 else None
