from __future__ import annotations

from typing import Any

import pytest

from alphaswarm_assets.drive.loop import DriveEvent, DriveReport, drive
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.ports import CellResult
from tests.unit.drive.conftest import Bench, World

ORDER = [
    "bronze_bars",
    "silver_bars",
    "gold_features",
    "research_dataset",
    "trained_checkpoint[f0]",
    "trained_checkpoint[f1]",
    "evaluation_report[f0]",
    "evaluation_report[f1]",
    "evaluation_summary",
    "promotion_verdict",
    "registered_model",
    "paper_pack",
]
FAILED = CellResult(status="failed", run_id="r", error="MarketDataError: no bars")
INTERRUPTED = CellResult(status="interrupted", run_id="r")


def _drive(bench: Bench, **options: Any) -> tuple[DriveReport, list[DriveEvent]]:
    events: list[DriveEvent] = []
    report = drive(bench.world.spec, bench.world.stores(), bench, watch=events.append, **options)
    return report, events


def test_every_cell_is_made_once_in_order(bench: Bench) -> None:
    report, events = _drive(bench)
    assert bench.made == ORDER
    assert len(report.made) == len(ORDER)
    assert (report.failed, report.interrupted, report.current) == ({}, False, ())
    assert [event.kind for event in events] == ["planned", *(["making", "made"] * len(ORDER))]
    assert {planned.state for planned in report.plan} == {"current"}


def test_the_second_drive_makes_nothing(bench: Bench) -> None:
    _drive(bench)
    bench.requests.clear()
    report, events = _drive(bench)
    assert bench.made == []
    assert report.made == ()
    assert len(report.current) == len(ORDER)
    assert [event.kind for event in events] == ["planned"]


def test_a_reject_ends_the_drive_without_a_failure(bench: Bench, world: World) -> None:
    world.decision = "REJECT"
    report, _ = _drive(bench)
    assert bench.made == ORDER[:10]
    assert report.failed == {}
    assert [p.state for p in report.plan[-2:]] == ["not_due", "not_due"]


def test_a_request_names_the_cell_and_its_memo_key(bench: Bench, world: World) -> None:
    report, _ = _drive(bench)
    for request, planned in zip(bench.requests, report.plan, strict=True):
        assert (request.asset, request.partition) == (planned.cell.asset, planned.cell.partition)
        assert request.memo_key == planned.memo_key
        assert not request.parallel


def test_only_training_is_launched_in_parallel(bench: Bench) -> None:
    _drive(bench, parallel=True)
    parallel = {request.asset for request in bench.requests if request.parallel}
    assert parallel == {"trained_checkpoint"}


def test_after_a_failed_fold_the_others_go_on_and_the_verdict_is_made(
    bench: Bench, world: World
) -> None:
    world.decision = "REJECT"
    bench.will("trained_checkpoint", "f0", FAILED)
    report, events = _drive(bench)
    assert bench.made == [
        *ORDER[:6],
        "evaluation_report[f1]",
        "evaluation_summary",
        "promotion_verdict",
    ]
    assert report.failed == {f"trained_checkpoint[f0|{world.spec.key}]": "MarketDataError: no bars"}
    assert [event.kind for event in events].count("failed") == 1


def test_what_failed_is_resumed_and_the_summary_made_again_from_all_folds(
    bench: Bench, world: World
) -> None:
    bench.will("trained_checkpoint", "f0", FAILED)
    _drive(bench)
    bench.requests.clear()
    report, _ = _drive(bench)
    assert bench.made == ["trained_checkpoint[f0]", "evaluation_report[f0]", *ORDER[8:]]
    assert report.failed == {}
    assert len(report.current) == len(ORDER) - len(report.made)


@pytest.mark.parametrize("asset", ORDER[:4])
def test_without_what_all_folds_stand_on_there_is_no_verdict(bench: Bench, asset: str) -> None:
    bench.will(asset, None, FAILED)
    report, _ = _drive(bench)
    assert bench.made == ORDER[: ORDER.index(asset) + 1]
    assert list(report.failed.values()) == ["MarketDataError: no bars"]


def test_a_failure_without_a_reason_says_so(bench: Bench) -> None:
    bench.will("bronze_bars", None, CellResult(status="failed", run_id="r"))
    report, _ = _drive(bench)
    assert list(report.failed.values()) == ["no reason was recorded"]


def test_an_interrupt_ends_the_drive_and_the_same_command_resumes(bench: Bench) -> None:
    bench.will("trained_checkpoint", "f1", INTERRUPTED)
    report, events = _drive(bench)
    assert report.interrupted
    assert bench.made == ORDER[:6]
    assert len(report.made) == 5
    assert events[-1].kind == "interrupted"
    bench.requests.clear()
    report, _ = _drive(bench)
    assert bench.made == ORDER[5:]
    assert not report.interrupted
    assert len(report.current) == 5


def test_a_cell_that_is_made_and_never_current_is_given_up(bench: Bench, world: World) -> None:
    bench.will("gold_features", None, "said to be made", "said to be made", "said to be made")
    report, _ = _drive(bench)
    assert bench.made == ["bronze_bars", "silver_bars", "gold_features", "gold_features"]
    assert "was made twice and is still not current" in report.failed["gold_features[wiki_5stocks]"]


def test_a_cell_made_in_vain_once_is_made_again(bench: Bench) -> None:
    bench.will("gold_features", None, "said to be made", "made")
    report, _ = _drive(bench)
    assert bench.made.count("gold_features") == 2
    assert [p.state for p in report.plan][:4] == ["current"] * 4


def test_one_fold_is_made_with_what_it_stands_on(bench: Bench) -> None:
    _drive(bench, folds=["f1"])
    assert bench.made == [*ORDER[:4], "trained_checkpoint[f1]", "evaluation_report[f1]"]


def test_a_fold_the_spec_lacks_is_refused_before_anything_is_made(bench: Bench) -> None:
    with pytest.raises(InvalidInputError, match="was asked for f5"):
        _drive(bench, folds=["f5"])
    assert bench.made == []
