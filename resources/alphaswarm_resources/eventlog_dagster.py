"""Dagster's event log, read as pins: what was materialised, and what was tried."""

from __future__ import annotations

import dagster as dg

from alphaswarm_assets.ports import EventLog, Pin

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

_UNSUCCESSFUL = (dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)


class DagsterEventLog(EventLog):
    """The event log of one Dagster instance."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        """Read the log of *instance*."""
        self._instance = instance

    def latest(self, asset: str, partition: str | None) -> Pin | None:
        """Return the latest materialisation of (*asset*, *partition*); *asset* is a key as the UI shows it, ``a/b``."""
        wanted = dg.AssetRecordsFilter(
            asset_key=dg.AssetKey.from_user_string(asset),
            asset_partitions=None if partition is None else [partition],
        )
        records = self._instance.fetch_materializations(wanted, limit=1).records
        return _pin(asset, records[0]) if records else None

    def attempts(self, memo_key: str) -> int:
        """Return how many runs were started for *memo_key* and did not succeed: they failed or were cancelled."""
        return self._count(memo_key, _UNSUCCESSFUL)

    def running(self, memo_key: str) -> bool:
        """Return whether a run for *memo_key* is queued or under way."""
        return self._count(memo_key, UNFINISHED) > 0

    def _count(self, memo_key: str, statuses: tuple[dg.DagsterRunStatus, ...]) -> int:
        wanted = dg.RunsFilter(tags={MEMO_KEY_TAG: memo_key}, statuses=list(statuses))
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
