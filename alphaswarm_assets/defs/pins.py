"""Explicit lineage: which materialisation of every parent a cell is made from, and whether that one still holds.

Dagster's own input pointers name the latest event of any partition, so every asset resolves its parents here, first
thing, and loads them by digest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import dagster as dg

from alphaswarm_assets.drive.cells import Cell, cells_of, split_partition
from alphaswarm_assets.drive.code import code_version
from alphaswarm_assets.drive.memo import memo_key
from alphaswarm_assets.drive.plan import Planned, Stores, as_it_stands
from alphaswarm_assets.errors import (
    AlphaSwarmError,
    InvalidInputError,
    MissingArtifactError,
    StaleArtifactError,
)
from alphaswarm_assets.ports import Pin
from alphaswarm_assets.specs.registry import SpecRegistry
from alphaswarm_assets.specs.research import ResearchSpec


class StoresOf(Protocol):
    """Opens what planning reads, the event log of an instance with it."""

    def __call__(self, instance: dg.DagsterInstance) -> Stores:
        """Return the stores around the event log of *instance*."""
        ...


@dataclass(frozen=True, kw_only=True)
class Making:
    """One cell about to be made: its spec, its place, and its parents, pinned."""

    spec: ResearchSpec
    cell: Cell
    fold: str | None
    parents: Mapping[str, Pin | None]
    """By role: the parent's asset, with its fold in brackets where there are several."""
    findings: tuple[str, ...] = ()
    """What is stale about the parents, where that is tolerated."""

    @property
    def memo_key(self) -> str:
        """Memo key of what is about to be made."""
        versions = {
            parent.name: pin.data_version if pin else None
            for parent, pin in zip(self.cell.parents, self.parents.values(), strict=True)
        }
        return memo_key(
            asset=self.cell.asset,
            partition=self.cell.partition,
            spec_hash=self.spec.snapshot_hash(),
            code_version=code_version(self.cell.asset),
            parents=versions,
        )

    @property
    def inputs(self) -> dict[str, str]:
        """Content digests of the parents there are, by role."""
        return {role: pin.digest for role, pin in self.parents.items() if pin is not None}

    def digest(self, role: str) -> str:
        """Return the digest of the parent in *role*."""
        pin = self.parents[role]
        if pin is None:
            raise MissingArtifactError(f"{self.cell.name} needs {role}, which was never made")
        return pin.digest


def resolve(
    *,
    asset: str,
    partition: str,
    specs: SpecRegistry,
    stores: Stores,
    tolerate_stale: bool = False,
) -> Making:
    """Return the cell (*asset*, *partition*) with every parent pinned and found current, down to the source.

    A fold that is not current is missing to a fan-in over folds. With *tolerate_stale* the latest there is of a parent
    is taken, and what is wrong with it stands in ``findings``.

    Raises
    ------
    InvalidInputError
        If the spec has no such cell: a fold beyond its blocks, a model it does not register.
    MissingArtifactError
        If a parent was never made and the cell cannot do without.
    StaleArtifactError
        If a parent, or something it was made from, has been remade, has other code now or does not verify.
    """
    fold, key = split_partition(partition)
    spec = specs.get(key)
    cell = next((c for c in cells_of(spec) if (c.asset, c.partition) == (asset, partition)), None)
    if cell is None:
        raise InvalidInputError(_no_such_cell(spec, asset, fold))
    plan = as_it_stands(spec, stores)
    parents: dict[str, Pin | None] = {}
    findings: list[str] = []
    for parent in cell.parents:
        found = plan[parent.name]
        pin = found.pin
        if found.state != "current" and not cell.optional_parents:
            pin = stores.events.latest(parent.asset, parent.partition)
            findings += _why_not_current(parent, plan)
            if not tolerate_stale:
                raise _refusal(cell, parent, pin, findings, key)
        parents[role_of(parent, cell)] = pin
    return Making(spec=spec, cell=cell, fold=fold, parents=parents, findings=tuple(findings))


def role_of(parent: Cell, child: Cell) -> str:
    """Return the role *parent* plays for *child*: its asset, with its fold in brackets in a fan-in over folds."""
    if not child.optional_parents:
        return parent.asset
    return f"{parent.asset}[{parent.partition.split('|')[0]}]"


def _why_not_current(cell: Cell, plan: Mapping[str, Planned]) -> list[str]:
    """Return a sentence for everything *cell* rests on, itself included, that is not current, the source first."""
    lines = [line for parent in cell.parents for line in _why_not_current(parent, plan)]
    found = plan[cell.name]
    if found.state not in {"current", "waiting"}:
        lines.append(f"{cell.name} is not current: {found.why}")
    return list(dict.fromkeys(lines))


def _refusal(
    cell: Cell, parent: Cell, pin: Pin | None, findings: Sequence[str], key: str
) -> AlphaSwarmError:
    if pin is None:
        return MissingArtifactError(
            f"{cell.name} needs {parent.name}, which was never made. Run `alphaswarm run {key}`, or "
            f"materialise {parent.asset!r} for partition {parent.partition!r} first."
        )
    return StaleArtifactError(
        f"{cell.name} would be made from what is stale: {'; '.join(findings)}. Run `alphaswarm run {key}`: it remakes "
        "what is stale."
    )


def _no_such_cell(spec: ResearchSpec, asset: str, fold: str | None) -> str:
    if fold is not None and fold not in spec.folds:
        have = ", ".join(spec.folds)
        return (
            f"spec {spec.key} has walk_forward.n_blocks = {spec.walk_forward.n_blocks}, so its folds are {have}; "
            f"there is no {fold}"
        )
    return (
        f"spec {spec.key} has no {asset}: its `mlflow` section is absent, so nothing is registered"
    )
