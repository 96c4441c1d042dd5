"""A study through the real graph: every decision a verdict can take, and what each lets through."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from alphaswarm_assets.definitions import House, definitions_of
from alphaswarm_assets.drive.loop import DriveReport
from alphaswarm_assets.specs.research import ResearchSpec
from tests.graph.conftest import copy_home, tiny_spec

MakeHouse = Callable[[Path], House]


def run(house: House, spec: ResearchSpec) -> DriveReport:
    return house.run(spec, watch=lambda _: None)


def materialise(house: House, asset: str, partition: str) -> dg.ExecuteInProcessResult:
    job = definitions_of(house).resolve_implicit_global_asset_job_def()
    return job.execute_in_process(
        partition_key=partition,
        asset_selection=[dg.AssetKey(asset)],
        instance=house.instance,
        raise_on_error=False,
        run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
    )


def failure_text(result: dg.ExecuteInProcessResult) -> str:
    return "\n".join(
        str(event.step_failure_data.user_failure_data.description)
        for event in result.all_events
        if event.is_step_failure and event.step_failure_data.user_failure_data
    )


def made(result: dg.ExecuteInProcessResult) -> list[str]:
    events = result.get_asset_materialization_events()
    return [e.asset_key.to_user_string() for e in events if e.asset_key]


@pytest.fixture(scope="module")
def passed(
    tmp_path_factory: pytest.TempPathFactory, template: Path
) -> tuple[House, ResearchSpec, DriveReport]:
    house, spec = copy_home(template, tmp_path_factory.mktemp("passed") / "home"), tiny_spec()
    return house, spec, run(house, spec)


@pytest.fixture(scope="module")
def rejected(
    tmp_path_factory: pytest.TempPathFactory, template: Path
) -> tuple[House, ResearchSpec, DriveReport]:
    house = copy_home(template, tmp_path_factory.mktemp("rejected") / "home")
    spec = tiny_spec(promotion="promotion: {min_sharpe: 50, min_seeds: 2}")
    return house, spec, run(house, spec)


def test_a_study_that_passes_is_registered_and_rehearsed(
    passed: tuple[House, ResearchSpec, DriveReport],
) -> None:
    house, spec, report = passed
    assert report.failed == {}
    verdict = house.verdict(spec.key)

    assert verdict is not None
    assert verdict.decision == "PASS"
    assert verdict.current
    assert report.made[-2:] == (f"registered_model[{spec.key}]", f"paper_pack[{spec.key}]")
    assert verdict.pack is not None
    assert verdict.pack["acceptance"]["passed"] is True


def test_a_second_run_makes_nothing(passed: tuple[House, ResearchSpec, DriveReport]) -> None:
    house, spec, first = passed
    again = run(house, spec)

    assert again.made == ()
    assert set(again.current) == set(first.made)


def test_every_materialisation_names_its_parents_by_storage_id_and_digest(
    passed: tuple[House, ResearchSpec, DriveReport],
) -> None:
    house, spec, _ = passed
    wanted = dg.AssetRecordsFilter(
        asset_key=dg.AssetKey("evaluation_report"), asset_partitions=[f"f1|{spec.key}"]
    )
    event = house.instance.fetch_materializations(wanted, limit=1).records[0]
    assert event.asset_materialization is not None
    parents: Any = event.asset_materialization.metadata["parents"].value
    latest = house.event_log().latest("trained_checkpoint", f"f1|{spec.key}")

    assert latest is not None
    assert {p["asset"] for p in parents} == {"trained_checkpoint", "research_dataset"}
    assert latest.to_json() in parents


def test_runs_and_promotions_are_kept_in_ledgers_of_ours(
    passed: tuple[House, ResearchSpec, DriveReport],
) -> None:
    house, spec, _ = passed
    runs: list[Any] = [row.body for row in house.runs.rows()]
    by_target = {run["target"]: run for run in runs}

    assert {"train", "evaluate", "judge", "register", "paper"} <= set(by_target)
    summary = by_target["evaluate"]["result_summary"]
    assert set(summary["evaluation_report"]["aggregate"]["sharpe"]) >= {
        "point",
        "iqm",
        "lo",
        "hi",
        "n",
    }
    assert set(summary["reward_attribution"]) == {"holding", "cost", "turnover_penalty"}
    assert by_target["judge"]["result_summary"]["promotion"]["decision"] == "PASS"
    assert by_target["paper"]["result_summary"]["paper_pack"]["spec_hash"] == spec.snapshot_hash()
    events: list[Any] = [row.body["event"] for row in house.promotions.rows()]
    assert events == ["judged", "registered"]


def test_the_model_version_carries_spec_verdict_and_checkpoint(
    passed: tuple[House, ResearchSpec, DriveReport],
) -> None:
    import mlflow

    house, spec, _ = passed
    client = mlflow.MlflowClient(house.places.mlflow_uri)
    version = client.get_model_version_by_alias("tiny", "challenger")
    verdict = house.verdict(spec.key)
    checkpoint = house.event_log().latest("trained_checkpoint", f"f1|{spec.key}")

    assert verdict is not None
    assert checkpoint is not None
    assert version.tags["alphaswarm.spec_hash"] == spec.snapshot_hash()
    assert version.tags["alphaswarm.verdict"] == verdict.digest
    assert version.tags["alphaswarm.checkpoint"] == checkpoint.digest


def test_a_report_replays_to_the_same_bytes(
    passed: tuple[House, ResearchSpec, DriveReport],
) -> None:
    house, spec, _ = passed
    report = house.event_log().latest("evaluation_report", f"f0|{spec.key}")

    assert report is not None
    assert house.runtime.replay(spec, report.digest)


def test_the_study_without_a_graph_around_it_ends_in_the_same_evidence(
    passed: tuple[House, ResearchSpec, DriveReport],
) -> None:
    house, spec, _ = passed
    dataset = house.event_log().latest("research_dataset", spec.key)
    summary = house.event_log().latest("evaluation_summary", spec.key)
    assert dataset is not None
    assert summary is not None
    run_context = house.runtime.context("walk", "trained_checkpoint")

    assert (
        house.runtime.walk_forward(spec, dataset=dataset.digest, run=run_context) == summary.digest
    )


def test_a_refused_study_ends_with_its_reason_and_registers_nothing(
    rejected: tuple[House, ResearchSpec, DriveReport],
) -> None:
    house, spec, report = rejected
    assert report.failed == {}
    verdict = house.verdict(spec.key)

    assert verdict is not None
    assert verdict.decision == "REJECT"
    assert verdict.reasons[0].startswith("min_sharpe: threshold_failed (needs sharpe >= 50, was ")
    assert not any(name.startswith(("registered_model", "paper_pack")) for name in report.made)


@pytest.mark.parametrize("asset", ["registered_model", "paper_pack"])
def test_launched_alone_after_a_refusal_it_fails_before_it_is_materialised(
    rejected: tuple[House, ResearchSpec, DriveReport], asset: str
) -> None:
    house, spec, _ = rejected
    result = materialise(house, asset, spec.key)
    checks = [e for e in result.get_asset_check_evaluations() if e.check_name == "verdict_allows"]

    assert not result.success
    assert made(result) == []
    assert f"RefusedError: the verdict on {spec.key} is REJECT" in failure_text(result)
    assert [(c.passed, c.partition) for c in checks] == [(False, spec.key)]


def test_each_gate_is_a_check_of_the_verdicts_partition(
    rejected: tuple[House, ResearchSpec, DriveReport],
) -> None:
    house, spec, _ = rejected
    result = materialise(house, "promotion_verdict", spec.key)
    found = {c.check_name: (c.passed, c.partition) for c in result.get_asset_check_evaluations()}

    assert result.success
    assert found["min_sharpe"] == (False, spec.key)
    assert found["min_seeds"] == (True, spec.key)
    assert found["max_pbo"] == (True, spec.key)
    assert set(found) == {
        "min_sharpe", "max_pbo", "min_dsr_probability", "min_seeds", "require_ci_positive",
        "all_folds_present", "evidence_current",
    }  # fmt: skip


def test_without_promotion_the_study_is_ungated_and_registered_as_such(
    tmp_path: Path, house_at: MakeHouse
) -> None:
    import mlflow

    house, spec = house_at(tmp_path / "home"), tiny_spec(promotion="study: ungated")
    run(house, spec)
    verdict = house.verdict(spec.key)
    version = mlflow.MlflowClient(house.places.mlflow_uri).get_model_version("tiny", "1")

    assert verdict is not None
    assert verdict.decision == "UNGATED"
    assert version.tags["alphaswarm.decision"] == "UNGATED"


def test_without_paper_the_pack_is_a_probe_that_approves_nothing(
    tmp_path: Path, house_at: MakeHouse
) -> None:
    house, spec = house_at(tmp_path / "home"), tiny_spec(paper="study: probe")
    report = run(house, spec)
    verdict = house.verdict(spec.key)

    assert report.failed == {}
    assert verdict is not None
    assert verdict.pack is not None
    assert verdict.pack["kind"] == "probe"
    assert verdict.pack["acceptance"] is None


def test_one_block_leaves_nothing_to_measure_and_is_refused(
    tmp_path: Path, house_at: MakeHouse
) -> None:
    house = house_at(tmp_path / "home")
    spec = tiny_spec(walk_forward="walk_forward: {n_blocks: 1}")
    report = run(house, spec)
    verdict = house.verdict(spec.key)

    assert report.failed == {}
    assert verdict is not None
    assert verdict.decision == "REJECT"
    statuses = {o["check"]: o["status"] for o in verdict.outcomes}
    assert statuses["min_sharpe"] == "missing_evidence"
    assert statuses["all_folds_present"] == "missing_evidence"


def test_the_post_train_battery_is_kept_with_the_training_run_when_configured(
    tmp_path: Path, house_at: MakeHouse
) -> None:
    house = house_at(tmp_path / "home")
    line = "training: {seed: 11, total_timesteps: 256, n_envs: 8, n_steps: 32, batch_size: 64,"
    line += " post_train_battery: true}"
    spec = tiny_spec(training=line, evaluation="evaluation: {}")
    house.run(spec, folds=["f0"], watch=lambda _: None)
    trained: list[Any] = [r.body for r in house.runs.rows() if r.body["target"] == "train"]

    assert len(trained) == 1
    assert "evaluation_report" in trained[0]["result_summary"]
    assert trained[0]["result_summary"]["evaluation_report"]["fold"] == "f0"
