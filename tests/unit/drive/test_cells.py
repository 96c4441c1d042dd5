from __future__ import annotations

import pytest

from alphaswarm_assets.drive.cells import STAGES, Cell, cells_of, fold_partition, split_partition
from alphaswarm_assets.errors import InvalidInputError
from tests.unit.drive.conftest import spec_of

KEY = "study-0123456789ab"


@pytest.mark.parametrize("n_blocks", range(1, 10))
def test_every_block_count_has_its_cells_in_order(n_blocks: int) -> None:
    spec = spec_of(n_blocks)
    folds = [f"f{k}" for k in range(max(1, n_blocks - 1))]
    expected = [
        ("bronze_bars", "wiki_5stocks"),
        ("silver_bars", "wiki_5stocks"),
        ("gold_features", "wiki_5stocks"),
        ("research_dataset", spec.key),
        *(("trained_checkpoint", f"{fold}|{spec.key}") for fold in folds),
        *(("evaluation_report", f"{fold}|{spec.key}") for fold in folds),
        ("evaluation_summary", spec.key),
        ("promotion_verdict", spec.key),
        ("registered_model", spec.key),
        ("paper_pack", spec.key),
    ]
    assert [(cell.asset, cell.partition) for cell in cells_of(spec)] == expected


@pytest.mark.parametrize("n_blocks", [1, 2, 9])
def test_parents_come_before_children_and_stages_in_order(n_blocks: int) -> None:
    cells = cells_of(spec_of(n_blocks))
    seen: set[str] = set()
    for cell in cells:
        assert {parent.name for parent in cell.parents} <= seen
        seen.add(cell.name)
    stages = [STAGES.index(cell.stage) for cell in cells]
    assert stages == sorted(stages)
    assert list(STAGES) == sorted(STAGES)


def _named(cells: tuple[Cell, ...], asset: str) -> Cell:
    return next(cell for cell in cells if cell.asset == asset)


def test_a_model_is_registered_only_where_the_spec_names_one() -> None:
    assets = [cell.asset for cell in cells_of(spec_of(mlflow=None))]
    assert "registered_model" not in assets
    assert assets[-1] == "paper_pack"


def test_the_summary_fans_in_over_every_fold_and_can_do_without_one() -> None:
    cells = cells_of(spec_of(4))
    summary = _named(cells, "evaluation_summary")
    assert [parent.partition[:2] for parent in summary.parents] == ["f0", "f1", "f2"]
    assert summary.optional_parents
    assert [cell.asset for cell in cells if cell.optional_parents] == ["evaluation_summary"]


def test_a_report_depends_on_the_checkpoint_of_its_own_fold() -> None:
    for cell in cells_of(spec_of(4)):
        if cell.asset == "evaluation_report":
            assert [parent.name for parent in cell.parents] == [
                f"trained_checkpoint[{cell.partition}]",
                f"research_dataset[{spec_of(4).key}]",
            ]


@pytest.mark.parametrize("asset", ["registered_model", "paper_pack"])
def test_what_is_promoted_is_the_last_fold(asset: str) -> None:
    cell = _named(cells_of(spec_of(5)), asset)
    assert [parent.asset for parent in cell.parents[:2]] == [
        "promotion_verdict",
        "trained_checkpoint",
    ]
    assert cell.parents[1].partition.startswith("f3|")


def test_a_fold_partition_splits_into_what_it_was_made_of() -> None:
    assert split_partition(fold_partition("f3", KEY)) == ("f3", KEY)
    assert split_partition(KEY) == (None, KEY)


@pytest.mark.parametrize(
    "partition", [f"|{KEY}", f"f8|{KEY}", f"f0|f1|{KEY}", f"{KEY}|f0", "f0|study", "", "f0|"]
)
def test_what_is_no_partition_is_refused(partition: str) -> None:
    with pytest.raises(InvalidInputError):
        split_partition(partition)


@pytest.mark.parametrize(
    ("fold", "key"), [("f8", KEY), ("", KEY), ("f0|f1", KEY), ("f0", "study"), ("f0", "")]
)
def test_no_partition_is_made_of_what_is_no_fold_or_key(fold: str, key: str) -> None:
    with pytest.raises(InvalidInputError):
        fold_partition(fold, key)
