"""What stops a paper session from outside, the halt switch and the clock, and how a rollback pulls the brake."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from alphaswarm_assets.errors import InvalidInputError, StoreError
from alphaswarm_assets.ports import Clock, HaltSwitch


@dataclass(frozen=True, kw_only=True, slots=True)
class Halt:
    """A pulled brake."""

    key: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Stop:
    """Why a session goes no further."""

    status: Literal["halted", "timeout", "rolled_back"]
    halt: Halt | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Watch:
    """The halt keys and the deadline of one session."""

    halts: HaltSwitch
    halt_keys: tuple[str, ...]
    """Keys that stop the session; a rollback engages the first."""
    clock: Clock
    deadline_s: float
    """In the clock's monotonic seconds."""

    def look(self) -> Stop | None:
        """Return why the session must stop now, or None; a pulled brake is named before a spent clock."""
        stop = self.brake()
        if stop is None and self.clock.monotonic_s() >= self.deadline_s:
            return Stop(status="timeout")
        return stop

    def brake(self) -> Stop | None:
        """Return the first halt that stands on one of the keys, or None."""
        for key in self.halt_keys:
            reason = self.halts.reason(key)
            if reason is not None:
                return Stop(status="halted", halt=Halt(key=key, reason=reason))
        return None

    def pull_brake(self, reason: str) -> Stop:
        """Halt the first key for *reason*; a halt that stands there already is left as it is.

        Returns
        -------
        Stop
            ``rolled_back`` if this call set the halt; ``halted`` if another stood there, or if the switch could not
            be reached: the session stops in any case.
        """
        key = self.halt_keys[0]
        try:
            engaged = self.halts.engage(key, reason)
        except StoreError as error:
            return Stop(
                status="halted", halt=Halt(key=key, reason=f"{reason} could not be set: {error}")
            )
        if engaged:
            return Stop(status="rolled_back", halt=Halt(key=key, reason=reason))
        standing = self.halts.reason(key)
        return Stop(status="halted", halt=Halt(key=key, reason=standing or "a halt released since"))


def watch_over(
    halts: HaltSwitch, halt_keys: Sequence[str], clock: Clock, *, duration_s: float
) -> Watch:
    """Return a watch that begins now.

    Parameters
    ----------
    halts : HaltSwitch
        The brake.
    halt_keys : sequence of str
        At least one key.
    clock : Clock
        Source of the monotonic seconds.
    duration_s : float
        Seconds from now to the deadline; infinite for none.

    Raises
    ------
    InvalidInputError
        If there is no halt key: nobody could stop the session.
    """
    if isinstance(halt_keys, str) or not halt_keys:
        raise InvalidInputError(
            f"halt_keys must be a sequence of at least one key, was {halt_keys!r}. A rollback engages the first."
        )
    deadline_s = clock.monotonic_s() + duration_s
    return Watch(halts=halts, halt_keys=tuple(halt_keys), clock=clock, deadline_s=deadline_s)
