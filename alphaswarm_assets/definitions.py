"""The composition root: the one place where ports meet adapters, and the one reader of the environment."""

import os
import subprocess
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property
from pathlib import Path

import dagster as dg

from alphaswarm_assets import __version__
from alphaswarm_assets.defs import automation, collect, learn, measure, promote, rehearse
from alphaswarm_assets.defs.json_io import JsonHandOff
from alphaswarm_assets.drive.code import code_version, code_version_now
from alphaswarm_assets.drive.loop import DriveEvent, DriveReport, drive
from alphaswarm_assets.drive.plan import Planned, Stores, next_cells
from alphaswarm_assets.drive.verdicts import VerdictView, verdict_of
from alphaswarm_assets.errors import MarketDataError, MissingArtifactError, StaleArtifactError
from alphaswarm_assets.markets.tables import table_pin
from alphaswarm_assets.ports import BarSource, Clock, EventLog, HaltSwitch
from alphaswarm_assets.records.manifest import newest
from alphaswarm_assets.runtime.registering import identity_of
from alphaswarm_assets.runtime.rl_runtime import RLRuntime
from alphaswarm_assets.runtime.workbench import Workbench
from alphaswarm_assets.specs.registry import SpecRegistry
from alphaswarm_assets.specs.research import ResearchSpec
from alphaswarm_assets.specs.support import require_supported
from alphaswarm_resources.artifacts_fs import FileArtifacts
from alphaswarm_resources.bars_bokeh import WikiFiveStocks
from alphaswarm_resources.bars_csv import CsvBars
from alphaswarm_resources.clock_system import SystemClock
from alphaswarm_resources.device_cpu import CpuDevice
from alphaswarm_resources.eventlog_dagster import DagsterEventLog, open_instance
from alphaswarm_resources.halt_file import FileHaltSwitch
from alphaswarm_resources.halt_redis import RedisHaltSwitch
from alphaswarm_resources.lake_iceberg import IcebergLake
from alphaswarm_resources.launcher_dagster import DagsterLauncher, Location
from alphaswarm_resources.ledger_jsonl import JsonlLedger
from alphaswarm_resources.locks_fs import FileLocks
from alphaswarm_resources.progress_fs import FileProgressBoard
from alphaswarm_resources.registry_mlflow import MlflowRegistry
from alphaswarm_resources.registry_mlflow import environment as registry_environment
from alphaswarm_resources.stores import Home, create_stores

STAGES = (collect, learn, measure, promote, rehearse)


@dataclass(frozen=True, kw_only=True)
class House:
    """Every store of one home folder, behind its port."""

    home: Path
    redis_url: str | None = field(default=None, repr=False)
    tracking_uri: str | None = field(default=None, repr=False)

    @cached_property
    def places(self) -> Home:
        """Where each store is."""
        return Home(self.home)

    @cached_property
    def artifacts(self) -> FileArtifacts:
        """Content-addressed artifacts."""
        return FileArtifacts(self.places.artifacts)

    @cached_property
    def lake(self) -> IcebergLake:
        """Tables with snapshots."""
        return IcebergLake(self.places.lake)

    @cached_property
    def specs(self) -> SpecRegistry:
        """Registered specs."""
        return SpecRegistry(self._ledger("specs"))

    @cached_property
    def runs(self) -> JsonlLedger:
        """One row a finished run."""
        return self._ledger("runs")

    @cached_property
    def promotions(self) -> JsonlLedger:
        """One row a verdict or registration."""
        return self._ledger("promotions")

    @cached_property
    def requests(self) -> JsonlLedger:
        """Studies asked for in the UI, and how each ended."""
        return self._ledger("requests")

    @cached_property
    def halts(self) -> HaltSwitch:
        """The brake: a folder, or Redis where a URL is set."""
        if self.redis_url is not None:
            return RedisHaltSwitch(self.redis_url)
        return FileHaltSwitch(self.places.halt)

    @cached_property
    def locks(self) -> FileLocks:
        """Locks between processes."""
        return FileLocks(self.places.locks)

    @cached_property
    def progress(self) -> FileProgressBoard:
        """How far long steps are."""
        return FileProgressBoard(self.places.progress)

    @cached_property
    def registry(self) -> MlflowRegistry:
        """Experiments and registered models."""
        uri = self.tracking_uri or self.places.mlflow_uri
        return MlflowRegistry(uri, self.places.mlflow_artifacts)

    @cached_property
    def clock(self) -> Clock:
        """The only source of time."""
        return SystemClock()

    @cached_property
    def device(self) -> CpuDevice:
        """What computes."""
        return CpuDevice()

    @property
    def sources(self) -> Mapping[str, BarSource]:
        """Bar sources by name: the demo set, and every CSV file in the folder ``bars`` of the home."""
        demo = WikiFiveStocks()
        own = sorted((self.home / "bars").glob("*.csv"))
        return {demo.name: demo} | {path.stem: CsvBars(path.stem, path) for path in own}

    @cached_property
    def runtime(self) -> RLRuntime:
        """The one executor."""
        bench = Workbench(
            artifacts=self.artifacts,
            runs=self.runs,
            promotions=self.promotions,
            halts=self.halts,
            registry=self.registry,
            progress=self.progress,
            device=self.device,
            clock=self.clock,
        )
        return RLRuntime(
            bench=bench,
            source_version=source_version(),
            code_version=code_version,
            code_version_now=code_version_now,
        )

    @cached_property
    def instance(self) -> dg.DagsterInstance:
        """The orchestrator's instance of this home; `initialise` must have made it."""
        return open_instance(self.places.dagster)

    def initialise(self) -> bool:
        """Create every store that is missing, once, under a lock; return whether the home was new."""
        new = not self.places.marker.exists()
        create_stores(self.home, gpu_slots=self.device.info().n_parallel)
        if self.tracking_uri is not None:
            with self.locks.hold("registry", wait_s=60.0):
                self.registry.create()
        return new

    def event_log(self) -> EventLog:
        """Return what was materialised here."""
        return DagsterEventLog(self.instance)

    def stores(self, events: EventLog) -> Stores:
        """Return what planning reads."""
        return Stores(
            events=events,
            holds=self._holds,
            decision=lambda digest: str(self.artifacts.manifest(digest).facts["decision"]),
            fingerprint=lambda name: self._source(name).fingerprint(),
            code_version=code_version,
            lapsed=self._lapsed,
        )

    def plan(self, spec: ResearchSpec) -> tuple[Planned, ...]:
        """Return every cell of *spec* and whether it is current."""
        return next_cells(spec, self.stores(self.event_log()))

    def verdict(self, key: str) -> VerdictView | None:
        """Return the latest verdict on the spec registered under *key*, None if it was never judged."""
        return verdict_of(self.specs.get(key), self.event_log(), self.artifacts)

    def run(
        self,
        spec: ResearchSpec,
        *,
        folds: Collection[str] | None = None,
        parallel: bool = False,
        watch: Callable[[DriveEvent], None],
    ) -> DriveReport:
        """Drive *spec*: lock it, clear what dead processes left, and make every cell that is not current."""
        require_supported(spec)
        self._source(spec.dataset.source)
        self.initialise()
        with self.locks.hold(f"spec-{spec.key}"):
            self.specs.register(spec)
            launcher = self.launcher()
            launcher.reconcile()
            launcher.register_partition("spec", spec.key)
            launcher.register_partition("source", spec.dataset.source)
            self.progress.clear(f"{spec.key}/")
            return drive(
                spec,
                self.stores(self.event_log()),
                launcher,
                watch=watch,
                folds=folds,
                parallel=parallel,
            )

    def launcher(self) -> DagsterLauncher:
        """Return what makes cells through the location's own job."""
        return DagsterLauncher(
            self.instance,
            lambda: definitions_of(self).resolve_implicit_global_asset_job_def(),
            Location(__name__, "defs"),
            n_parallel=self.device.info().n_parallel,
        )

    def child_environment(self) -> dict[str, str]:
        """Return the environment of Dagster's own processes over this home."""
        return {**os.environ, **home_variables(self.home)}

    def workspace_arguments(self) -> list[str]:
        """Return how Dagster's commands find this code location."""
        return ["-m", __name__, "-a", "defs"]

    def _ledger(self, name: str) -> JsonlLedger:
        return JsonlLedger(self.places.ledgers / f"{name}.jsonl")

    def _source(self, name: str) -> BarSource:
        sources = self.sources
        if name not in sources:
            raise MarketDataError(
                f"dataset.source: there is no bar source {name!r}; there are {', '.join(sorted(sources))}. "
                f"To add one, put {name}.csv into {self.home / 'bars'}."
            )
        return sources[name]

    def _holds(self, digest: str) -> bool:
        """Whether the artifact and what it stands for are there: a table's rows, a checkpoint's policies, a version."""
        if not self.artifacts.holds(digest):
            return False
        content = self.artifacts.manifest(digest)
        if content.kind == "table":
            return self._holds_rows(digest)
        if content.kind == "registration":
            model = str(content.facts["model"])
            return self.registry.holds(model, identity=identity_of(content.facts))
        policies = [d for role, d in content.inputs.items() if role.startswith("policy[")]
        return all(self.artifacts.holds(policy) for policy in policies)

    def _lapsed(self, pack: str) -> bool:
        expiry = newest(self.artifacts.envelopes(pack)).get("approval_expiry")
        return isinstance(expiry, str) and self.clock.now() >= datetime.fromisoformat(expiry)

    def _holds_rows(self, digest: str) -> bool:
        try:
            pin, source = table_pin(self.artifacts, digest)
            self.lake.read(pin, source=source)
        except (MissingArtifactError, StaleArtifactError):
            return False
        return True


def compose(home: Path | None = None) -> House:
    """Return the house over *home*, by default ``ALPHASWARM_HOME`` or ``.alphaswarm`` in the working directory.

    The environment of this process is pointed at that home, so that the step processes it starts find it.
    """
    chosen = home or Path(os.environ.get("ALPHASWARM_HOME", ".alphaswarm"))
    house = House(
        home=chosen.absolute(),
        redis_url=os.environ.get("ALPHASWARM_REDIS_URL"),
        tracking_uri=os.environ.get("MLFLOW_TRACKING_URI"),
    )
    os.environ.update(home_variables(house.home))
    return house


def home_variables(home: Path) -> dict[str, str]:
    """Return the environment variables that point Dagster, MLflow and this project at *home*."""
    return {
        "ALPHASWARM_HOME": str(home),
        "DAGSTER_HOME": str(home / "dagster"),
        **registry_environment(),
    }


def definitions_of(house: House) -> dg.Definitions:
    """Return the graph over the stores of *house*."""
    return dg.Definitions(
        assets=dg.load_assets_from_modules(list(STAGES)),
        jobs=[
            automation.research,
            automation.make_sources,
            automation.make_folds,
            automation.make_specs,
        ],
        sensors=[automation.advance],
        executor=automation.EXECUTOR,
        resources={
            "runtime": house.runtime,
            "specs": house.specs,
            "sources": house.sources,
            "lake": house.lake,
            "requests": house.requests,
            "stores_of": lambda instance: house.stores(DagsterEventLog(instance)),
            "locks": house.locks,
            "reconcile": lambda: house.launcher().reconcile(),
            "io_manager": JsonHandOff(house.home / "handoff"),
        },
    )


@cache
def source_version() -> str:
    """Return the commit of the checkout this package runs from, marked when it has changes, else its version."""
    package = Path(__file__).parent
    version = __version__
    if not (package.parent / ".git").exists():
        return version
    git = ["git", "-C", str(package)]
    try:
        commit = _answer([*git, "rev-parse", "HEAD"])
        changes = _answer([*git, "status", "--porcelain", "--untracked-files=no"])
    except (OSError, subprocess.CalledProcessError):
        return version
    return commit + ("+changes" if changes else "")


def _answer(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 -- fixed words
    return done.stdout.strip()


@dg.definitions
def defs() -> dg.Definitions:
    """Return the graph over the home that the environment names."""
    return definitions_of(compose())
