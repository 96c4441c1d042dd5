"""How a home stands: the content of every cell, and everything that must not be left behind."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from alphaswarm_assets.definitions import House
from alphaswarm_assets.specs.research import ResearchSpec
from alphaswarm_resources.artifacts_fs import FileArtifacts
from alphaswarm_resources.ledger_jsonl import JsonlLedger
from alphaswarm_resources.stores import MLFLOW_DATABASE
from tests.faults.homes import opened

UNFINISHED = [
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What is to be the same however often a run was stopped."""

    digests: dict[str, str | None]
    """Content digest by cell, of its latest materialisation."""
    states: dict[str, str]
    """State by cell, as the plan has it."""
    unfinished_runs: int
    held_slots: int
    model_versions: int
    registered_rows: int
    """Rows of the ledger of promotions that tell of a registration."""
    running_mlflow_runs: int
    damaged: int
    """Artifacts that were found damaged and set aside, and artifacts that do not verify now."""
    leftovers: int
    """Files that somebody was still writing."""

    @property
    def is_settled(self) -> bool:
        """Whether every cell is current and its content there, once, and nothing is left behind."""
        left = (
            self.unfinished_runs,
            self.held_slots,
            self.running_mlflow_runs,
            self.damaged,
            self.leftovers,
        )
        once = (self.model_versions, self.registered_rows)
        return (
            set(self.states.values()) == {"current"}
            and None not in self.digests.values()
            and left == (0, 0, 0, 0, 0)
            and once == (1, 1)
        )


def standing_of(home: Path, spec: ResearchSpec) -> Standing:
    """Look at everything *home* holds; every ledger and every artifact is verified."""
    with opened(home) as house:
        plan = house.plan(spec)
        require_whole(home)
        return Standing(
            digests=digests_of(house, spec),
            states={p.cell.name: p.state for p in plan},
            unfinished_runs=house.instance.get_runs_count(dg.RunsFilter(statuses=UNFINISHED)),
            held_slots=held_slots(house),
            model_versions=registered(home),
            registered_rows=sum(
                row.body["event"] == "registered" for row in house.promotions.rows()
            ),
            running_mlflow_runs=_count(home, "runs WHERE status = 'RUNNING'"),
            damaged=len(list((house.places.artifacts / "set-aside").glob("*"))),
            leftovers=sum(path.is_file() for path in home.glob("**/tmp/**/*")),
        )


def digests_of(house: House, spec: ResearchSpec) -> dict[str, str | None]:
    """Return the content digest of the latest materialisation of every cell."""
    events = house.event_log()
    pins = {p.cell.name: events.latest(p.cell.asset, p.cell.partition) for p in house.plan(spec)}
    return {name: pin.digest if pin else None for name, pin in pins.items()}


def held_slots(house: House) -> int:
    """Return how many slots of the pool ``gpu`` are held or waited for."""
    pool = house.instance.event_log_storage.get_concurrency_info("gpu")
    return pool.active_slot_count + pool.pending_step_count + len(pool.claimed_slots)


def require_whole(home: Path) -> int:
    """Read every artifact and every ledger of *home* with its digests; return how many artifacts there are."""
    store = FileArtifacts(home / "artifacts")
    digests = [path.name for path in (home / "artifacts" / "objects").glob("??/*")]
    for digest in digests:
        assert store.get(digest).digest == digest
        store.envelopes(digest)
    for path in (home / "ledgers").glob("*.jsonl"):
        JsonlLedger(path).rows()
    return len(digests)


def registered(home: Path) -> int:
    """Return how many model versions the registry of *home* holds."""
    return _count(home, "model_versions")


def _count(home: Path, question: str) -> int:
    # Not through MLflow, which keeps a connection to a database that a test has long put back.
    database = home / "mlflow" / MLFLOW_DATABASE
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {question}").fetchone()[0])  # noqa: S608
