"""The folder everything lives in, made once: two processes that first touch a store at once would break it for good."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from alphaswarm_assets.errors import StoreError
from alphaswarm_assets.records.canonical import pretty_json
from alphaswarm_resources.durable import (
    Scratch,
    make_folder,
    storing,
    sync_folder,
    what_to_do,
    write_new,
)
from alphaswarm_resources.lake_iceberg import IcebergLake
from alphaswarm_resources.locks_fs import FileLocks
from alphaswarm_resources.registry_mlflow import MlflowRegistry

SCHEMA = 1
"""Changes whenever an older home needs to be brought up to date."""

GPU_POOL = "gpu"
"""Dagster pool that limits how many training steps compute at the same time."""

DAGSTER_DATABASE, LAKE_DATABASE, MLFLOW_DATABASE = "history", "catalog.db", "mlflow.db"
"""What is there in the folder of a store once it was made, and is gone when somebody deleted it."""


@dataclass(frozen=True, slots=True)
class Home:
    """Where each store is, under one folder."""

    root: Path

    @property
    def dagster(self) -> Path:
        """Home of the Dagster instance."""
        return self.root / "dagster"

    @property
    def artifacts(self) -> Path:
        """Folder of `FileArtifacts`."""
        return self.root / "artifacts"

    @property
    def lake(self) -> Path:
        """Folder of `IcebergLake`."""
        return self.root / "lake"

    @property
    def mlflow(self) -> Path:
        """Folder of the MLflow database and its files."""
        return self.root / "mlflow"

    @property
    def mlflow_uri(self) -> str:
        """Tracking URI of MLflow."""
        return f"sqlite:///{self.mlflow.resolve() / MLFLOW_DATABASE}"

    @property
    def mlflow_artifacts(self) -> Path:
        """Root of the files of MLflow."""
        return self.mlflow / "artifacts"

    @property
    def ledgers(self) -> Path:
        """Folder of the ledgers."""
        return self.root / "ledgers"

    @property
    def locks(self) -> Path:
        """Folder of `FileLocks`."""
        return self.root / "locks"

    @property
    def halt(self) -> Path:
        """Folder of `FileHaltSwitch`."""
        return self.root / "halt"

    @property
    def progress(self) -> Path:
        """Folder of `FileProgressBoard`."""
        return self.root / "progress"

    @property
    def marker(self) -> Path:
        """File that says the stores are ready; written last."""
        return self.root / "ready.json"


def create_stores(root: Path, *, gpu_slots: int) -> Home:
    """Make every store under *root* that is missing and return where they are.

    Any number of processes may call it at once, and call it again: what is there is left as it is. A store whose
    making was cut short is made anew; nothing can have been in it.

    Parameters
    ----------
    root : Path
        Folder of the project's results, ``.alphaswarm``.
    gpu_slots : int
        Steps of the pool ``gpu`` that may run at the same time, `DeviceInfo.n_parallel`.

    Raises
    ------
    BusyError
        If another process has been making them for ten minutes.
    StoreError
        If they cannot be made.
    """
    home = Home(root.resolve())
    if not _is_ready(home, gpu_slots):
        _create_alone(home, gpu_slots)
    return home


def _is_ready(home: Home, gpu_slots: int) -> bool:
    try:
        ready = home.marker.read_bytes() == _marker(gpu_slots)
    except OSError:
        return False
    folders = (home.artifacts, home.ledgers, home.progress)
    databases = (
        home.dagster / DAGSTER_DATABASE,
        home.lake / LAKE_DATABASE,
        home.mlflow / MLFLOW_DATABASE,
    )
    return (
        ready
        and all(folder.is_dir() for folder in folders)
        and all(database.exists() for database in databases)
    )


def _create_alone(home: Home, gpu_slots: int) -> None:
    from sqlalchemy.exc import SQLAlchemyError

    with storing("home folder", home.root), FileLocks(home.locks).hold("init", wait_s=600.0):
        # Whoever held the lock before may have made them.
        if not _is_ready(home, gpu_slots):
            try:
                _create(home, gpu_slots)
            except SQLAlchemyError as error:
                raise StoreError(what_to_do("home folder", home.root, error)) from error


def _create(home: Home, gpu_slots: int) -> None:
    for folder in (home.artifacts, home.ledgers, home.progress):
        make_folder(folder)
    if not home.marker.exists():
        # Never again: an empty folder in place of a lost one would let go whatever was halted.
        make_folder(home.halt)
    registry = MlflowRegistry(home.mlflow_uri, home.mlflow_artifacts)
    _make_once(home.dagster, DAGSTER_DATABASE, lambda: _create_dagster(home.dagster))
    _make_once(home.lake, LAKE_DATABASE, IcebergLake(home.lake).create)
    _make_once(home.mlflow, MLFLOW_DATABASE, registry.create)
    _set_pool(home.dagster, gpu_slots)
    Scratch(home.root / "tmp").replace(home.marker, _marker(gpu_slots))


def _make_once(folder: Path, database: str, create: Callable[[], None]) -> None:
    """Make a store beside a note that it is being made: a database found with that note was never used."""
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    make_folder(folder)
    if unfinished.exists():
        _empty(folder)
    elif not (folder / database).exists():
        write_new(unfinished, b"")
        sync_folder(folder.parent)
    create()
    unfinished.unlink(missing_ok=True)


def _empty(folder: Path) -> None:
    # Settings may be somebody's own; a half-made database is nobody's.
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.suffix != ".yaml":
            path.unlink()


def _create_dagster(folder: Path) -> None:
    import dagster as dg

    settings = folder / "dagster.yaml"
    if not settings.exists():
        template = resources.files("alphaswarm_resources").joinpath("dagster.yaml")
        write_new(settings, template.read_bytes())
    with dg.DagsterInstance.from_config(str(folder)) as instance:
        # Each storage makes its database on first use.
        instance.get_runs_count()
        instance.event_log_storage.get_concurrency_keys()
        if instance.schedule_storage is not None:
            instance.schedule_storage.all_instigator_state()


def _set_pool(folder: Path, gpu_slots: int) -> None:
    import dagster as dg

    with dg.DagsterInstance.from_config(str(folder)) as instance:
        instance.event_log_storage.set_concurrency_slots(GPU_POOL, gpu_slots)


def _marker(gpu_slots: int) -> bytes:
    return pretty_json({"schema": SCHEMA, "gpu_slots": gpu_slots}).encode()
