"""A house small enough for a test: the real drive, registry, switch and board, and a scripted orchestrator."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from typer.testing import CliRunner, Result

from alphaswarm_assets.cli import app
from alphaswarm_assets.drive.loop import DriveEvent, DriveReport, drive
from alphaswarm_assets.drive.plan import Planned, Stores, next_cells
from alphaswarm_assets.drive.verdicts import VerdictView
from alphaswarm_assets.ports import (
    BarSource,
    CellResult,
    EventLog,
    Launcher,
    LaunchRequest,
    Pin,
)
from alphaswarm_assets.records.canonical import digest_json
from alphaswarm_assets.specs.registry import SpecRegistry
from alphaswarm_assets.specs.research import ResearchSpec
from alphaswarm_resources.clock_system import SystemClock
from alphaswarm_resources.halt_file import FileHaltSwitch
from alphaswarm_resources.ledger_jsonl import JsonlLedger
from alphaswarm_resources.progress_fs import FileProgressBoard

SPEC = """
name: momentum
description: Does a small network beat equal weights?
training: {seed: 7, total_timesteps: 1000, n_envs: 4, n_steps: 16, batch_size: 64}
walk_forward: {n_blocks: 3}
evaluation: {seed_list: [1, 2]}
promotion: {min_sharpe: 0.5}
mlflow: {register_model_as: momentum}
"""

OUTCOME = MappingProxyType(
    {
        "check": "min_sharpe",
        "observed": 0.31,
        "comparator": ">=",
        "threshold": 0.5,
        "status": "threshold_failed",
        "passed": False,
        "reason": "sharpe was 0.31",
        "unit": "annual",
    }
)


def a_verdict(key: str, decision: str = "REJECT") -> VerdictView:
    passed = decision == "PASS"
    outcome = dict(OUTCOME) | (
        {"observed": 0.9, "status": "pass", "passed": True, "reason": None} if passed else {}
    )
    return VerdictView(
        key=key,
        decision=decision,
        outcomes=[outcome],
        reasons=[] if passed else ["min_sharpe: threshold_failed (needs sharpe >= 0.5, was 0.31)"],
        digest="d" * 64,
        current=True,
        metrics={
            "ensemble": {"total_return": 0.1234, "sharpe": 0.31},
            "equal_weight": {"total_return": 0.2, "sharpe": 0.8},
            "do_nothing": {"total_return": 0.0, "sharpe": None},
        },
        pack=None,
    )


@dataclass
class ScriptedOrchestrator(EventLog, Launcher):
    """Makes every cell at once, as its script says."""

    pins: dict[tuple[str, str | None], Pin] = field(default_factory=dict)
    fails: dict[str, str] = field(default_factory=dict)
    interrupts: set[str] = field(default_factory=set)
    raises: dict[str, BaseException] = field(default_factory=dict)
    on_make: Callable[[LaunchRequest], object] = id
    under_way: set[str] = field(default_factory=set)

    def latest(self, asset: str, partition: str | None) -> Pin | None:
        return self.pins.get((asset, partition))

    def attempts(self, memo_key: str) -> int:
        return 0

    def running(self, memo_key: str) -> bool:
        return memo_key in self.under_way

    def reconcile(self) -> Sequence[str]:
        return ()

    def register_partition(self, axis: str, key: str) -> None:
        return

    def make(self, request: LaunchRequest) -> CellResult:
        run_id = f"run-{len(self.pins):04d}-0000"
        name = f"{request.asset}[{request.partition}]"
        short = (
            f"{request.asset}[{(request.partition or '').split('|')[0]}]"
            if "|" in name
            else request.asset
        )
        if short in self.raises:
            raise self.raises[short]
        if short in self.fails:
            return CellResult(status="failed", run_id=run_id, error=self.fails[short])
        if short in self.interrupts:
            return CellResult(status="interrupted", run_id=run_id)
        self.on_make(request)
        digest = digest_json([request.asset, request.memo_key])
        self.pins[request.asset, request.partition] = Pin(
            asset=request.asset,
            partition=request.partition,
            storage_id=len(self.pins),
            run_id=run_id,
            data_version=f"sha256:{digest}",
            code_version="c" * 16,
            memo_key=request.memo_key,
        )
        return CellResult(status="made", run_id=run_id)


class SmallHouse:
    """What the commands ask of the composition root, without an orchestrator."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.clock = SystemClock()
        self.orchestrator = ScriptedOrchestrator()
        self.decision = "REJECT"
        self.sources: Mapping[str, BarSource] = {}

    @property
    def specs(self) -> SpecRegistry:
        return SpecRegistry(JsonlLedger(self.home / "ledgers" / "specs.jsonl"))

    @property
    def halts(self) -> FileHaltSwitch:
        return FileHaltSwitch(self.home / "halt")

    @property
    def progress(self) -> FileProgressBoard:
        return FileProgressBoard(self.home / "progress")

    def initialise(self) -> bool:
        created = not (self.home / "halt").is_dir()
        for name in ("ledgers", "halt", "progress"):
            (self.home / name).mkdir(parents=True, exist_ok=True)
        return created

    def run(
        self,
        spec: ResearchSpec,
        *,
        folds: Collection[str] | None,
        parallel: bool,
        watch: Callable[[DriveEvent], None],
    ) -> DriveReport:
        if "run" in self.orchestrator.raises:
            raise self.orchestrator.raises["run"]
        self.specs.register(spec)
        return drive(
            spec, self._stores(), self.orchestrator, watch=watch, folds=folds, parallel=parallel
        )

    def plan(self, spec: ResearchSpec) -> tuple[Planned, ...]:
        return next_cells(spec, self._stores())

    def verdict(self, key: str) -> VerdictView | None:
        judged = self.orchestrator.latest("promotion_verdict", key)
        return a_verdict(key, self.decision) if judged is not None else None

    def event_log(self) -> EventLog:
        return self.orchestrator

    def child_environment(self) -> dict[str, str]:
        return {}

    def workspace_arguments(self) -> list[str]:
        return []

    def _stores(self) -> Stores:
        return Stores(
            events=self.orchestrator,
            holds=lambda _: True,
            decision=lambda _: self.decision,
            fingerprint=lambda _: "f" * 64,
            code_version=lambda _: "c" * 16,
        )


class CommandLine:
    """The command line over one small house."""

    def __init__(self, house: SmallHouse) -> None:
        self.house = house
        self.composed = 0

    def __call__(self, *arguments: str) -> Result:
        def compose(home: Path | None) -> SmallHouse:
            assert home == self.house.home
            self.composed += 1
            return self.house

        return CliRunner().invoke(app, ["--home", str(self.house.home), *arguments], obj=compose)
