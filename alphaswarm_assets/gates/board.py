"""The board: one outcome for every threshold the spec sets, and the verdict that follows.

``min_*`` passes at or above its threshold, ``max_*`` at or below, the interval's lower bound strictly
above zero. A threshold whose evidence is missing, in another unit or of another scope rejects.
"""

from __future__ import annotations

from typing import Final

from alphaswarm_assets.gates.evidence import UNITS, Evidence, Reading, Scalar
from alphaswarm_assets.gates.outcome import (
    SUBJECTS,
    Comparator,
    Outcome,
    Status,
    as_number,
    clears,
)
from alphaswarm_assets.gates.verdict import Verdict
from alphaswarm_assets.specs.promotion import PromotionSpec

_SCOPES: Final = {
    "seed": {"pbo": "seeds", "dsr_probability": "battery"},
    "ledger": {"pbo": "configs", "dsr_probability": "ledger"},
}


def judge(promotion: PromotionSpec | None, evidence: Evidence) -> Verdict:
    """Judge a study by the thresholds its spec sets, on the evidence there is.

    Parameters
    ----------
    promotion : PromotionSpec or None
        Thresholds; None asks for no gate.
    evidence : Evidence
        What was measured.

    Returns
    -------
    Verdict
        A pure function of both: the same evidence gives the same verdict anywhere, years later.
    """
    if promotion is None:
        return Verdict.ungated()
    outcomes: list[Outcome] = []
    if promotion.min_sharpe is not None:
        outcomes.append(_measure("min_sharpe", evidence.sharpe, ">=", promotion.min_sharpe))
    if promotion.max_pbo is not None:
        scope = promotion.pbo_scope or _default_scope(promotion, "pbo")
        outcomes.append(_measure("max_pbo", evidence.pbo, "<=", promotion.max_pbo, scope))
    if promotion.min_dsr_probability is not None:
        scope = promotion.dsr_scope or _default_scope(promotion, "dsr_probability")
        least = promotion.min_dsr_probability
        dsr = evidence.dsr_probability
        outcomes.append(_measure("min_dsr_probability", dsr, ">=", least, scope))
    if promotion.min_seeds is not None:
        outcomes.append(_count_seeds(evidence, promotion.min_seeds))
    if promotion.require_ci_positive:
        outcomes.append(_measure("require_ci_positive", evidence.total_return_ci_lo, ">", 0.0))
    return Verdict.of([*outcomes, *preconditions(evidence)])


def preconditions(evidence: Evidence) -> tuple[Outcome, Outcome]:
    """Return what must hold of any evidence before a threshold means anything: all folds, and nothing stale.

    They gate every study that sets ``promotion``; for one that does not they are shown and gate nothing.
    """
    return _all_folds_present(evidence), _evidence_current(evidence)


def _default_scope(promotion: PromotionSpec, reading: str) -> str:
    return _SCOPES[promotion.profile or "seed"][reading]


def _measure(
    check: str,
    reading: Reading,
    comparator: Comparator,
    threshold: float,
    scope: str | None = None,
) -> Outcome:
    name = "total_return_ci_lo" if check == "require_ci_positive" else SUBJECTS[check]
    unit = UNITS[name]
    status, reason = _find_fault(name, reading, unit, scope)
    if status == "pass" and not clears(reading.value, comparator, threshold):
        status, reason = "threshold_failed", f"{name} was {reading.value!r}"
    return Outcome(
        check=check,
        scope=scope or reading.scope,
        observed=reading.value,
        comparator=comparator,
        threshold=threshold,
        status=status,
        reason=reason,
        unit=unit,
    )


def _find_fault(
    name: str, reading: Reading, unit: str, scope: str | None
) -> tuple[Status, str | None]:
    # The status of the evidence itself, before any threshold: "pass" means fit to be compared.
    if reading.value is None and reading.reason is not None:
        return "not_computable", reading.reason
    reason = _why_unfit(name, reading, unit, scope)
    return ("pass" if reason is None else "missing_evidence"), reason


def _why_unfit(name: str, reading: Reading, unit: str, scope: str | None) -> str | None:
    number = as_number(reading.value)
    if reading.value is None:
        reason = f"{name} was not measured"
    elif number is None:
        reason = f"{name} must be a finite number, was {reading.value!r}"
    elif reading.unit != unit:
        reason = f"{name} must be in unit {unit!r}, was {reading.unit!r}"
    elif scope is not None and reading.scope != scope:
        reason = f"{name} must be of scope {scope!r}, was {reading.scope!r}"
    elif unit == "probability" and not 0.0 <= number <= 1.0:
        reason = f"{name} must lie in [0, 1], was {reading.value!r}"
    else:
        reason = None
    return reason


def _count_seeds(evidence: Evidence, least: int) -> Outcome:
    n_seeds, n_distinct = evidence.n_seeds, evidence.n_distinct_seeds
    observed = n_seeds
    status: Status = "pass"
    reason = None
    if not _is_count(n_seeds):
        status, reason = "missing_evidence", f"seeds must be a count, was {n_seeds!r}"
    elif not clears(n_seeds, ">=", least):
        status, reason = "threshold_failed", f"{n_seeds} seeds were evaluated"
    elif not _is_count(n_distinct):
        status, reason = "missing_evidence", f"distinct seeds must be a count, was {n_distinct!r}"
    elif not clears(n_distinct, ">=", least):
        observed, status = n_distinct, "missing_evidence"
        reason = f"duplicate_seeds: {n_seeds} seeds hold {n_distinct} distinct series of returns"
    return Outcome(
        check="min_seeds",
        scope="battery",
        observed=observed,
        comparator=">=",
        threshold=least,
        status=status,
        reason=reason,
        unit="seeds",
    )


def _is_count(value: Scalar) -> bool:
    return isinstance(value, int) and as_number(value) is not None and value >= 0


def _all_folds_present(evidence: Evidence) -> Outcome:
    expected = sorted(set(evidence.folds_expected))
    missing = [fold for fold in expected if fold not in evidence.folds_present]
    status: Status = "pass"
    reason = None
    if not expected:
        status, reason = "missing_evidence", "the spec has no fold to be evaluated on"
    elif missing:
        status, reason = "missing_evidence", f"no evaluation of fold {', '.join(missing)}"
    return Outcome(
        check="all_folds_present",
        scope="folds",
        observed=len(expected) - len(missing),
        comparator=">=",
        threshold=max(1, len(expected)),
        status=status,
        reason=reason,
        unit="folds",
    )


def _evidence_current(evidence: Evidence) -> Outcome:
    stale = evidence.stale
    return Outcome(
        check="evidence_current",
        scope="inputs",
        observed=len(stale),
        comparator="<=",
        threshold=0,
        status="stale" if stale else "pass",
        reason="; ".join(stale) if stale else None,
        unit="inputs",
    )
