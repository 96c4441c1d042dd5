from __future__ import annotations

from collections.abc import Callable

import pytest

from alphaswarm_assets.cli.pace import WINDOW_S, Pace
from alphaswarm_assets.ports import Progress

T = "momentum/f0/1"


def test_speed_is_steps_over_seconds(progress: Callable[..., Progress]) -> None:
    pace = Pace(baseline={})
    pace.observe({T: progress(100)}, now_s=10.0)
    assert pace.steps_per_s(T) is None
    pace.observe({T: progress(400)}, now_s=12.0)
    assert pace.steps_per_s(T) == 150.0
    assert pace.gained_steps == 300


def test_looking_again_without_news_changes_nothing(progress: Callable[..., Progress]) -> None:
    pace = Pace(baseline={})
    pace.observe({T: progress(100)}, now_s=0.0)
    pace.observe({T: progress(200)}, now_s=1.0)
    pace.observe({T: progress(200)}, now_s=1.5)
    assert pace.steps_per_s(T) == 100.0


def test_what_stood_on_the_board_before_is_another_runs_until_it_changes(
    progress: Callable[..., Progress],
) -> None:
    pace = Pace(baseline={T: progress(1000)})
    pace.observe({T: progress(1000)}, now_s=0.0)
    assert pace.seen == {}
    pace.observe({T: progress(0)}, now_s=1.0)
    pace.observe({T: progress(50)}, now_s=2.0)
    assert pace.steps_per_s(T) == 50.0


def test_a_seed_that_begins_anew_is_no_negative_speed(progress: Callable[..., Progress]) -> None:
    pace = Pace(baseline={})
    for now_s, step in ((0.0, 900), (1.0, 1000), (2.0, 0), (3.0, 80)):
        pace.observe({T: progress(step)}, now_s=now_s)
    assert pace.steps_per_s(T) == 80.0
    assert pace.gained_steps == 180


def test_speed_forgets_what_is_older_than_its_window(progress: Callable[..., Progress]) -> None:
    pace = Pace(baseline={})
    step = 0
    for second in range(60):
        step += 10 if second < 30 else 40
        pace.observe({T: progress(step, total=10_000)}, now_s=float(second))
    assert pace.steps_per_s(T) == pytest.approx(40.0)
    assert WINDOW_S < 30


def test_the_speed_of_the_run_counts_all_seeds(progress: Callable[..., Progress]) -> None:
    pace = Pace(baseline={})
    pace.observe({T: progress(0), "momentum/f0/2": progress(0)}, now_s=0.0)
    pace.observe({T: progress(100), "momentum/f0/2": progress(300)}, now_s=4.0)
    assert pace.mean_steps_per_s(training_s=4.0) == 100.0
    assert pace.mean_steps_per_s(training_s=0.0) is None
