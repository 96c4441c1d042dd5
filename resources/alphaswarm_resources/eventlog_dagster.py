"""Dagster's event log, read as pins: what was materialised, and what was tried."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
from sqlalchemy.exc import SQLAlchemyError

from alphaswarm_assets.errors import StoreError
from alphaswarm_assets.ports import EventLog, Pin
from alphaswarm_resources.durable import what_to_do

STORAGE = "storage of Dagster"
"""What the store is called in messages."""

MEMO_KEY_TAG = "alphaswarm/memo_key"
"""Run tag that says which memo key a run was started for."""

MEMO_KEY_METADATA = "memo_key"
"""Metadata entry that says which memo key a materialisation answers."""

UNFINISHED = (
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
)
"""States of a run that is under way or may still get there."""

_LOOK_BACK = 20
"""Materialisations looked through for the latest that names an artifact."""

_UNSUCCESSFUL = (dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)


def open_instance(folder: Path) -> dg.DagsterInstance:
    """Open the instance in *folder*, made by `create_stores`.

    Raises
    ------
    StoreError
        If its storage cannot be opened.
    """
    with using_storage(folder):
        return dg.DagsterInstance.from_config(str(folder))


@contextmanager
def using_storage(folder: Path) -> Generator[None]:
    """Say what to do when Dagster's storage in *folder* fails the work inside.

    Raises
    ------
    StoreError
        In place of an error of the disk or of the database.
    """
    try:
        yield
    except StoreError:
        raise
    except (OSError, SQLAlchemyError) as error:
        raise StoreError(what_to_do(STORAGE, folder, error)) from error


class DagsterEventLog(EventLog):
    """The event log of one Dagster instance."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        """Read the log of *instance*."""
        self._instance = instance
        self._folder = Path(instance.root_directory)

    def latest(self, asset: str, partition: str | None) -> Pin | None:
        """Return the latest materialisation of (*asset*, *partition*); *asset* is a key as the UI shows it, ``a/b``.

        Raises
        ------
        StoreError
            If the log cannot be read.
        """
        wanted = dg.AssetRecordsFilter(
            asset_key=dg.AssetKey.from_user_string(asset),
            asset_partitions=None if partition is None else [partition],
        )
        with using_storage(self._folder):
            records = self._instance.fetch_materializations(wanted, limit=_LOOK_BACK).records
        pins = (_pin(asset, record) for record in records)
        # Somebody may report a materialisation by hand: it has no data version, and answers nothing.
        return next((pin for pin in pins if pin.data_version), None)

    def attempts(self, memo_key: str) -> int:
        """Return how many runs were started for *memo_key* and did not succeed: they failed or were cancelled."""
        return self._count(memo_key, _UNSUCCESSFUL)

    def running(self, memo_key: str) -> bool:
        """Return whether a run for *memo_key* is queued or under way."""
        return self._count(memo_key, UNFINISHED) > 0

    def _count(self, memo_key: str, statuses: tuple[dg.DagsterRunStatus, ...]) -> int:
        wanted = dg.RunsFilter(tags={MEMO_KEY_TAG: memo_key}, statuses=list(statuses))
        with using_storage(self._folder):
            return self._instance.get_runs_count(wanted)


def _pin(asset: str, record: dg.EventLogRecord) -> Pin:
    event = record.asset_materialization
    tags = (event and event.tags) or {}
    memo_key = event.metadata.get(MEMO_KEY_METADATA) if event else None
    return Pin(
        asset=asset,
        partition=record.partition_key,
        storage_id=record.storage_id,
        run_id=record.run_id,
        data_version=tags.get("dagster/data_version", ""),
        code_version=tags.get("dagster/code_version"),
        memo_key=str(memo_key.value) if memo_key else None,
    )
