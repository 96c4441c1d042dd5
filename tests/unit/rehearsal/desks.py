"""Small stand-ins for what a rehearsal asks of the outside: a scripted desk, a clock that is set, a brake in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from alphaswarm_assets.errors import StoreError
from alphaswarm_assets.rehearsal.session import Session, run_session
from alphaswarm_assets.specs.paper import PaperSpec

KEY = "demo-0123456789ab"
EVERYTHING = "all"
MONDAY = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)


@dataclass
class SetClock:
    """A clock that moves only when it is told to."""

    elapsed_s: float = 0.0

    def now(self) -> datetime:
        return MONDAY + timedelta(seconds=self.elapsed_s)

    def monotonic_s(self) -> float:
        return 1000.0 + self.elapsed_s


@dataclass
class MemoryHalts:
    """A halt switch in memory that counts how often it is read."""

    standing: dict[str, str] = field(default_factory=dict[str, str])
    n_reads: int = 0
    broken: bool = False

    def reason(self, key: str) -> str | None:
        self.n_reads += 1
        return "halt switch unreachable: no answer" if self.broken else self.standing.get(key)

    def engage(self, key: str, reason: str) -> bool:
        if self.broken:
            raise StoreError("the halt switch gives no answer. Start it again.")
        if key in self.standing:
            return False
        self.standing[key] = reason
        return True

    def release(self, key: str) -> str | None:
        return self.standing.pop(key, None)

    def engaged(self) -> Mapping[str, str]:
        return dict(self.standing)


@dataclass
class ScriptedEpisode:
    """Yields the returns it was given; `before_step` is told the episode and the step, both from 0."""

    index: int
    returns: Sequence[float]
    before_step: Callable[[int, int], None]

    def __iter__(self) -> Iterator[float]:
        for step, value in enumerate(self.returns):
            self.before_step(self.index, step)
            yield value


@dataclass
class CountedEpisode(ScriptedEpisode):
    """An episode whose orders passed a gateway that counted."""

    hard_breach_count: object = 0
    pretrade_reject_count: object = 0
    order_submit_count: object = 0


def nothing_happens(episode: int, step: int) -> None:
    """Let the step pass."""


@dataclass
class ScriptedDesk:
    """Opens the episodes it was given, and says how many it was asked for."""

    episodes: Sequence[Sequence[float]]
    before_step: Callable[[int, int], None] = nothing_happens
    counters: Mapping[str, object] | None = None
    n_opened: int = 0

    def open_episode(self, index: int) -> ScriptedEpisode | None:
        if index >= len(self.episodes):
            return None
        self.n_opened += 1
        if self.counters is None:
            return ScriptedEpisode(index, self.episodes[index], self.before_step)
        return CountedEpisode(index, self.episodes[index], self.before_step, **self.counters)


def play(
    desk: ScriptedDesk,
    paper: PaperSpec | None = None,
    *,
    halts: MemoryHalts | None = None,
    clock: SetClock | None = None,
) -> Session:
    """Run a session of *desk* with what is left out filled in."""
    return run_session(
        desk=desk,
        paper=paper or PaperSpec(),
        halts=halts or MemoryHalts(),
        halt_keys=(KEY, EVERYTHING),
        clock=clock or SetClock(),
    )
