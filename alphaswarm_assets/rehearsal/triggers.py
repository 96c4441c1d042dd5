"""Rollback triggers: the losses at which a rehearsal stops itself and pulls the brake.

They are read after each episode, on the equity of the whole session, which starts at 1. A trigger fires at observed
>= threshold. Equity that is wiped out always fires, whether a trigger is configured or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np

from alphaswarm_assets.arrays import Float64Array
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.specs.paper import PaperSpec

TriggerName: TypeAlias = Literal["max_drawdown", "max_loss_pct"]

ROUNDING: Final = 1e-12
"""A loss this little short of its trigger fires: 1 - 0.9 is 0.09999999999999998, and is a loss of 10 %."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """Where a session's equity stands, and the worst it has been through."""

    equity: float = 1.0
    """As a multiple of the start; 0 once it is wiped out."""
    peak: float = 1.0
    drawdown: float = 0.0
    """Largest fall so far, as a fraction of the peak it fell from."""

    @property
    def loss(self) -> float:
        """Loss since the start, as a fraction of it; negative after a gain."""
        return 1.0 - self.equity

    def after(self, returns: Float64Array) -> Account:
        """Return the account after *returns*, compounded.

        Parameters
        ----------
        returns : (T,) float64
            Simple returns per step, all finite. At -1 or less the equity is wiped out, and stays so.

        Raises
        ------
        InvalidInputError
            If the equity leaves the range of a float64.
        """
        growth = np.where(returns <= -1.0, 0.0, 1.0 + returns)
        with np.errstate(over="ignore", invalid="ignore"):
            curve = np.cumprod(np.concatenate(([self.equity], growth)))
        if not np.isfinite(curve).all():
            raise InvalidInputError(
                f"session equity must fit a float64, was {curve[-1]} after a largest return of {returns.max()!r}"
            )
        peaks = np.maximum.accumulate(np.maximum(curve, self.peak))
        fall = float((1.0 - curve / peaks).max())
        return Account(
            equity=float(curve[-1]), peak=float(peaks[-1]), drawdown=max(self.drawdown, fall)
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Trigger:
    """A loss at which the session rolls back."""

    name: TriggerName
    threshold: float
    """As a fraction: 0.10 is ten percent."""

    @property
    def halt_reason(self) -> str:
        """The value the halt key is set to."""
        return f"rollback:{self.name}"

    def observed(self, account: Account) -> float:
        """Return what this trigger watches in *account*, as a fraction."""
        return account.drawdown if self.name == "max_drawdown" else account.loss

    def fires(self, account: Account) -> bool:
        """Return whether *account* has reached the threshold."""
        return self.observed(account) >= self.threshold - ROUNDING


@dataclass(frozen=True, kw_only=True, slots=True)
class RollbackEvent:
    """One trigger that fired."""

    trigger: TriggerName
    observed: float
    threshold: float
    episode: int
    """Episode after which it fired, from 0."""
    step: int
    """Steps of the session that had been played by then."""
    halt_reason: str
    """What the halt key was to be set to."""
    engaged: bool
    """Whether the rollback set the halt key; False where another halt stood there already."""


RUIN: Final = Trigger(name="max_loss_pct", threshold=1.0)
"""Always watched: there is nothing left to trade with."""


def triggers_of(paper: PaperSpec) -> tuple[Trigger, ...]:
    """Return the triggers of *paper*, drawdown first, the order in which they name a rollback."""
    triggers: list[Trigger] = []
    if paper.rollback_max_drawdown is not None:
        triggers.append(Trigger(name="max_drawdown", threshold=paper.rollback_max_drawdown))
    if paper.rollback_max_loss_pct is not None:
        triggers.append(Trigger(name="max_loss_pct", threshold=paper.rollback_max_loss_pct))
    else:
        triggers.append(RUIN)
    return tuple(triggers)
