"""What a hostile or unlucky hand can do to a finished study, and how little it gains by it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from alphaswarm_assets.definitions import House, compose
from alphaswarm_assets.errors import LedgerError, RefusedError, StoreError
from alphaswarm_assets.records.manifest import pack
from alphaswarm_assets.rehearsal.pack import is_approved
from alphaswarm_assets.runtime.registering import require_allowed
from tests.graph.conftest import copy_home, tiny_spec, write_bars
from tests.graph.test_study import failure_text, made, materialise, run

MakeHouse = Callable[[Path], House]


def digest_of(house: House, asset: str, partition: str) -> str:
    pin = house.event_log().latest(asset, partition)
    assert pin is not None
    return pin.digest


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, template: Path) -> House:
    house = copy_home(template, tmp_path_factory.mktemp("refusals") / "home")
    assert run(house, tiny_spec()).failed == {}
    return house


def test_a_verdict_that_contradicts_its_evidence_lets_nothing_through(house: House) -> None:
    spec = tiny_spec()
    refused = tiny_spec(promotion="promotion: {min_sharpe: 50, min_seeds: 2}", name="name: liar")
    run(house, refused)
    judged = house.artifacts.get(digest_of(house, "promotion_verdict", refused.key))
    facts: Any = {**judged.content.facts, "decision": "PASS", "reasons": []}
    liar = pack(
        kind="verdict",
        spec_hash=refused.snapshot_hash(),
        payload={},
        inputs=judged.content.inputs,
        facts=facts,
    )
    house.artifacts.put(liar)
    checkpoint = judged.content.inputs["trained_checkpoint"]

    with pytest.raises(RefusedError, match="says PASS, and its evidence judged again says REJECT"):
        require_allowed(house.runtime.bench, refused, verdict=liar.digest, checkpoint=checkpoint)
    own = digest_of(house, "promotion_verdict", spec.key)
    with pytest.raises(RefusedError, match="no verdict on"):
        require_allowed(house.runtime.bench, refused, verdict=own, checkpoint=checkpoint)


def test_a_verdict_the_ledger_does_not_hold_lets_nothing_through(
    house: House, tmp_path: Path
) -> None:
    spec = tiny_spec()
    verdict = digest_of(house, "promotion_verdict", spec.key)
    checkpoint = digest_of(house, "trained_checkpoint", f"f1|{spec.key}")
    rows = house.places.ledgers / "promotions.jsonl"
    kept = rows.read_bytes()
    rows.unlink()
    try:
        other = compose(house.home)
        with pytest.raises(RefusedError, match="stands in no row of the promotions ledger"):
            require_allowed(other.runtime.bench, spec, verdict=verdict, checkpoint=checkpoint)
        rows.write_bytes(kept.replace(b'"PASS"', b'"FAIL"', 1))
        with pytest.raises(LedgerError, match="is broken at row 0"):
            require_allowed(
                compose(house.home).runtime.bench, spec, verdict=verdict, checkpoint=checkpoint
            )
    finally:
        rows.write_bytes(kept)


@pytest.mark.parametrize("asset", ["promotion_verdict", "registered_model", "paper_pack"])
def test_bars_that_changed_under_a_study_stop_whatever_is_launched_on_it(
    asset: str, tmp_path: Path, house_at: MakeHouse
) -> None:
    house, spec = house_at(tmp_path / "home"), tiny_spec()
    run(house, spec)
    write_bars(house.home / "bars" / "tiny.csv", seed=6)
    result = materialise(house, asset, spec.key)

    if asset == "promotion_verdict":
        verdict = house.verdict(spec.key)
        assert verdict is not None
        assert result.success
        assert verdict.decision == "REJECT"
        assert "bronze_bars[tiny] is not current" in verdict.reasons[0]
    else:
        assert made(result) == []
        assert "StaleArtifactError" in failure_text(result)
        assert "bronze_bars[tiny] is not current: what it is made from changed" in failure_text(
            result
        )


def test_a_fold_that_fails_after_an_edit_is_missing_and_its_old_report_is_not_used(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    from alphaswarm_assets.drive import plan

    spec = tiny_spec()
    stores = house.stores(house.event_log())
    moved = plan.Stores(
        events=stores.events,
        holds=stores.holds,
        decision=stores.decision,
        fingerprint=stores.fingerprint,
        code_version=lambda asset: (
            "moved" if asset == "evaluation_report" else stores.code_version(asset)
        ),
    )
    standing = plan.as_it_stands(spec, moved)

    assert standing[f"evaluation_report[f0|{spec.key}]"].pin is None
    assert standing[f"evaluation_summary[{spec.key}]"].why == "what it is made from changed"


def test_an_ungated_study_is_never_approved_and_shows_what_is_missing(
    tmp_path: Path, house_at: MakeHouse
) -> None:
    house, spec = house_at(tmp_path / "home"), tiny_spec(promotion="study: ungated")
    run(house, spec)
    pack_digest = digest_of(house, "paper_pack", spec.key)
    held = house.artifacts.get(pack_digest)
    approved, why = is_approved(held.content.facts, held.envelope, house.clock.now())
    result = materialise(house, "promotion_verdict", spec.key)
    checks = {c.check_name: c.passed for c in result.get_asset_check_evaluations()}

    assert held.content.facts["decision"] == "UNGATED"
    assert not approved, why
    assert checks["all_folds_present"] is True


def test_a_rollback_sets_the_halt_key_and_a_session_killed_after_it_is_finished(
    tmp_path: Path, house_at: MakeHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = house_at(tmp_path / "home")
    spec = tiny_spec(
        paper="paper: {max_episodes: 3, reserve_fraction: 0.2, rollback_max_drawdown: 0.0001}"
    )
    first = run(house, spec)
    assert first.failed == {}
    whole = digest_of(house, "paper_pack", spec.key)
    facts: Any = house.artifacts.get(whole).content.facts

    assert house.halts.reason(spec.key) == "rollback:max_drawdown"
    assert facts["session"]["status"] == "rolled_back"
    assert facts["acceptance"]["passed"] is False

    # The same, cut between the brake and the pack.
    again = house_at(tmp_path / "again")
    put = type(again.artifacts).put

    def fail_on_pack(self: Any, artifact: Any) -> str:
        if artifact.content.kind == "paper_pack":
            raise StoreError("disk full")
        return put(self, artifact)

    monkeypatch.setattr(type(again.artifacts), "put", fail_on_pack)
    cut = run(again, spec)
    assert list(cut.failed) == [f"paper_pack[{spec.key}]"]
    assert again.halts.reason(spec.key) == "rollback:max_drawdown"
    monkeypatch.undo()
    assert run(again, spec).made == (f"paper_pack[{spec.key}]",)
    assert digest_of(again, "paper_pack", spec.key) == whole


def test_an_operators_halt_stops_the_session_and_is_never_lifted_by_a_run(
    tmp_path: Path, house_at: MakeHouse
) -> None:
    house, spec = house_at(tmp_path / "home"), tiny_spec()
    house.halts.engage(spec.key, "operator: exchange down")
    halted = run(house, spec)

    assert "was halted" in halted.failed[f"paper_pack[{spec.key}]"]
    assert house.halts.reason(spec.key) == "operator: exchange down"
    assert house.event_log().latest("paper_pack", spec.key) is None
    house.halts.release(spec.key)
    assert run(house, spec).made == (f"paper_pack[{spec.key}]",)


def test_an_expired_approval_is_renewed_by_the_same_command(
    tmp_path: Path, house_at: MakeHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    from datetime import timedelta

    house, spec = house_at(tmp_path / "home"), tiny_spec()
    run(house, spec)
    before = house.verdict(spec.key)
    later = house.clock.now() + timedelta(days=40)
    monkeypatch.setattr(type(house.clock), "now", lambda _: later)
    renewed = run(house, spec)
    after = house.verdict(spec.key)

    assert renewed.made == (f"paper_pack[{spec.key}]",)
    assert before is not None
    assert before.pack is not None
    assert after is not None
    assert after.pack is not None
    assert after.pack["approval_expiry"] > before.pack["approval_expiry"]


def test_a_materialisation_reported_by_hand_answers_nothing(house: House) -> None:
    spec = tiny_spec()
    own = digest_of(house, "promotion_verdict", spec.key)
    by_hand = dg.AssetMaterialization(dg.AssetKey("promotion_verdict"), partition=spec.key)
    house.instance.report_runless_asset_event(by_hand)

    assert digest_of(house, "promotion_verdict", spec.key) == own


def test_a_tracker_that_is_away_takes_no_policy_with_it(
    tmp_path: Path, house_at: MakeHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    house, spec = house_at(tmp_path / "home"), tiny_spec()

    def away(*_: Any, **__: Any) -> str:
        raise StoreError("the tracker is away")

    monkeypatch.setattr(type(house.registry), "log_curves", away)
    report = house.run(spec, folds=["f0"], watch=lambda _: None)
    trained: list[Any] = [r.body for r in house.runs.rows() if r.body["target"] == "train"]

    assert report.failed == {}
    assert trained[0]["result_summary"]["curves"] == "the tracker is away"
