"""Explicit lineage: which materialisation of every parent a cell is made from, and whether that one still holds.

Dagster's own input pointers name the latest event of any partition, so every asset resolves its parents here, first
thing, and loads them by digest.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import dagster as dg

from alphaswarm_assets.drive.cells import Cell, cells_of, split_partition
from alphaswarm_assets.drive.code import code_version
from alphaswarm_assets.drive.memo import memo_key
from alphaswarm_assets.errors import InvalidInputError, MissingArtifactError, StaleArtifactError
from alphaswarm_assets.ports import Artifacts, EventLog, Pin
from alphaswarm_assets.specs.registry import SpecRegistry
from alphaswarm_assets.specs.research import ResearchSpec


class EventLogs(Protocol):
    """Opens the event log of an instance."""

    def of(self, instance: dg.DagsterInstance) -> EventLog:
        """Return the event log of *instance*."""
        ...


@dataclass(frozen=True, kw_only=True)
class Making:
    """One cell about to be made: its spec, its place, and its parents, pinned."""

    spec: ResearchSpec
    cell: Cell
    fold: str | None
    parents: Mapping[str, Pin | None]
    """By role: the parent's asset, with its fold in brackets where there are several."""

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
    events: EventLog,
    specs: SpecRegistry,
    artifacts: Artifacts,
    tolerate_stale: bool = False,
) -> Making:
    """Return the cell (*asset*, *partition*) with every parent pinned and, unless tolerated, found fresh.

    Raises
    ------
    InvalidInputError
        If the spec has no such cell: a fold beyond its blocks, a model it does not register.
    MissingArtifactError
        If a parent was never made and the cell cannot do without.
    StaleArtifactError
        If a parent was made from something that has been remade since.
    """
    fold, key = split_partition(partition)
    spec = specs.get(key)
    cell = next((c for c in cells_of(spec) if (c.asset, c.partition) == (asset, partition)), None)
    if cell is None:
        raise InvalidInputError(_no_such_cell(spec, asset, fold))
    parents: dict[str, Pin | None] = {}
    for parent in cell.parents:
        pin = events.latest(parent.asset, parent.partition)
        if pin is None and not cell.optional_parents:
            raise MissingArtifactError(
                f"{cell.name} needs {parent.name}, which was never made. Run `alphaswarm run {key}`, or "
                f"materialise {parent.asset!r} for partition {parent.partition!r} first."
            )
        parents[role_of(parent, cell)] = pin
        if pin is not None and not tolerate_stale:
            _require_fresh(parent, pin, events, artifacts, key)
    return Making(spec=spec, cell=cell, fold=fold, parents=parents)


def role_of(parent: Cell, child: Cell) -> str:
    """Return the role *parent* plays for *child*: its asset, with its fold in brackets in a fan-in over folds."""
    if not child.optional_parents:
        return parent.asset
    return f"{parent.asset}[{parent.partition.split('|')[0]}]"


def stale_inputs(parent: Cell, pin: Pin, events: EventLog, artifacts: Artifacts) -> list[str]:
    """Return a sentence for each thing *parent* was made from that has been remade, as something else, since."""
    recorded = artifacts.manifest(pin.digest).inputs
    findings: list[str] = []
    for grand in parent.parents:
        latest = events.latest(grand.asset, grand.partition)
        role = role_of(grand, parent)
        now = latest.digest if latest is not None else None
        if recorded.get(role) != now:
            was, is_now = (d[:12] if d else "missing" for d in (recorded.get(role), now))
            findings.append(
                f"{parent.name} was made from {grand.name} {was}, which is {is_now} now"
            )
    return findings


def _require_fresh(
    parent: Cell, pin: Pin, events: EventLog, artifacts: Artifacts, key: str
) -> None:
    findings = stale_inputs(parent, pin, events, artifacts)
    if findings:
        raise StaleArtifactError(
            f"{'; '.join(findings)}. Run `alphaswarm run {key}`: it remakes what is stale."
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
