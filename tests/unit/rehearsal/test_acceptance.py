from __future__ import annotations

import pytest

from alphaswarm_assets.rehearsal.acceptance import Acceptance, accept
from alphaswarm_assets.specs.paper import PaperSpec
from tests.unit.rehearsal.desks import KEY, MemoryHalts, ScriptedDesk, ScriptedEpisode, play

# The example of the paper release train: acceptance criteria and rollback triggers.
TRAIN = {
    "max_hard_breaches": 0,
    "max_reject_rate": 0.05,
    "min_total_return": 0.0,
    "max_drawdown": 0.10,
    "rollback_max_drawdown": 0.15,
    "rollback_max_loss_pct": 0.10,
}


def statuses(acceptance: Acceptance) -> dict[str, str]:
    return {outcome.check: outcome.status for outcome in acceptance.criteria}


def counted(hard: object, rejected: object, submitted: object) -> dict[str, object]:
    return {
        "hard_breach_count": hard,
        "pretrade_reject_count": rejected,
        "order_submit_count": submitted,
    }


def test_a_sound_session_meets_every_criterion() -> None:
    paper = PaperSpec.model_validate(TRAIN)
    session = play(ScriptedDesk([[0.02, -0.05], [0.06]], counters=counted(0, 1, 20)), paper)
    acceptance = accept(session, paper)
    assert acceptance.passed
    assert acceptance.reasons == ()
    assert list(statuses(acceptance)) == [
        "no_rollback",
        "not_halted",
        "max_hard_breaches",
        "max_reject_rate",
        "min_total_return",
        "max_drawdown",
    ]
    assert set(statuses(acceptance).values()) == {"pass"}


def test_criteria_are_met_exactly_at_their_thresholds() -> None:
    paper = PaperSpec(
        max_reject_rate=0.05, max_hard_breaches=2, max_drawdown=0.25, min_total_return=0.125
    )
    session = play(ScriptedDesk([[0.5, -0.25]], counters=counted(2, 1, 20)), paper)
    assert accept(session, paper).passed


@pytest.mark.parametrize(
    ("criterion", "threshold"),
    [
        ("max_hard_breaches", 0),
        ("max_reject_rate", 0.01),
        ("min_total_return", 0.2),
        ("max_drawdown", 0.04),
    ],
)
def test_one_criterion_that_is_missed_rejects_and_is_named(
    criterion: str, threshold: float
) -> None:
    paper = PaperSpec.model_validate({criterion: threshold})
    session = play(ScriptedDesk([[0.02, -0.05, 0.06]], counters=counted(1, 1, 20)), paper)
    acceptance = accept(session, paper)
    assert not acceptance.passed
    assert statuses(acceptance)[criterion] == "threshold_failed"
    assert len(acceptance.reasons) == 1
    assert criterion in acceptance.reasons[0]


@pytest.mark.parametrize("criterion", ["max_hard_breaches", "max_reject_rate"])
def test_a_counter_nobody_kept_is_missing_evidence(criterion: str) -> None:
    paper = PaperSpec.model_validate({criterion: 1})
    acceptance = accept(play(ScriptedDesk([[0.01]]), paper), paper)
    assert not acceptance.passed
    assert statuses(acceptance)[criterion] == "missing_evidence"


def test_one_episode_without_a_counter_is_enough_to_miss_it() -> None:
    paper = PaperSpec(max_hard_breaches=5)

    class HalfCounted(ScriptedDesk):
        def open_episode(self, index: int) -> ScriptedEpisode | None:
            self.counters = counted(0, 0, 1) if index == 0 else None
            return super().open_episode(index)

    acceptance = accept(play(HalfCounted([[0.01], [0.01]]), paper), paper)
    assert statuses(acceptance)["max_hard_breaches"] == "missing_evidence"


def test_a_reject_rate_over_no_orders_is_missing_evidence() -> None:
    paper = PaperSpec(max_reject_rate=1.0)
    acceptance = accept(play(ScriptedDesk([[0.0]], counters=counted(0, 0, 0)), paper), paper)
    assert statuses(acceptance)["max_reject_rate"] == "missing_evidence"
    assert "no order was submitted" in acceptance.reasons[0]


def test_a_session_without_an_episode_is_never_accepted() -> None:
    for paper in (PaperSpec(), PaperSpec.model_validate(TRAIN)):
        acceptance = accept(play(ScriptedDesk([]), paper), paper)
        assert not acceptance.passed
        assert set(statuses(acceptance).values()) == {"missing_evidence"}


def test_a_halted_session_is_not_accepted_whatever_it_earned() -> None:
    paper = PaperSpec(min_total_return=0.0)
    halts = MemoryHalts()

    def brake(episode: int, step: int) -> None:
        halts.engage(KEY, "operator")

    acceptance = accept(play(ScriptedDesk([[0.5]], brake), paper, halts=halts), paper)
    assert statuses(acceptance) == {
        "no_rollback": "pass",
        "not_halted": "threshold_failed",
        "min_total_return": "pass",
    }
    assert not acceptance.passed


def test_a_session_halted_before_its_start_fails_and_has_no_evidence() -> None:
    paper = PaperSpec(max_drawdown=1.0)
    session = play(ScriptedDesk([[0.5]]), paper, halts=MemoryHalts({KEY: "operator"}))
    assert statuses(accept(session, paper)) == {
        "no_rollback": "missing_evidence",
        "not_halted": "threshold_failed",
        "max_drawdown": "missing_evidence",
    }


def test_a_rolled_back_session_is_not_accepted_even_without_criteria() -> None:
    paper = PaperSpec(rollback_max_drawdown=0.1)
    acceptance = accept(play(ScriptedDesk([[-0.1]]), paper), paper)
    assert statuses(acceptance) == {"no_rollback": "threshold_failed", "not_halted": "pass"}
    assert not acceptance.passed


def test_a_wiped_out_session_is_not_accepted_even_without_criteria() -> None:
    assert not accept(play(ScriptedDesk([[-1.0]])), PaperSpec()).passed


def test_an_acceptance_without_any_criterion_does_not_pass() -> None:
    assert not Acceptance(criteria=()).passed


def test_an_outcome_says_what_was_observed_and_what_was_asked() -> None:
    paper = PaperSpec(max_drawdown=0.1)
    row = accept(play(ScriptedDesk([[-0.25]]), paper), paper).criteria[-1].to_json()
    assert row["check"] == "max_drawdown"
    assert row["observed"] == 0.25
    assert (row["comparator"], row["threshold"], row["unit"]) == ("<=", 0.1, "fraction")
    assert (row["status"], row["passed"]) == ("threshold_failed", False)
    assert row["reason"] == "max_drawdown was 0.25"
