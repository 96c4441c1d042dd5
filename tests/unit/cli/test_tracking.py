from __future__ import annotations

from collections.abc import Callable, Collection

import pytest

from alphaswarm_assets.cli.pace import Pace
from alphaswarm_assets.cli.tracking import Run
from alphaswarm_assets.drive.cells import Cell, cells_of
from alphaswarm_assets.drive.loop import DriveEvent
from alphaswarm_assets.drive.plan import CellState, Planned
from alphaswarm_assets.ports import CellResult, CellStatus, Progress
from alphaswarm_assets.specs.research import ResearchSpec


@pytest.fixture
def run(spec: ResearchSpec) -> Run:
    return Run(spec=spec, started_s=100.0, pace=Pace(baseline={}))


def planned(
    spec: ResearchSpec, *, current: Collection[str] = (), not_due: Collection[str] = ()
) -> tuple[Planned, ...]:
    def state(cell: Cell) -> CellState:
        return (
            "current" if cell.asset in current else "not_due" if cell.asset in not_due else "ready"
        )

    return tuple(Planned(cell=cell, state=state(cell)) for cell in cells_of(spec))


def cell(plan: tuple[Planned, ...], asset: str, fold: str = "") -> Planned:
    return next(p for p in plan if p.cell.asset == asset and p.cell.partition.startswith(fold))


def made(
    plan: tuple[Planned, ...],
    asset: str,
    fold: str = "",
    status: CellStatus = "made",
    error: str | None = None,
) -> DriveEvent:
    result = CellResult(status=status, run_id="r1", error=error)
    return DriveEvent(kind=status, plan=plan, cell=cell(plan, asset, fold), result=result)


def making(plan: tuple[Planned, ...], asset: str, fold: str = "") -> DriveEvent:
    return DriveEvent(kind="making", plan=plan, cell=cell(plan, asset, fold))


def test_a_cell_runs_then_is_made_in_the_seconds_between(run: Run, spec: ResearchSpec) -> None:
    plan = planned(spec)
    run.take(making(plan, "bronze_bars"), now_s=101.0)
    assert run.state(cell(plan, "bronze_bars")) == "running"
    run.take(made(plan, "bronze_bars"), now_s=103.5)
    assert run.state(cell(plan, "bronze_bars")) == "made"
    assert run.took_s == {"bronze_bars[wiki_5stocks]": 2.5}


def test_what_fails_keeps_its_error_and_its_run(run: Run, spec: ResearchSpec) -> None:
    plan = planned(spec)
    run.take(making(plan, "bronze_bars"), now_s=101.0)
    run.take(made(plan, "bronze_bars", status="failed", error="no bars"), now_s=102.0)
    assert run.failed == {"bronze_bars[wiki_5stocks]": "no bars"}
    assert run.run_ids == {"bronze_bars[wiki_5stocks]": "r1"}
    assert run.state(cell(plan, "bronze_bars")) == "failed"


def test_nothing_is_said_of_the_time_left_before_a_step_was_seen(
    run: Run, spec: ResearchSpec
) -> None:
    run.take(DriveEvent(kind="planned", plan=planned(spec)), now_s=100.0)
    assert run.about_left_s(now_s=105.0) is None


def test_the_time_left_is_the_steps_left_over_the_speed_plus_what_the_other_cells_usually_take(
    run: Run, spec: ResearchSpec, progress: Callable[..., Progress]
) -> None:
    plan = planned(
        spec,
        current=("bronze_bars", "silver_bars", "gold_features"),
        not_due=("registered_model", "paper_pack"),
    )
    run.take(making(plan, "research_dataset"), now_s=100.0)
    run.take(made(plan, "research_dataset"), now_s=102.0)
    run.take(making(plan, "trained_checkpoint", "f0"), now_s=102.0)
    topic = f"{spec.key}/f0/1"
    run.pace.observe({topic: progress(0)}, now_s=102.0)
    run.pace.observe({topic: progress(500)}, now_s=107.0)
    # two folds of two seeds of 1,000 steps, 500 of them made at 100 a second: 35 s. Two reports, a summary and a
    # verdict, each as long as the one other cell that was made: 8 s.
    assert run.about_left_s(now_s=107.0) == pytest.approx(35.0 + 8.0)


def test_when_all_is_trained_only_the_other_cells_are_left(run: Run, spec: ResearchSpec) -> None:
    plan = planned(
        spec,
        current=(
            "bronze_bars",
            "silver_bars",
            "gold_features",
            "research_dataset",
            "trained_checkpoint",
        ),
        not_due=("registered_model", "paper_pack"),
    )
    run.take(making(plan, "evaluation_report", "f0"), now_s=100.0)
    run.take(made(plan, "evaluation_report", "f0"), now_s=103.0)
    run.take(making(plan, "evaluation_report", "f1"), now_s=103.0)
    # the second report, one second in, then the summary and the verdict as long as a report
    assert run.about_left_s(now_s=104.0) == pytest.approx(2.0 + 3.0 + 3.0)


def test_a_run_cut_off_reports_what_it_made(run: Run, spec: ResearchSpec) -> None:
    plan = planned(spec)
    run.take(making(plan, "bronze_bars"), now_s=101.0)
    run.take(made(plan, "bronze_bars"), now_s=103.5)
    report = run.report()
    assert report.interrupted
    assert report.made == ("bronze_bars[wiki_5stocks]",)
