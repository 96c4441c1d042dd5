"""What always holds of the gates, whatever the evidence."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from alphaswarm_assets.gates.board import judge
from alphaswarm_assets.gates.evidence import UNITS, Evidence, Reading
from alphaswarm_assets.gates.outcome import as_number
from alphaswarm_assets.gates.verdict import Verdict
from alphaswarm_assets.records.canonical import canonical_json
from alphaswarm_assets.specs.promotion import PromotionSpec

anything = (
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.text(max_size=5)
    | st.floats(0.0, 1.0)
)
folds = st.lists(st.sampled_from(["f0", "f1", "f2"]), unique=True).map(tuple)


def readings(name: str, scope: str) -> st.SearchStrategy[Reading]:
    return st.builds(
        Reading,
        value=anything,
        reason=st.none() | st.text(max_size=5),
        unit=st.sampled_from([UNITS[name], UNITS[name], "other"]),
        scope=st.sampled_from([scope, scope, "other"]),
    )


some_evidence = st.builds(
    Evidence,
    n_seeds=anything | st.integers(0, 12),
    n_distinct_seeds=anything | st.integers(0, 12),
    folds_expected=folds,
    folds_present=folds,
    sharpe=readings("sharpe", "seeds"),
    total_return_ci_lo=readings("total_return_ci_lo", "seeds"),
    pbo=readings("pbo", "seeds"),
    dsr_probability=readings("dsr_probability", "battery"),
    stale=st.lists(st.text(max_size=5), max_size=2).map(tuple),
)
promotions = st.builds(
    PromotionSpec,
    min_sharpe=st.none() | st.floats(-100, 100),
    max_pbo=st.none() | st.floats(0, 1),
    min_dsr_probability=st.none() | st.floats(0, 1),
    min_seeds=st.none() | st.integers(1, 10),
    require_ci_positive=st.none() | st.booleans(),
)
good_evidence = st.builds(
    Evidence,
    n_seeds=st.just(5),
    n_distinct_seeds=st.just(5),
    folds_expected=st.just(("f0",)),
    folds_present=st.just(("f0",)),
    sharpe=st.floats(-3, 3).map(lambda x: Reading.of(x, unit="annual", scope="seeds")),
    total_return_ci_lo=st.floats(-1, 1).map(
        lambda x: Reading.of(x, unit="fraction", scope="seeds")
    ),
    pbo=st.floats(0, 1).map(lambda x: Reading.of(x, unit="probability", scope="seeds")),
    dsr_probability=st.floats(0, 1).map(
        lambda x: Reading.of(x, unit="probability", scope="battery")
    ),
)


@given(promotion=promotions, evidence=some_evidence)
def test_a_pass_is_earned_by_finite_numbers_alone(
    promotion: PromotionSpec, evidence: Evidence
) -> None:
    verdict = judge(promotion, evidence)

    if verdict.decision == "PASS":
        assert evidence.stale == ()
        assert set(evidence.folds_expected) <= set(evidence.folds_present)
        assert all(as_number(outcome.observed) is not None for outcome in verdict.outcomes)
        assert len(verdict.outcomes) > 2


@given(promotion=promotions | st.none(), evidence=some_evidence)
def test_the_decision_follows_from_the_outcomes(
    promotion: PromotionSpec | None, evidence: Evidence
) -> None:
    verdict = judge(promotion, evidence)

    assert (verdict.decision == "UNGATED") == (promotion is None)
    assert (verdict.decision == "REJECT") == bool(verdict.reasons)
    for outcome in verdict.outcomes:
        assert outcome.passed == (outcome.status == "pass")
        assert (outcome.reason is None) == outcome.passed
        assert (outcome.would_pass_with is None) == outcome.passed


@given(promotion=promotions | st.none(), evidence=some_evidence)
def test_a_verdict_is_made_again_from_stored_evidence_byte_for_byte(
    promotion: PromotionSpec | None, evidence: Evidence
) -> None:
    stored = json.loads(canonical_json(evidence.to_json()))

    first = canonical_json(judge(promotion, evidence).to_json())
    again = canonical_json(judge(promotion, Evidence.from_json(stored)).to_json())

    assert again == first
    assert canonical_json(Verdict.from_json(json.loads(first)).to_json()) == first


@given(promotion=promotions, evidence=good_evidence, better=st.floats(0, 2))
def test_better_numbers_never_turn_a_pass_into_a_refusal(
    promotion: PromotionSpec, evidence: Evidence, better: float
) -> None:
    def moved(name: str, by: float) -> Reading:
        read: Reading = getattr(evidence, name)
        return dataclasses.replace(read, value=(as_number(read.value) or 0.0) + by)

    improved = dataclasses.replace(
        evidence,
        n_seeds=6,
        n_distinct_seeds=6,
        sharpe=moved("sharpe", better),
        total_return_ci_lo=moved("total_return_ci_lo", better),
        pbo=dataclasses.replace(evidence.pbo, value=0.0),
        dsr_probability=dataclasses.replace(evidence.dsr_probability, value=1.0),
    )

    if judge(promotion, evidence).decision == "PASS":
        assert judge(promotion, improved).decision == "PASS"


@given(
    evidence=good_evidence, promotion=promotions, name=st.sampled_from([*UNITS, "folds", "stale"])
)
def test_taking_evidence_away_never_turns_a_refusal_into_a_pass(
    evidence: Evidence, promotion: PromotionSpec, name: str
) -> None:
    less: dict[str, Any] = {name: Reading()}
    if name == "folds":
        less = {"folds_present": ()}
    if name == "stale":
        less = {"stale": ("dataset changed",)}

    if judge(promotion, evidence).decision == "REJECT":
        assert judge(promotion, dataclasses.replace(evidence, **less)).decision == "REJECT"
