from __future__ import annotations

from typing import Any

import pytest

from alphaswarm_assets.errors import InvalidInputError, MarketDataError
from alphaswarm_assets.markets.folds import (
    MIN_BLOCK_BARS,
    Walk,
    plan_walk,
    walk_from_json,
    walk_to_json,
)
from alphaswarm_assets.markets.panel import Block
from alphaswarm_assets.specs.loading import validate_spec
from alphaswarm_assets.specs.research import ResearchSpec


def _spec(n_blocks: int, purge: int | None = 0, paper: float | None = None) -> ResearchSpec:
    raw: dict[str, Any] = {
        "name": "walk",
        "walk_forward": {"n_blocks": n_blocks, "purge_bars": purge},
        "training": {"seed": 1, "total_timesteps": 1},
        "paper": None if paper is None else {"reserve_fraction": paper},
    }
    return validate_spec(raw, source="test")


def _spans(walk: Walk) -> list[tuple[tuple[int, int], tuple[int, int] | None]]:
    return [
        (
            (fold.train.start, fold.train.stop),
            (fold.evaluate.start, fold.evaluate.stop) if fold.evaluate else None,
        )
        for fold in walk.folds
    ]


def test_nine_files_in_three_blocks_walk_as_they_should() -> None:
    # Nine files of 20 bars, K = 3: k=0 trains on files 0-2 and evaluates on 3-5, k=1 on 0-5 and on 6-8.
    assert _spans(plan_walk(_spec(3), 180)) == [((0, 60), (60, 120)), ((0, 120), (120, 180))]


def test_the_last_block_takes_the_remainder() -> None:
    assert _spans(plan_walk(_spec(3), 182))[-1] == ((0, 120), (120, 182))


def test_purged_bars_go_from_the_end_of_each_training_window() -> None:
    assert _spans(plan_walk(_spec(3, purge=7), 180)) == [
        ((0, 53), (60, 120)),
        ((0, 113), (120, 180)),
    ]


def test_the_purge_is_the_longest_look_back_unless_it_is_given() -> None:
    assert plan_walk(_spec(4, purge=None), 1000).folds[0].train == Block(start=0, stop=250 - 63)


def test_the_newest_bars_are_kept_for_paper() -> None:
    walk = plan_walk(_spec(3, paper=0.1), 1000)
    assert walk.paper == Block(start=900, stop=1000)
    assert _spans(walk)[-1] == ((0, 600), (600, 900))


def test_one_block_trains_on_everything_before_paper_and_measures_nothing() -> None:
    walk = plan_walk(_spec(1, paper=0.2), 100)
    assert _spans(walk) == [((0, 80), None)]
    assert walk.paper == Block(start=80, stop=100)
    assert plan_walk(_spec(1), 100).paper is None


@pytest.mark.parametrize("n_blocks", range(1, 10))
def test_the_walk_has_the_folds_of_the_spec(n_blocks: int) -> None:
    spec = _spec(n_blocks)
    assert tuple(fold.name for fold in plan_walk(spec, 1000).folds) == spec.folds


@pytest.mark.parametrize(
    ("spec", "n_bars", "message"),
    [
        (
            _spec(4),
            79,
            r"79 bars, 0 of them reserved for paper, make 4 blocks of 19 with a purge of 0",
        ),
        (_spec(4, purge=None), 331, "make 4 blocks of 82 with a purge of 63"),
        (_spec(1), 19, "make 1 blocks of 19"),
        (_spec(2, purge=100), 200, "with a purge of 100"),
        (_spec(2, paper=0.1), 150, r"paper.reserve_fraction 0.1 of 150 bars reserves 15"),
        (_spec(1), 0, "0 bars"),
    ],
)
def test_a_walk_too_short_is_refused_with_what_to_change(
    spec: ResearchSpec, n_bars: int, message: str
) -> None:
    with pytest.raises(MarketDataError, match=message) as caught:
        plan_walk(spec, n_bars)
    assert "iden dataset.start..end" in str(caught.value)


def test_the_shortest_walk_that_is_long_enough_passes() -> None:
    n_bars = 4 * (63 + MIN_BLOCK_BARS)
    walk = plan_walk(_spec(4, purge=None), n_bars)
    assert len(walk.folds[0].train) == MIN_BLOCK_BARS


def test_a_walk_survives_json() -> None:
    for spec in (_spec(1), _spec(1, paper=0.3), _spec(5, purge=9, paper=0.1)):
        walk = plan_walk(spec, 500)
        assert walk_from_json(walk_to_json(walk)) == walk


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"folds": []},
        {"folds": 3, "paper": None},
        {"folds": [{"name": "f0"}], "paper": None},
        {"folds": [{"name": "f0", "train": [0], "evaluate": None}], "paper": None},
        {"folds": [{"name": "f0", "train": ["0", "5"], "evaluate": None}], "paper": None},
        {"folds": [{"name": "f0", "train": [5, 0], "evaluate": None}], "paper": None},
        {"folds": [], "paper": 7},
    ],
    ids=str,
)
def test_what_is_no_walk_is_refused(raw: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        walk_from_json(raw)


def test_a_fold_the_walk_lacks_is_refused_by_name() -> None:
    walk = plan_walk(_spec(3), 180)
    assert walk.fold("f1") is walk.folds[1]
    with pytest.raises(
        InvalidInputError, match="this spec has the folds f0, f1, was asked for 'f7'"
    ):
        walk.fold("f7")
