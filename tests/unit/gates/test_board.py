"""The board of gates: every combination of thresholds, and every kind of evidence that is none."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from typing import Any

import pytest

from alphaswarm_assets.gates.board import judge
from alphaswarm_assets.gates.evidence import Evidence, Reading
from alphaswarm_assets.gates.outcome import Outcome
from alphaswarm_assets.records.canonical import canonical_json
from alphaswarm_assets.specs.promotion import THRESHOLDS, PromotionSpec
from alphaswarm_assets.statistics.undefined import Undefined

# The thresholds of seed 000.
SEED: dict[str, Any] = {
    "min_sharpe": 0.5,
    "max_pbo": 0.5,
    "min_dsr_probability": 0.90,
    "min_seeds": 5,
    "require_ci_positive": True,
}
PRECONDITIONS = ["all_folds_present", "evidence_current"]


def reading(value: Any, unit: str, scope: str, reason: str | None = None) -> Reading:
    return Reading(value=value, unit=unit, scope=scope, reason=reason)


GOOD = Evidence(
    n_seeds=5,
    n_distinct_seeds=5,
    folds_expected=("f0", "f1"),
    folds_present=("f0", "f1"),
    sharpe=reading(0.8, "annual", "seeds"),
    total_return_ci_lo=reading(0.02, "fraction", "seeds"),
    pbo=reading(0.3, "probability", "seeds"),
    dsr_probability=reading(0.95, "probability", "battery"),
)
# For each threshold: a change of the evidence that fails it alone.
BAD: dict[str, dict[str, Any]] = {
    "min_sharpe": {"sharpe": reading(0.31, "annual", "seeds")},
    "max_pbo": {"pbo": reading(0.51, "probability", "seeds")},
    "min_dsr_probability": {"dsr_probability": reading(0.89, "probability", "battery")},
    "min_seeds": {"n_seeds": 4, "n_distinct_seeds": 4},
    "require_ci_positive": {"total_return_ci_lo": reading(-0.01, "fraction", "seeds")},
}
# For each threshold on a reading: where it stands.
READING = {
    "min_sharpe": "sharpe",
    "max_pbo": "pbo",
    "min_dsr_probability": "dsr_probability",
    "require_ci_positive": "total_return_ci_lo",
}


def evidence(**changes: Any) -> Evidence:
    return dataclasses.replace(GOOD, **changes)


def spec(*keys: str, **more: Any) -> PromotionSpec:
    return PromotionSpec(**{key: SEED[key] for key in keys}, **more)


def only(promotion: PromotionSpec, of: Evidence) -> Outcome:
    verdict = judge(promotion, of)
    assert verdict.decision == "REJECT"
    (outcome,) = [outcome for outcome in verdict.outcomes if not outcome.passed]
    return outcome


def subsets(keys: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [c for n in range(len(keys) + 1) for c in itertools.combinations(keys, n)]


@pytest.mark.parametrize("configured", subsets(THRESHOLDS), ids="+".join)
def test_every_set_of_thresholds_against_every_set_of_failures(configured: tuple[str, ...]) -> None:
    for failing in subsets(THRESHOLDS):
        changes = {name: value for key in failing for name, value in BAD[key].items()}

        verdict = judge(spec(*configured), evidence(**changes))

        assert [outcome.check for outcome in verdict.outcomes] == [*configured, *PRECONDITIONS]
        failed = [outcome.check for outcome in verdict.outcomes if not outcome.passed]
        assert failed == [key for key in configured if key in failing]
        assert (verdict.decision == "PASS") == (bool(configured) and not failed)
        assert len(verdict.reasons) == len(failed) + (not configured)


def test_promotion_null_is_ungated_whatever_the_evidence() -> None:
    verdict = judge(None, Evidence(stale=("dataset changed",)))

    assert (verdict.decision, verdict.outcomes, verdict.reasons) == ("UNGATED", (), ())


@pytest.mark.parametrize(
    "promotion", [spec(), spec(require_ci_positive=False), spec(profile="seed")]
)
def test_promotion_without_a_threshold_rejects(promotion: PromotionSpec) -> None:
    verdict = judge(promotion, GOOD)

    assert verdict.decision == "REJECT"
    assert verdict.reasons == ("no_thresholds: promotion is set and configures no threshold",)
    assert [outcome.check for outcome in verdict.outcomes] == PRECONDITIONS


@pytest.mark.parametrize("key", THRESHOLDS)
def test_a_threshold_without_any_evidence_rejects(key: str) -> None:
    verdict = judge(spec(key), Evidence())

    assert verdict.decision == "REJECT"
    assert verdict.outcomes[0].check == key
    assert verdict.outcomes[0].status == "missing_evidence"


@pytest.mark.parametrize("key", READING)
@pytest.mark.parametrize(
    "value",
    [None, math.nan, math.inf, -math.inf, True, False, "0.8", "nan", 10**400],
    ids=["none", "nan", "inf", "-inf", "true", "false", "text", "text nan", "beyond float"],
)
def test_what_is_no_finite_number_is_missing_evidence(key: str, value: Any) -> None:
    read: Reading = getattr(GOOD, READING[key])

    outcome = only(spec(key), evidence(**{READING[key]: dataclasses.replace(read, value=value)}))

    assert (outcome.check, outcome.status, outcome.passed) == (key, "missing_evidence", False)
    assert outcome.reason


@pytest.mark.parametrize("value", [None, math.nan, math.inf, True, "5", 5.0, 5.5, -1, 10**400])
@pytest.mark.parametrize("name", ["n_seeds", "n_distinct_seeds"])
def test_a_seed_count_that_is_no_count_is_missing_evidence(name: str, value: Any) -> None:
    assert only(spec("min_seeds"), evidence(**{name: value})).status == "missing_evidence"


@pytest.mark.parametrize("key", READING)
def test_a_number_that_could_not_be_computed_says_why(key: str) -> None:
    read: Reading = getattr(GOOD, READING[key])
    undefined = Reading.of(Undefined("returns have no spread"), unit=read.unit, scope=read.scope)

    outcome = only(spec(key), evidence(**{READING[key]: undefined}))

    assert outcome.status == "not_computable"
    assert outcome.reason == "returns have no spread"
    assert outcome.observed is None


@pytest.mark.parametrize(
    ("key", "value", "passes"),
    [
        ("min_sharpe", 0.5, True),
        ("min_sharpe", math.nextafter(0.5, 0), False),
        ("max_pbo", 0.5, True),
        ("max_pbo", math.nextafter(0.5, 1), False),
        ("min_dsr_probability", 0.90, True),
        ("min_dsr_probability", math.nextafter(0.90, 0), False),
        ("require_ci_positive", 0.0, False),
        ("require_ci_positive", -0.0, False),
        ("require_ci_positive", 5e-324, True),
    ],
)
def test_exactly_at_the_threshold(key: str, value: float, *, passes: bool) -> None:
    read: Reading = getattr(GOOD, READING[key])

    verdict = judge(spec(key), evidence(**{READING[key]: dataclasses.replace(read, value=value)}))

    assert verdict.outcomes[0].passed is passes
    assert (verdict.decision == "PASS") is passes


def test_too_few_seeds_fail_the_threshold_with_the_number_seen() -> None:
    outcome = only(spec("min_seeds"), evidence(n_seeds=3, n_distinct_seeds=3))

    assert (outcome.status, outcome.observed, outcome.threshold) == ("threshold_failed", 3, 5)
    assert outcome.reason == "3 seeds were evaluated"


def test_copies_of_a_seed_are_no_seeds() -> None:
    outcome = only(spec("min_seeds"), evidence(n_distinct_seeds=2))

    assert (outcome.status, outcome.observed) == ("missing_evidence", 2)
    assert outcome.reason == "duplicate_seeds: 5 seeds hold 2 distinct series of returns"


def test_a_missing_fold_rejects_whatever_the_other_numbers() -> None:
    outcome = only(spec(*SEED), evidence(folds_present=("f1", "f7")))

    assert (outcome.check, outcome.status) == ("all_folds_present", "missing_evidence")
    assert (outcome.observed, outcome.threshold) == (1, 2)
    assert outcome.reason == "no evaluation of fold f0"


def test_a_spec_with_a_single_block_has_no_evaluation_to_be_promoted_on() -> None:
    outcome = only(spec(*SEED), evidence(folds_expected=(), folds_present=()))

    assert (outcome.check, outcome.status) == ("all_folds_present", "missing_evidence")


def test_stale_evidence_rejects_and_says_what_changed() -> None:
    outcome = only(spec(*SEED), evidence(stale=("dataset changed", "checkpoint of f1 changed")))

    assert (outcome.check, outcome.status, outcome.observed) == ("evidence_current", "stale", 2)
    assert outcome.reason == "dataset changed; checkpoint of f1 changed"


@pytest.mark.parametrize(
    ("key", "unit"),
    [("min_sharpe", "per period"), ("max_pbo", "percent"), ("require_ci_positive", "currency")],
)
def test_a_number_in_another_unit_is_no_evidence(key: str, unit: str) -> None:
    read: Reading = getattr(GOOD, READING[key])

    outcome = only(spec(key), evidence(**{READING[key]: dataclasses.replace(read, unit=unit)}))

    assert outcome.status == "missing_evidence"
    assert f"was {unit!r}" in (outcome.reason or "")


@pytest.mark.parametrize(
    ("key", "asks", "scope"),
    [
        ("max_pbo", {}, "configs"),
        ("max_pbo", {"pbo_scope": "configs"}, "seeds"),
        ("max_pbo", {"profile": "ledger"}, "seeds"),
        ("min_dsr_probability", {}, "ledger"),
        ("min_dsr_probability", {"dsr_scope": "ledger"}, "battery"),
        ("min_dsr_probability", {"profile": "ledger"}, "battery"),
    ],
)
def test_a_number_of_another_scope_is_no_evidence(
    key: str, asks: dict[str, Any], scope: str
) -> None:
    read: Reading = getattr(GOOD, READING[key])
    other = evidence(**{READING[key]: dataclasses.replace(read, scope=scope)})

    outcome = only(spec(key, **asks), other)

    assert outcome.status == "missing_evidence"
    assert f"was {scope!r}" in (outcome.reason or "")


@pytest.mark.parametrize("key", ["max_pbo", "min_dsr_probability"])
@pytest.mark.parametrize("value", [-0.1, 1.1])
def test_a_probability_outside_zero_and_one_is_no_evidence(key: str, value: float) -> None:
    read: Reading = getattr(GOOD, READING[key])

    outcome = only(spec(key), evidence(**{READING[key]: dataclasses.replace(read, value=value)}))

    assert (outcome.status, outcome.observed) == ("missing_evidence", value)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (BAD["min_sharpe"], "needs sharpe >= 0.5, was 0.31"),
        (
            {"sharpe": reading(math.nextafter(0.5, 0), "annual", "seeds")},
            "needs sharpe >= 0.5, was 0.49999999999999994",
        ),
        (BAD["max_pbo"], "needs pbo <= 0.5, was 0.51"),
        (BAD["min_dsr_probability"], "needs dsr_probability >= 0.9, was 0.89"),
        (BAD["min_seeds"], "needs seeds >= 5, was 4"),
        (BAD["require_ci_positive"], "needs lower bound of total_return > 0, was -0.01"),
        ({"sharpe": Reading()}, "needs sharpe >= 0.5; sharpe was not measured"),
        ({"folds_present": ("f0",)}, "needs folds >= 2; no evaluation of fold f1"),
        ({"stale": ("dataset changed",)}, "needs stale inputs <= 0; dataset changed"),
    ],
)
def test_a_refusal_says_what_was_needed(changes: dict[str, Any], text: str) -> None:
    outcome = only(spec(*SEED), evidence(**changes))

    assert outcome.would_pass_with == text
    assert judge(spec(*SEED), evidence(**changes)).reasons == (
        f"{outcome.check}: {outcome.status} ({text})",
    )


def test_a_pass_needs_no_words() -> None:
    verdict = judge(spec(*SEED), GOOD)

    assert verdict.decision == "PASS"
    assert verdict.reasons == ()
    assert all(
        outcome.would_pass_with is None and outcome.reason is None for outcome in verdict.outcomes
    )


def test_evidence_judged_again_from_its_file_gives_the_same_bytes() -> None:
    for changes in ({}, *BAD.values(), {"sharpe": reading(math.nan, "annual", "seeds")}):
        before = evidence(**changes)
        stored = canonical_json(before.to_json())

        after = Evidence.from_json(json.loads(stored))

        assert after == before
        assert canonical_json(after.to_json()) == stored
        assert canonical_json(judge(spec(*SEED), after).to_json()) == canonical_json(
            judge(spec(*SEED), before).to_json()
        )
