"""Runs that a code server makes for a daemon: which of them nobody makes any more, because the server is gone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import dagster as dg
from dagster._core.errors import DagsterUserCodeUnreachableError
from dagster._core.launcher.default_run_launcher import DefaultRunLauncher
from dagster._core.storage.tags import GRPC_INFO_TAG
from dagster._grpc.client import DagsterGrpcClient
from dagster._grpc.types import GetCurrentRunsResult
from dagster._serdes import deserialize_value

from alphaswarm_resources.processes import host_name

HOST_TAG = "alphaswarm/host"
"""Run tag that says which machine makes the run."""


def abandoned(instance: dg.DagsterInstance) -> Sequence[dg.DagsterRun]:
    """Return the started runs whose code server is gone, or knows nothing of them.

    Dagster's default launcher never asks: such a run would stay started, and keep its pool slots, for good. Runs of
    another host are left alone, and so are those of any other launcher, which watches its own.
    """
    if not isinstance(instance.run_launcher, DefaultRunLauncher):
        return ()
    started = [dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING]
    running_at = cache(_running_at)
    found: list[dg.DagsterRun] = []
    for run in instance.get_runs(dg.RunsFilter(statuses=started)):
        server = run.tags.get(GRPC_INFO_TAG)
        if server is None or run.tags.get(HOST_TAG, host_name()) != host_name():
            continue
        if run.run_id not in running_at(server) and _is_unfinished(instance, run):
            found.append(run)
    return found


def _running_at(server: str) -> frozenset[str]:
    where: Mapping[str, Any] = json.loads(server)
    client = DagsterGrpcClient(
        host=where.get("host"), port=where.get("port"), socket=where.get("socket")
    )
    try:
        told = deserialize_value(client.get_current_runs(), GetCurrentRunsResult)
    except DagsterUserCodeUnreachableError:
        return frozenset()
    return frozenset(told.current_runs)


def _is_unfinished(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    # It may have ended between the two questions.
    now = instance.get_run_by_id(run.run_id)
    return now is not None and not now.is_finished
