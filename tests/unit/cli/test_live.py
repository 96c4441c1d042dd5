from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from rich.console import Console

from alphaswarm_assets.cli.lines import EVERY_S, Lines
from alphaswarm_assets.cli.live import MAX_SEED_ROWS, live_view
from alphaswarm_assets.cli.pace import Pace
from alphaswarm_assets.cli.tracking import Run
from alphaswarm_assets.cli.watching import POLL_S
from alphaswarm_assets.drive.cells import cells_of
from alphaswarm_assets.drive.loop import DriveEvent
from alphaswarm_assets.drive.plan import Planned
from alphaswarm_assets.ports import CellResult, Progress
from alphaswarm_assets.specs.research import ResearchSpec


@pytest.fixture
def plan(spec: ResearchSpec) -> tuple[Planned, ...]:
    done = {"bronze_bars", "silver_bars", "gold_features"}
    return tuple(
        Planned(cell=cell, state="current" if cell.asset in done else "ready", why="never made")
        for cell in cells_of(spec)
    )


@pytest.fixture
def training(spec: ResearchSpec, plan: tuple[Planned, ...]) -> Run:
    """A run ten seconds into the first fold."""
    run = Run(spec=spec, started_s=0.0, pace=Pace(baseline={}))
    dataset, fold = plan[3], plan[4]
    run.take(DriveEvent(kind="making", plan=plan, cell=dataset), now_s=0.0)
    made = CellResult(status="made", run_id="r")
    run.take(DriveEvent(kind="made", plan=plan, cell=dataset, result=made), now_s=2.0)
    run.take(DriveEvent(kind="making", plan=plan, cell=fold), now_s=2.0)
    return run


def shown(page: Console, run: Run, now_s: float = 12.0, note: str = "") -> str:
    page.print(live_view(run, now_s=now_s, note=note))
    return page.export_text()


def test_every_stage_has_a_row_and_each_fold_its_state(page: Console, training: Run) -> None:
    text = shown(page, training)
    assert [
        stage for stage in ("collect", "learn", "measure", "promote", "rehearse") if stage in text
    ] == [
        "collect",
        "learn",
        "measure",
        "promote",
        "rehearse",
    ]
    assert "f0 running 0:10 · f1 to make" in text
    assert "made 2.0 s" in text
    assert "0:12" in text


def test_a_seed_shows_its_steps_its_speed_and_the_time_left(
    page: Console, training: Run, spec: ResearchSpec, progress: Callable[..., Progress]
) -> None:
    training.pace.observe({f"{spec.key}/f0/1": progress(100)}, now_s=7.0)
    training.pace.observe({f"{spec.key}/f0/1": progress(600)}, now_s=12.0)
    text = shown(page, training)
    assert "f0 · seed 1" in text
    assert "600 / 1,000" in text
    assert "100 steps/s" in text
    assert "1 of 2 seeds to come" in text
    assert "left" in text


def test_of_a_large_battery_those_under_way_are_shown_and_the_others_counted(
    page: Console, training: Run, spec: ResearchSpec, progress: Callable[..., Progress]
) -> None:
    board = {
        f"{spec.key}/f0/{seed}": progress(1000, label=f"f0 · seed {seed}") for seed in range(20)
    }
    board[f"{spec.key}/f0/13"] = progress(10, label="f0 · seed 13")
    training.pace.observe(board, now_s=12.0)
    text = shown(page, training)
    assert "f0 · seed 13" in text
    assert text.count("1,000 / 1,000") == MAX_SEED_ROWS - 1
    assert "12 more seeds" in text


def test_a_board_that_cannot_be_read_is_said_in_the_view(page: Console, training: Run) -> None:
    assert "progress cannot be read now" in shown(
        page, training, note="progress cannot be read now: gone"
    )


def test_a_line_tells_the_event_the_cell_and_why(training: Run, plan: tuple[Planned, ...]) -> None:
    lines = Lines()
    line = lines.of_event(training, DriveEvent(kind="making", plan=plan, cell=plan[4]), now_s=2.0)
    assert line == f"[0:02] learn    {plan[4].cell.name} (never made)"
    first = lines.of_event(training, DriveEvent(kind="planned", plan=plan), now_s=0.0)
    assert "3 current" in first


def test_a_seed_is_spoken_of_at_most_every_few_seconds_and_at_its_end(
    training: Run, spec: ResearchSpec, progress: Callable[..., Progress]
) -> None:
    lines = Lines()
    said = []
    for tick in range(40):
        now_s = 2.0 + 0.5 * tick
        training.pace.observe({f"{spec.key}/f0/1": progress(25 * (tick + 1))}, now_s=now_s)
        said += [(now_s, line) for line in lines.of_seeds(training, now_s=now_s)]
    gaps = [later - sooner for (sooner, _), (later, _) in pairwise(said)]
    assert max(gaps) <= 5.0
    assert len(said) <= 7
    assert "1,000 / 1,000 steps (100%)" in said[-1][1]


def test_the_step_counter_moves_at_least_every_five_seconds() -> None:
    assert EVERY_S + POLL_S <= 5.0
