from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any, TypeAlias, cast

import pytest

from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.records.canonical import canonical_json
from alphaswarm_assets.rehearsal.pack import build_pack, is_approved, probe_pack
from alphaswarm_assets.rehearsal.session import Session, run_probe
from alphaswarm_assets.specs.paper import PaperSpec
from tests.unit.rehearsal.desks import KEY, MONDAY, MemoryHalts, ScriptedDesk, SetClock, play

Pack: TypeAlias = tuple[dict[str, Any], dict[str, Any]]
"""Content and envelope, as they are read back from JSON."""

PAPER = PaperSpec(max_episodes=2, min_total_return=0.0, approval_expiry_days=30)


def pack_of(session: Session, paper: PaperSpec = PAPER) -> Pack:
    pack = build_pack(
        session=session, paper=paper, spec_hash="a" * 64, checkpoint="b" * 64, seed=7, seeds=(7, 11)
    )
    return cast("Pack", pack)


@pytest.fixture
def accepted() -> Pack:
    return pack_of(play(ScriptedDesk([[0.02, -0.01], [0.03]]), PAPER))


def test_a_pack_holds_what_the_release_train_promises(
    accepted: Pack,
) -> None:
    content, envelope = accepted
    assert set(content) == {
        "schema", "kind", "decision", "spec_hash", "checkpoint", "seed", "seeds", "config", "episodes", "session",
        "operational_report", "acceptance", "rollback_events",
    }  # fmt: skip
    assert (content["decision"], content["kind"]) == ("PASS", "release_train")
    assert content["session"]["status"] == "completed"
    assert content["session"]["metrics"]["total_return"] == pytest.approx(1.02 * 0.99 * 1.03 - 1)
    assert [row["n_steps"] for row in content["episodes"]] == [2, 1]
    assert content["config"]["approval_expiry_days"] == 30
    assert set(envelope) == {"started", "ended", "halt", "approval_expiry"}


def test_a_metric_that_cannot_be_computed_says_why(
    accepted: Pack,
) -> None:
    lone = accepted[0]["episodes"][1]["metrics"]["sharpe_annual"]
    assert lone == {"value": None, "reason": "needs at least 2 rows of returns, was 1 row"}
    rate = accepted[0]["operational_report"]["reject_rate"]
    assert rate["value"] is None


def test_both_parts_are_json(accepted: Pack) -> None:
    for part in accepted:
        assert json.loads(canonical_json(part)) == json.loads(json.dumps(part))


def test_the_content_is_the_same_whenever_it_is_played() -> None:
    desk = [[0.02, -0.01], [0.03]]
    early, early_envelope = pack_of(play(ScriptedDesk(desk), PAPER, clock=SetClock(0.0)))
    late, late_envelope = pack_of(play(ScriptedDesk(desk), PAPER, clock=SetClock(1e6)))
    assert canonical_json(early) == canonical_json(late)
    assert early_envelope != late_envelope


def test_the_words_of_an_operator_stand_in_the_envelope_alone() -> None:
    halts = MemoryHalts({KEY: "stopped by me at 09:31"})
    content, envelope = pack_of(play(ScriptedDesk([[0.1]]), PAPER, halts=halts))
    assert "09:31" not in canonical_json(content)
    assert envelope["halt"] == {"key": KEY, "reason": "stopped by me at 09:31"}
    assert content["decision"] == "REJECT"


def test_an_approval_holds_from_the_end_of_the_session_until_its_expiry(
    accepted: Pack,
) -> None:
    content, envelope = accepted
    assert (
        envelope["approval_expiry"] == "2026-02-04T09:30:00+00:00"
    )  # 30 days after 5 January 2026, 09:30
    assert is_approved(content, envelope, MONDAY) == (
        True,
        "approved until 2026-02-04T09:30:00+00:00",
    )
    last = MONDAY + timedelta(days=30) - timedelta(microseconds=1)
    assert is_approved(content, envelope, last)[0]
    approved, reason = is_approved(content, envelope, MONDAY + timedelta(days=30))
    assert not approved
    assert "expired at 2026-02-04" in reason


def test_an_instant_of_another_time_zone_is_the_same_instant(
    accepted: Pack,
) -> None:
    tokyo = timezone(timedelta(hours=9))
    just_before = (MONDAY + timedelta(days=30, seconds=-1)).astimezone(tokyo)
    assert is_approved(*accepted, just_before)[0]


def test_an_approval_from_the_future_is_none(
    accepted: Pack,
) -> None:
    approved, reason = is_approved(*accepted, MONDAY - timedelta(seconds=1))
    assert not approved
    assert "compare the clocks" in reason


def test_an_expiry_moved_in_the_envelope_gives_no_more_days(
    accepted: Pack,
) -> None:
    content, envelope = accepted
    stretched = envelope | {"approval_expiry": "2036-01-01T00:00:00+00:00"}
    assert not is_approved(content, stretched, MONDAY + timedelta(days=31))[0]


@pytest.mark.parametrize(
    "damage",
    [
        {"approval_expiry": None},
        {"approval_expiry": "soon"},
        {"approval_expiry": "2026-02-04T09:30:00"},
        {"ended": None},
    ],
)
def test_an_envelope_that_does_not_say_when_does_not_approve(
    accepted: Pack, damage: dict[str, Any]
) -> None:
    content, envelope = accepted
    approved, reason = is_approved(content, envelope | damage, MONDAY)
    assert not approved
    assert "until when" in reason


def test_a_pack_that_claims_more_than_its_criteria_does_not_approve() -> None:
    content, envelope = pack_of(play(ScriptedDesk([[-0.02]]), PAPER))
    assert content["decision"] == "REJECT"
    forged = content | {"decision": "PASS", "acceptance": content["acceptance"] | {"passed": True}}
    approved, reason = is_approved(forged, envelope, MONDAY)
    assert not approved
    assert "min_total_return" in reason


@pytest.mark.parametrize(
    "acceptance", [None, {}, {"passed": True}, {"passed": True, "criteria": [{}]}]
)
def test_an_acceptance_that_cannot_be_read_does_not_approve(
    accepted: Pack, acceptance: object
) -> None:
    content, envelope = accepted
    approved, reason = is_approved(content | {"acceptance": acceptance}, envelope, MONDAY)
    assert not approved
    assert "no acceptance" in reason


def test_a_probe_is_labelled_and_approves_nothing() -> None:
    session = run_probe(
        desk=ScriptedDesk([[0.5]]), halts=MemoryHalts(), halt_keys=[KEY], clock=SetClock()
    )
    content, envelope = probe_pack(
        session=session, spec_hash="a" * 64, checkpoint="b" * 64, seed=7, seeds=[7]
    )
    assert (content["kind"], content["decision"], content["acceptance"]) == (
        "probe",
        "UNGATED",
        None,
    )
    assert envelope["approval_expiry"] is None
    approved, reason = is_approved(content, envelope, MONDAY)
    assert not approved
    assert "'probe'" in reason


def test_an_instant_without_a_time_zone_is_an_error(
    accepted: Pack,
) -> None:
    with pytest.raises(InvalidInputError, match="time zone"):
        is_approved(*accepted, datetime(2026, 1, 5))  # noqa: DTZ001 -- the fault under test
