"""Whether a finished paper session is accepted: one outcome a criterion, and any doubt is a no."""

from __future__ import annotations

from dataclasses import dataclass

from alphaswarm_assets.gates.outcome import Comparator, Outcome, Status, clears
from alphaswarm_assets.rehearsal.session import Session
from alphaswarm_assets.specs.paper import PaperSpec
from alphaswarm_assets.statistics.performance import max_drawdown, total_return
from alphaswarm_assets.statistics.undefined import Measured, Undefined

NO_EPISODE = "no episode was played"

SCOPE = "session"
"""What every criterion looks at."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Acceptance:
    """What the criteria found."""

    criteria: tuple[Outcome, ...]
    """Those that always hold, then those the spec configures, in its order."""

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
class _Criterion:
    check: str
    comparator: Comparator
    threshold: float
    unit: str


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
    criteria = [_no_rollback(session), _not_halted(session)]
    if paper.max_hard_breaches is not None:
        criterion = _Criterion(
            check="max_hard_breaches",
            comparator="<=",
            threshold=paper.max_hard_breaches,
            unit="breaches",
        )
        criteria.append(_judge(criterion, _count(session), session))
    if paper.max_reject_rate is not None:
        criterion = _Criterion(
            check="max_reject_rate",
            comparator="<=",
            threshold=paper.max_reject_rate,
            unit="fraction of orders",
        )
        criteria.append(_judge(criterion, reject_rate(session), session))
    if paper.min_total_return is not None:
        criterion = _Criterion(
            check="min_total_return",
            comparator=">=",
            threshold=paper.min_total_return,
            unit="fraction",
        )
        criteria.append(_judge(criterion, _measure_return(session), session))
    if paper.max_drawdown is not None:
        criterion = _Criterion(
            check="max_drawdown", comparator="<=", threshold=paper.max_drawdown, unit="fraction"
        )
        criteria.append(_judge(criterion, _measure_drawdown(session), session))
    return Acceptance(criteria=tuple(criteria))


def reject_rate(session: Session) -> Measured:
    """Return the share of the session's orders that were rejected, or why there is none."""
    counters = session.counters
    if counters.pretrade_reject_count is None or counters.order_submit_count is None:
        return Undefined("the desk counts no orders or no rejects")
    if counters.order_submit_count == 0:
        return Undefined("no order was submitted")
    return counters.pretrade_reject_count / counters.order_submit_count
