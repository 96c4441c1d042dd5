"""Verdicts as records: they say what follows from their outcomes, or they are not read."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest

from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.gates.outcome import Outcome
from alphaswarm_assets.gates.verdict import Verdict
from alphaswarm_assets.records.canonical import canonical_json

SHARPE = Outcome(
    check="min_sharpe",
    scope="seeds",
    observed=0.8,
    comparator=">=",
    threshold=0.5,
    status="pass",
    reason=None,
    unit="annual",
)
PBO = Outcome(
    check="max_pbo",
    scope="seeds",
    observed=0.6,
    comparator="<=",
    threshold=0.5,
    status="threshold_failed",
    reason="pbo was 0.6",
    unit="probability",
)
NOT_APPLICABLE = dataclasses.replace(PBO, status="not_applicable", reason="fewer than 10 columns")


@pytest.mark.parametrize(
    "verdict",
    [Verdict.of([SHARPE]), Verdict.of([SHARPE, PBO]), Verdict.of([]), Verdict.ungated()],
    ids=["pass", "reject", "no thresholds", "ungated"],
)
def test_a_verdict_comes_back_from_its_record(verdict: Verdict) -> None:
    stored = canonical_json(verdict.to_json())

    again = Verdict.from_json(json.loads(stored))

    assert again == verdict
    assert canonical_json(again.to_json()) == stored
    assert again.digest == verdict.digest


@pytest.mark.parametrize(
    "alter",
    [
        lambda raw: raw.update(decision="PASS"),
        lambda raw: raw.update(decision="UNGATED"),
        lambda raw: raw.update(reasons=[]),
        lambda raw: raw.update(outcomes=[]),
        lambda raw: raw.update(outcomes=None),
        lambda raw: raw.update(schema="other/9"),
        lambda raw: raw.update(note="fine"),
        lambda raw: raw["outcomes"].pop(),
        lambda raw: raw["outcomes"][1].update(status="pass", passed=True),
        lambda raw: raw["outcomes"][1].update(observed=0.1),
        lambda raw: raw["outcomes"][1].update(threshold=0.9),
        lambda raw: raw["outcomes"][1].update(threshold=None),
        lambda raw: raw["outcomes"][1].update(status="fine"),
        lambda raw: raw["outcomes"][1].update(comparator="<"),
        lambda raw: raw["outcomes"][1].update(passed=True),
        lambda raw: raw["outcomes"][1].update(observed="0.1"),
        lambda raw: raw["outcomes"].append("pass"),
    ],
)
def test_an_altered_record_is_refused(alter: Callable[[Any], object]) -> None:
    raw: Any = copy.deepcopy(Verdict.of([SHARPE, PBO]).to_json())
    alter(raw)

    with pytest.raises(InvalidInputError):
        Verdict.from_json(raw)


def test_a_gate_that_does_not_apply_is_recorded_and_does_not_gate() -> None:
    verdict = Verdict.of([SHARPE, NOT_APPLICABLE])

    assert verdict.decision == "PASS"
    assert verdict.outcomes[1].passed is False
    assert verdict.outcomes[1].would_pass_with is None


def test_gates_that_all_do_not_apply_promote_nothing() -> None:
    verdict = Verdict.of([NOT_APPLICABLE])

    assert verdict.decision == "REJECT"
    assert verdict.reasons == ("nothing_passed: no threshold applied, so none was cleared",)


@pytest.mark.parametrize("status", ["underpowered", "stale", "missing_evidence", "not_computable"])
def test_every_other_status_rejects(status: Any) -> None:
    outcome = dataclasses.replace(PBO, status=status, reason="why")

    assert Verdict.of([SHARPE, outcome]).decision == "REJECT"


def test_a_pass_against_its_own_numbers_cannot_be_made() -> None:
    with pytest.raises(
        InvalidInputError, match=r"max_pbo cannot be 'pass' with observed 0\.6 <= 0\.5"
    ):
        dataclasses.replace(PBO, status="pass")
