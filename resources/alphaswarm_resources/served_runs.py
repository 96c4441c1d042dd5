"""Runs that a code server makes for a daemon: which of them nobody makes any more, because the server is gone."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import dagster as dg
from dagster._core.launcher.default_run_launcher import DefaultRunLauncher
from dagster._core.storage.tags import GRPC_INFO_TAG

from alphaswarm_resources.processes import host_name

HOST_TAG = "alphaswarm/host"
"""Run tag that says which machine makes the run."""

_LAUNCHED = (
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
)
_CONNECT_S = 5.0


def abandoned(instance: dg.DagsterInstance) -> Sequence[dg.DagsterRun]:
    """Return the launched runs whose code server is gone.

    A server ends, and reports, the runs of its own that fail to; when it was killed itself nobody does. Dagster's
    default launcher never asks: such a run would stay started, and keep its pool slots, for good. Runs of another host
    are left alone, and so are those of any other launcher, which watches its own.
    """
    if not isinstance(instance.run_launcher, DefaultRunLauncher):
        return ()
    is_served = cache(_answers)
    launched = instance.get_runs(dg.RunsFilter(statuses=list(_LAUNCHED)))
    suspects = [
        run
        for run in launched
        if run.tags.get(HOST_TAG, host_name()) == host_name()
        and GRPC_INFO_TAG in run.tags
        and not is_served(run.tags[GRPC_INFO_TAG])
    ]
    # One may have ended, and its server with it, since the runs were read.
    return [run for run in suspects if _is_unfinished(instance, run.run_id)]


def _answers(server: str) -> bool:
    """Return whether somebody listens where the tag says that the code server is."""
    where: Mapping[str, Any] = json.loads(server)
    path = where.get("socket")
    family = socket.AF_INET if path is None else socket.AF_UNIX
    with socket.socket(family) as probe:
        probe.settimeout(_CONNECT_S)
        try:
            probe.connect((where["host"], where["port"]) if path is None else path)
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        except OSError:
            return True  # slow or out of reach is not gone
    return True


def _is_unfinished(instance: dg.DagsterInstance, run_id: str) -> bool:
    run = instance.get_run_by_id(run_id)
    return run is not None and not run.is_finished
