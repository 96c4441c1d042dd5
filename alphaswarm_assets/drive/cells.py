"""The cells of a study: every (asset, partition) its spec asks for, in the order they are made."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.specs.research import ResearchSpec, check_key

Axis: TypeAlias = Literal["source", "spec", "fold"]

_FOLD = re.compile(r"f[0-7]")

STAGES = ("collect", "discover", "learn", "measure", "promote", "rehearse", "trade")
"""Verbs whose alphabetical order is the order of the flow."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """One asset for one partition."""

    asset: str
    stage: str
    partition: str
    axis: Axis
    parents: tuple[Cell, ...] = ()
    optional_parents: bool = False
    """Whether the cell can be made while a parent is missing for good: a missing fold is missing evidence."""

    @property
    def name(self) -> str:
        """Return how people write the cell: ``trained_checkpoint[f0|ppo-0123456789ab]``."""
        return f"{self.asset}[{self.partition}]"


def fold_partition(fold: str, key: str) -> str:
    """Return the partition of *fold* of the spec *key*; Dagster sorts the dimensions by name: fold, then spec.

    Raises
    ------
    InvalidInputError
        If the key is no spec key, or the fold none of f0 to f7.
    """
    if not _FOLD.fullmatch(fold):
        raise InvalidInputError(f"a fold must be one of f0 to f7, was {fold!r}")
    return f"{fold}|{check_key(key)}"


def split_partition(partition: str) -> tuple[str | None, str]:
    """Return (fold, spec key) of a partition, fold None where there is none.

    Raises
    ------
    InvalidInputError
        If the key is no spec key, or the fold none of f0 to f7.
    """
    fold, bar, key = partition.rpartition("|")
    if bar and not _FOLD.fullmatch(fold):
        raise InvalidInputError(
            f"a fold partition must look like 'f0|name-0123456789ab', was {partition!r}"
        )
    return (fold or None), check_key(key)


def cells_of(spec: ResearchSpec) -> tuple[Cell, ...]:
    """Return every cell of *spec*, parents before children."""
    key = spec.key
    bronze = Cell(
        asset="bronze_bars", stage="collect", partition=spec.dataset.source, axis="source"
    )
    silver = _after(bronze, "silver_bars")
    gold = _after(silver, "gold_features")
    dataset = Cell(
        asset="research_dataset", stage="collect", partition=key, axis="spec", parents=(gold,)
    )
    checkpoints = tuple(
        _fold("trained_checkpoint", "learn", f, key, (dataset,)) for f in spec.folds
    )
    reports = tuple(
        _fold("evaluation_report", "measure", f, key, (checkpoint, dataset))
        for f, checkpoint in zip(spec.folds, checkpoints, strict=True)
    )
    summary = Cell(
        asset="evaluation_summary",
        stage="measure",
        partition=key,
        axis="spec",
        parents=reports,
        optional_parents=True,
    )
    verdict = _spec("promotion_verdict", "promote", key, (summary,))
    promoted = (verdict, checkpoints[-1])
    cells = [bronze, silver, gold, dataset, *checkpoints, *reports, summary, verdict]
    if spec.mlflow is not None:
        cells.append(_spec("registered_model", "promote", key, promoted))
    if spec.paper is not None or spec.walk_forward.n_blocks > 1:
        # Without a paper window and a second block there is no bar the policy was not trained on.
        cells.append(_spec("paper_pack", "rehearse", key, (*promoted, dataset)))
    return tuple(cells)


def _after(parent: Cell, asset: str) -> Cell:
    return Cell(
        asset=asset, stage="collect", partition=parent.partition, axis="source", parents=(parent,)
    )


def _spec(asset: str, stage: str, key: str, parents: tuple[Cell, ...]) -> Cell:
    return Cell(asset=asset, stage=stage, partition=key, axis="spec", parents=parents)


def _fold(asset: str, stage: str, fold: str, key: str, parents: tuple[Cell, ...]) -> Cell:
    return Cell(
        asset=asset, stage=stage, partition=fold_partition(fold, key), axis="fold", parents=parents
    )
