"""Whether a finished paper session is accepted: one outcome a criterion, and any doubt is a no."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from alphaswarm_assets.gates.outcome import Comparator, Outcome, Status, clears
from alphaswarm_assets.rehearsal.session import Session
from alphaswarm_assets.specs.paper import PaperSpec
from alphaswarm_assets.statistics.performance import max_drawdown, total_return
from alphaswarm_assets.statistics.undefined import Measured, Undefined

NO_EPISODE: Final = Undefined("no episode was played")
"""A session that was stopped before its first step has shown nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Acceptance:
    """What the criteria found."""

    criteria: tuple[Outcome, ...]
    """Those that always hold, then those the spec configures."""

    @property
    def passed(self) -> bool:
        """Whether there is a criterion and every one is met."""
        return bool(self.criteria) and all(outcome.passed for outcome in self.criteria)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it does not pass, one line a criterion."""
        return tuple(
            f"{outcome.check}: {outcome.status} ({outcome.would_pass_with})"
            for outcome in self.criteria
            if not outcome.passed
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Criterion:
    """Something a session must show."""

    check: str
    """The spec's key, or the property that must hold."""
    comparator: Comparator
    unit: str
    measure: Callable[[Session], Measured]


def accept(session: Session, paper: PaperSpec) -> Acceptance:
    """Judge *session* by the criteria of *paper*.

    Parameters
    ----------
    session : Session
        Finished, however it ended.
    paper : PaperSpec
        Thresholds. ``max_*`` passes at or below, ``min_*`` at or above.

    Returns
    -------
    Acceptance
        A session without an episode, a counter that no gateway kept and a rate over no orders are missing evidence,
        which does not pass.
    """
    asked = [(criterion, 0.0) for criterion in ALWAYS]
    for criterion in CONFIGURED:
        threshold: float | None = getattr(paper, criterion.check)
        if threshold is not None:
            asked.append((criterion, threshold))
    return Acceptance(criteria=tuple(_judge(each, least, session) for each, least in asked))


def reject_rate(session: Session) -> Measured:
    """Return the rejected share of the session's orders, or why there is none."""
    counters = session.counters
    if counters.pretrade_reject_count is None or counters.order_submit_count is None:
        return Undefined("the desk does not count its orders and its rejects")
    if counters.order_submit_count == 0:
        return Undefined("no order was submitted")
    return counters.pretrade_reject_count / counters.order_submit_count


def _judge(criterion: Criterion, threshold: float, session: Session) -> Outcome:
    value = criterion.measure(session)
    observed = None if isinstance(value, Undefined) else value
    status: Status = "pass"
    reason = None
    if isinstance(value, Undefined):
        status, reason = "missing_evidence", value.reason
    elif not clears(value, criterion.comparator, threshold):
        status, reason = "threshold_failed", f"{criterion.check} was {value!r}"
        if criterion.check in STOPPED:
            reason = STOPPED[criterion.check]
    elif not session.episodes:
        status, reason = "missing_evidence", NO_EPISODE.reason
    return Outcome(
        check=criterion.check,
        scope="session",
        observed=observed,
        comparator=criterion.comparator,
        threshold=threshold,
        status=status,
        reason=reason,
        unit=criterion.unit,
    )


def _count_rollbacks(session: Session) -> Measured:
    return len(session.rollback_events)


def _count_halts(session: Session) -> Measured:
    return int(session.status == "halted")


def _count_breaches(session: Session) -> Measured:
    count = session.counters.hard_breach_count
    return Undefined("the desk does not count hard breaches") if count is None else count


def _measure_return(session: Session) -> Measured:
    return total_return(session.returns) if session.episodes else NO_EPISODE


def _measure_drawdown(session: Session) -> Measured:
    return max_drawdown(session.returns) if session.episodes else NO_EPISODE


STOPPED: Final = {
    "no_rollback": "the session fired a rollback trigger",
    "not_halted": "the session was halted",
}
"""Why a criterion that always holds does not."""

ALWAYS: Final = (
    Criterion(check="no_rollback", comparator="<=", unit="rollbacks", measure=_count_rollbacks),
    Criterion(check="not_halted", comparator="<=", unit="halts", measure=_count_halts),
)
"""Criteria that no spec can leave out; their threshold is zero."""

CONFIGURED: Final = (
    Criterion(check="max_hard_breaches", comparator="<=", unit="breaches", measure=_count_breaches),
    Criterion(check="max_reject_rate", comparator="<=", unit="fraction", measure=reject_rate),
    Criterion(check="min_total_return", comparator=">=", unit="fraction", measure=_measure_return),
    Criterion(check="max_drawdown", comparator="<=", unit="fraction", measure=_measure_drawdown),
)
"""Criteria under the names their thresholds have in ``paper``."""
