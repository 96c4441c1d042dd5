"""The verdict on a study: a decision that follows from the outcomes of its gates, and from nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast

from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.gates.outcome import Outcome
from alphaswarm_assets.records.canonical import JsonObject, digest_json

SCHEMA: Final = "alphaswarm.verdict/1"
"""Changes whenever the meaning of a field does."""

Decision: TypeAlias = Literal["PASS", "REJECT", "UNGATED"]

PRECONDITIONS: Final = ("all_folds_present", "evidence_current")
"""Checks that every gated study must pass, and that are no threshold."""

NO_THRESHOLDS: Final = "no_thresholds: promotion is set and configures no threshold"
NOTHING_PASSED: Final = "nothing_passed: no threshold applied, so none was cleared"


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """A decision with the outcomes it follows from; made by `of` or `ungated`."""

    decision: Decision
    """``UNGATED`` where the spec asks for no gate: it registers, and is marked so everywhere."""
    outcomes: tuple[Outcome, ...]
    """Every configured threshold in the spec's order, then the preconditions."""
    reasons: tuple[str, ...]
    """Why it rejects, one line a cause; empty otherwise."""

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> Verdict:
        """Decide: pass when at least one threshold was cleared and nothing rejects."""
        reasons = [
            f"{outcome.check}: {outcome.status} ({outcome.would_pass_with})"
            for outcome in outcomes
            if outcome.rejects
        ]
        thresholds = [outcome for outcome in outcomes if outcome.check not in PRECONDITIONS]
        if not thresholds:
            reasons.insert(0, NO_THRESHOLDS)
        elif not reasons and not any(outcome.passed for outcome in thresholds):
            reasons.insert(0, NOTHING_PASSED)
        return cls(
            decision="REJECT" if reasons else "PASS",
            outcomes=tuple(outcomes),
            reasons=tuple(reasons),
        )

    @classmethod
    def ungated(cls) -> Verdict:
        """The verdict where the spec asks for none."""
        return cls(decision="UNGATED", outcomes=(), reasons=())

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical verdict."""
        return digest_json(self.to_json())

    def to_json(self) -> JsonObject:
        """Return the verdict as JSON."""
        return {
            "schema": SCHEMA,
            "decision": self.decision,
            "outcomes": [outcome.to_json() for outcome in self.outcomes],
            "reasons": list(self.reasons),
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, object]) -> Verdict:
        """Rebuild what `to_json` wrote, deciding again from its outcomes.

        Raises
        ------
        InvalidInputError
            If *raw* has another schema, or does not say what follows from its own outcomes.
        """
        if raw.get("schema") != SCHEMA:
            raise InvalidInputError(f"verdict schema must be {SCHEMA!r}, was {raw.get('schema')!r}")
        entries = raw.get("outcomes")
        if not isinstance(entries, Sequence):
            raise InvalidInputError(f"verdict outcomes must be a list, was {entries!r}")
        outcomes = [Outcome.from_json(entry) for entry in cast("Sequence[object]", entries)]
        ungated = raw.get("decision") == "UNGATED" and not outcomes
        verdict = cls.ungated() if ungated else cls.of(outcomes)
        if verdict.to_json() != dict(raw):
            raise InvalidInputError(
                f"verdict must follow from its outcomes: they decide {verdict.decision!r}, "
                f"the record has {raw.get('decision')!r} or other words. It was altered; judge again."
            )
        return verdict
