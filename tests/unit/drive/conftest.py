"""A small world to plan in: an event log, an artifact store and a launcher that are dictionaries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from alphaswarm_assets.drive.cells import cells_of
from alphaswarm_assets.drive.plan import Planned, Stores, next_cells
from alphaswarm_assets.ports import CellResult, LaunchRequest, Pin
from alphaswarm_assets.records.canonical import digest_json
from alphaswarm_assets.specs.loading import validate_spec
from alphaswarm_assets.specs.research import ResearchSpec


def spec_of(n_blocks: int = 3, **sections: Any) -> ResearchSpec:
    """Return a spec with *n_blocks* blocks, a registered model and a paper session."""
    raw = {
        "name": "study",
        "walk_forward": {"n_blocks": n_blocks},
        "training": {"seed": 1, "total_timesteps": 10},
        "promotion": {"min_sharpe": 0.5},
        "mlflow": {"register_model_as": "m"},
        "paper": {},
    }
    return validate_spec(raw | sections, source="test")


@dataclass
class World:
    """What was materialised, and what decides whether it is current."""

    spec: ResearchSpec
    pins: dict[tuple[str, str | None], Pin] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    looked_at: list[str] = field(default_factory=list)
    decision: str = "PASS"
    fingerprint: str = "bars-1"
    code: dict[str, str] = field(default_factory=dict)

    def latest(self, asset: str, partition: str | None) -> Pin | None:
        return self.pins.get((asset, partition))

    def attempts(self, memo_key: str) -> int:
        return 0

    def running(self, memo_key: str) -> bool:
        return False

    def holds(self, digest: str) -> bool:
        self.looked_at.append(digest)
        return digest not in self.lost

    def stores(self) -> Stores:
        """Return what planning reads, as a new process would open it."""
        return Stores(
            events=self,
            holds=self.holds,
            decision=lambda _: self.decision,
            fingerprint=lambda _: self.fingerprint,
            code_version=lambda asset: self.code.get(asset, "code-1"),
        )

    def plan(self, **options: Any) -> dict[str, Planned]:
        return {p.cell.name: p for p in next_cells(self.spec, self.stores(), **options)}

    def states(self, **options: Any) -> dict[str, str]:
        """Return the state of every cell, by asset and fold: ``trained_checkpoint[f0]``."""
        return {self.short(p): p.state for p in self.plan(**options).values()}

    @staticmethod
    def short(planned: Planned) -> str:
        fold = planned.cell.partition.split("|")[0]
        return (
            f"{planned.cell.asset}[{fold}]" if planned.cell.axis == "fold" else planned.cell.asset
        )

    def materialise(
        self, asset: str, partition: str | None, memo_key: str, content: object = None
    ) -> Pin:
        """Record a materialisation whose content is *content*, or follows from the memo key alone."""
        pin = Pin(
            asset=asset,
            partition=partition,
            storage_id=len(self.pins),
            run_id=f"run-{len(self.pins)}",
            data_version=f"sha256:{digest_json([asset, partition, content or memo_key])}",
            code_version=self.code.get(asset, "code-1"),
            memo_key=memo_key,
        )
        self.pins[asset, partition] = pin
        return pin

    def make_ready(self) -> list[str]:
        """Make every cell that is ready now, once, and return their names."""
        ready = [p for p in self.plan().values() if p.state == "ready"]
        for planned in ready:
            assert planned.memo_key is not None
            self.materialise(planned.cell.asset, planned.cell.partition, planned.memo_key)
        return [self.short(planned) for planned in ready]

    def make_all(self) -> None:
        while self.make_ready():
            pass


@dataclass
class Bench:
    """A launcher that materialises in the world, or ends as its script says."""

    world: World
    script: dict[str, Iterator[CellResult | str]] = field(default_factory=dict)
    requests: list[LaunchRequest] = field(default_factory=list)

    def will(self, asset: str, fold: str | None, *results: CellResult | str) -> None:
        """Let the next launches of a cell end in *results*; the word ``made`` means as usual."""
        cell = next(
            c
            for c in cells_of(self.world.spec)
            if c.asset == asset and (fold is None or c.partition.startswith(fold))
        )
        self.script[cell.name] = iter(results)

    def reconcile(self) -> Sequence[str]:
        return ()

    def register_partition(self, axis: str, key: str) -> None:
        pass

    def make(self, request: LaunchRequest) -> CellResult:
        self.requests.append(request)
        result = next(self.script.get(f"{request.asset}[{request.partition}]", iter(())), "made")
        if isinstance(result, CellResult):
            return result
        if result == "made":
            self.world.materialise(request.asset, request.partition, request.memo_key)
        return CellResult(status="made", run_id="r")

    @property
    def made(self) -> list[str]:
        """Asset and fold of every request, in order."""
        return [
            f"{r.asset}[{r.partition.split('|')[0]}]"
            if r.partition and "|" in r.partition
            else r.asset
            for r in self.requests
        ]


@pytest.fixture
def world() -> World:
    return World(spec_of())


@pytest.fixture
def bench(world: World) -> Bench:
    return Bench(world)
