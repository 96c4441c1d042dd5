"""A paper session: episodes one at a time, bounded in number and time, stopped by a halt or by its own losses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias

import numpy as np

from alphaswarm_assets.arrays import Float64Array
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.ports import Clock, HaltSwitch
from alphaswarm_assets.rehearsal.desk import Counters, Episode, PaperDesk, read_counters, total
from alphaswarm_assets.rehearsal.triggers import Account, RollbackEvent, Trigger, triggers_of
from alphaswarm_assets.rehearsal.watch import Halt, Stop, Watch, watch_over
from alphaswarm_assets.specs.paper import PaperSpec

SessionStatus: TypeAlias = Literal["completed", "halted", "timeout", "rolled_back"]
EpisodeEnd: TypeAlias = Literal["completed", "halted", "timeout", "ruined"]

HALT_CHECK_STEPS: Final = 50
"""Steps between two looks at the halt switch and the clock inside an episode."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PlayedEpisode:
    """What one episode brought."""

    index: int
    returns: Float64Array
    """(T,) simple net return of each step played; T >= 1."""
    end: EpisodeEnd
    """``completed``, or what cut it."""
    counters: Counters


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Session:
    """A finished session and how it ended."""

    status: SessionStatus
    episodes: tuple[PlayedEpisode, ...]
    rollback_events: tuple[RollbackEvent, ...]
    account: Account
    halt: Halt | None
    """The halt that stopped it, where one did; its own rollback included."""
    started: datetime
    ended: datetime

    @property
    def returns(self) -> Float64Array:
        """(T,) simple net returns of all steps, in the order they were played."""
        return np.concatenate([np.empty(0), *(episode.returns for episode in self.episodes)])

    @property
    def counters(self) -> Counters:
        """What the gateways counted over the whole session."""
        return total(tuple(episode.counters for episode in self.episodes))


def run_session(
    *, desk: PaperDesk, paper: PaperSpec, halts: HaltSwitch, halt_keys: Sequence[str], clock: Clock
) -> Session:
    """Play paper episodes until *paper* is used up, the window is, somebody halts, or a loss rolls back.

    Parameters
    ----------
    desk : PaperDesk
        Where episodes come from.
    paper : PaperSpec
        How many episodes, how long, and the losses that roll back.
    halts : HaltSwitch
        Read before each episode, every 50 steps inside one, and after the last.
    halt_keys : sequence of str
        Keys that stop this session; a rollback engages the first and never touches the others.
    clock : Clock
        Its monotonic seconds bound the session; its instants say when it ran.

    Returns
    -------
    Session
        ``rolled_back`` only if the rollback itself engaged the halt. Where another halt stood on that key already,
        or the switch could not be reached, the halt is left as it is and the session is ``halted``.

    Raises
    ------
    InvalidInputError
        If there is no halt key, an episode yields a return that is not finite or none at all, or a counter is not a
        count.
    """
    watch = watch_over(halts, halt_keys, clock, duration_s=paper.duration_seconds)
    return _play(desk, watch, max_episodes=paper.max_episodes, triggers=triggers_of(paper))


def run_probe(
    *, desk: PaperDesk, halts: HaltSwitch, halt_keys: Sequence[str], clock: Clock
) -> Session:
    """Play a single episode without time limit or rollback triggers: what a spec without ``paper`` gets.

    Parameters
    ----------
    desk, halts, halt_keys, clock
        As for `run_session`.

    Raises
    ------
    InvalidInputError
        As for `run_session`.
    """
    watch = watch_over(halts, halt_keys, clock, duration_s=math.inf)
    return _play(desk, watch, max_episodes=1, triggers=())


def _play(
    desk: PaperDesk, watch: Watch, *, max_episodes: int, triggers: tuple[Trigger, ...]
) -> Session:
    started = watch.clock.now()
    played: list[PlayedEpisode] = []
    events: tuple[RollbackEvent, ...] = ()
    account = Account()
    stop = watch.look()
    while stop is None and len(played) < max_episodes:
        episode = desk.open_episode(len(played))
        if episode is None:
            break
        record, stop = _play_episode(episode, len(played), watch)
        played.append(record)
        account = account.after(record.returns)
        fired = [trigger for trigger in triggers if trigger.fires(account)]
        if fired:
            stop = watch.pull_brake(fired[0].halt_reason)
            events = _events(fired, account, played, engaged=stop.status == "rolled_back")
        elif stop is None:
            # After the last episode only the brake counts: time that ran out by then has cut nothing.
            stop = watch.look() if len(played) < max_episodes else watch.brake()
    return Session(
        status="completed" if stop is None else stop.status,
        episodes=tuple(played),
        rollback_events=events,
        account=account,
        halt=None if stop is None else stop.halt,
        started=started,
        ended=watch.clock.now(),
    )


def _play_episode(episode: Episode, index: int, watch: Watch) -> tuple[PlayedEpisode, Stop | None]:
    returns: list[float] = []
    end: EpisodeEnd = "completed"
    stop: Stop | None = None
    for value in episode:
        if not math.isfinite(value):
            raise InvalidInputError(
                f"a paper return must be finite, was {float(value)!r} in episode {index} at step {len(returns)}"
            )
        returns.append(float(value))
        if value <= -1.0:
            end = "ruined"
            break
        if len(returns) % HALT_CHECK_STEPS == 0:
            stop = watch.look()
            if stop is not None:
                end = "timeout" if stop.status == "timeout" else "halted"
                break
    if not returns:
        raise InvalidInputError(
            f"a paper episode must have at least one step, episode {index} had none. "
            "Let open_episode return None when the paper window is used up."
        )
    record = PlayedEpisode(
        index=index,
        returns=np.array(returns, dtype=np.float64),
        end=end,
        counters=read_counters(episode, index),
    )
    return record, stop


def _events(
    fired: Sequence[Trigger], account: Account, played: Sequence[PlayedEpisode], *, engaged: bool
) -> tuple[RollbackEvent, ...]:
    return tuple(
        RollbackEvent(
            trigger=trigger.name,
            observed=trigger.observed(account),
            threshold=trigger.threshold,
            episode=played[-1].index,
            step=sum(len(episode.returns) for episode in played),
            halt_reason=trigger.halt_reason,
            engaged=engaged,
        )
        for trigger in fired
    )
