"""What one gate found, and what would have been needed to pass it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast, get_args

from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.gates.evidence import Scalar, as_mapping
from alphaswarm_assets.records.canonical import JsonObject

Comparator: TypeAlias = Literal[">=", "<=", ">"]
Status: TypeAlias = Literal[
    "pass",
    "threshold_failed",
    "missing_evidence",
    "not_computable",
    "underpowered",
    "stale",
    "not_applicable",
]
"""``pass`` and ``not_applicable`` do not reject; everything else does."""

DO_NOT_REJECT: Final = frozenset[Status]({"pass", "not_applicable"})
SUBJECTS: Final[Mapping[str, str]] = {
    "min_sharpe": "sharpe",
    "max_pbo": "pbo",
    "min_dsr_probability": "dsr_probability",
    "min_seeds": "seeds",
    "require_ci_positive": "lower bound of total_return",
    "all_folds_present": "folds",
    "evidence_current": "stale inputs",
}
"""What each check looks at, as a person calls it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """One gate's finding."""

    check: str
    """The spec's key, or the property that must hold: ``min_sharpe``, ``all_folds_present``."""
    scope: str
    """What the observed value was measured over."""
    observed: Scalar
    """As the evidence has it, number or not."""
    comparator: Comparator
    threshold: float
    status: Status
    reason: str | None
    """Why it does not pass; None when it does."""
    unit: str

    def __post_init__(self) -> None:
        """Refuse a status that the outcome's own numbers contradict.

        Raises
        ------
        InvalidInputError
            If it passes without clearing the threshold, or fails on it after clearing it.
        """
        cleared = clears(self.observed, self.comparator, self.threshold)
        if (self.status == "pass" and not cleared) or (
            self.status == "threshold_failed" and cleared
        ):
            raise InvalidInputError(
                f"{self.check} cannot be {self.status!r} with observed {self.observed!r} "
                f"{self.comparator} {self.threshold!r}"
            )

    @property
    def passed(self) -> bool:
        """Whether the gate was cleared; false for one that does not apply."""
        return self.status == "pass"

    @property
    def rejects(self) -> bool:
        """Whether this outcome alone keeps a study from promotion."""
        return self.status not in DO_NOT_REJECT

    @property
    def would_pass_with(self) -> str | None:
        """What was needed and what was there, for a gate that rejects: ``needs sharpe >= 0.5, was 0.31``."""
        if not self.rejects:
            return None
        subject = SUBJECTS.get(self.check, self.check)
        needs = f"needs {subject} {self.comparator} {self.threshold:.6g}"
        observed = as_number(self.observed)
        if self.status != "threshold_failed" or observed is None:
            return f"{needs}; {self.reason}"
        # A near miss must not read as if it had been enough.
        near_miss = f"{observed:.6g}" == f"{self.threshold:.6g}"
        return f"{needs}, was {observed!r}" if near_miss else f"{needs}, was {observed:.6g}"

    def to_json(self) -> JsonObject:
        """Return the outcome as JSON, with what follows from it beside it."""
        return {
            "check": self.check,
            "scope": self.scope,
            "observed": self.observed,
            "comparator": self.comparator,
            "threshold": self.threshold,
            "status": self.status,
            "passed": self.passed,
            "reason": self.reason,
            "unit": self.unit,
            "would_pass_with": self.would_pass_with,
        }

    @classmethod
    def from_json(cls, raw: object) -> Outcome:
        """Rebuild what `to_json` wrote.

        Raises
        ------
        InvalidInputError
            If *raw* is no outcome, or its status is contradicted by its own numbers.
        """
        entry = as_mapping(raw)
        status, comparator = entry.get("status"), entry.get("comparator")
        threshold = as_number(cast("Scalar", entry.get("threshold")))
        if status not in get_args(Status) or comparator not in get_args(Comparator):
            raise InvalidInputError(f"outcome must have a status and a comparator, was {raw!r}")
        if threshold is None:
            raise InvalidInputError(f"outcome must have a finite threshold, was {raw!r}")
        return cls(
            check=str(entry.get("check")),
            scope=str(entry.get("scope")),
            observed=cast("Scalar", entry.get("observed")),
            comparator=cast("Comparator", comparator),
            threshold=threshold,
            status=cast("Status", status),
            reason=cast("str | None", entry.get("reason")),
            unit=str(entry.get("unit")),
        )


def as_number(value: Scalar) -> float | None:
    """Return *value* if it is a finite number, else None: not for a bool, a text, NaN or infinity."""
    if isinstance(value, bool) or not isinstance(value, float | int):
        return None
    try:
        return value if math.isfinite(value) else None
    except OverflowError:  # an int beyond every float
        return None


def clears(observed: Scalar, comparator: Comparator, threshold: float) -> bool:
    """Return whether *observed* is a finite number that stands in the asked relation to *threshold*."""
    number = as_number(observed)
    if number is None:
        return False
    match comparator:
        case ">=":
            return number >= threshold
        case "<=":
            return number <= threshold
        case ">":
            return number > threshold
