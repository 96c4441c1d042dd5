"""Runs whose code server was killed, on a real instance: found, ended, and their pool slots free again."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.storage.tags import GRPC_INFO_TAG

from alphaswarm_resources.launcher_dagster import DagsterLauncher, Location
from alphaswarm_resources.processes import host_name
from alphaswarm_resources.served_runs import HOST_TAG, abandoned

STARTED, STARTING = dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.STARTING


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    (tmp_path / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        instance.event_log_storage.set_concurrency_slots("gpu", 1)
        yield instance


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        yield path


@dg.op
def nothing() -> None: ...


@dg.job
def idle() -> None:
    nothing()


def launched(
    instance: dg.DagsterInstance, status: dg.DagsterRunStatus, server: object, **tags: str
) -> str:
    info = {GRPC_INFO_TAG: json.dumps(server)}
    return instance.create_run_for_job(idle, status=status, tags={**info, **tags}).run_id


def at(path: Path) -> dict[str, str]:
    return {"host": "localhost", "socket": str(path)}


def ids(instance: dg.DagsterInstance) -> set[str]:
    return {run.run_id for run in abandoned(instance)}


def test_a_run_is_abandoned_when_nobody_listens_at_its_server_any_more(
    instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    left_over = tmp_path / "killed"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(left_over))  # a server that is killed leaves its file
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert ids(instance) == set()
    lost = {
        launched(instance, STARTED, at(left_over)),
        launched(instance, STARTING, at(tmp_path / "removed")),
        launched(instance, STARTED, {"host": "127.0.0.1", "port": port}),
    }
    assert ids(instance) == lost


def test_a_run_is_left_alone_when_its_server_lives_or_is_not_ours_to_judge(
    instance: dg.DagsterInstance, listening: Path, tmp_path: Path
) -> None:
    gone = at(tmp_path / "removed")
    launched(instance, STARTED, at(listening))
    launched(instance, STARTED, gone, **{HOST_TAG: f"not-{host_name()}"})
    launched(instance, dg.DagsterRunStatus.FAILURE, gone)
    instance.create_run_for_job(idle, status=STARTED)
    assert ids(instance) == set()


def test_reconciling_ends_an_abandoned_run_and_frees_its_slot(
    instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    run_id = launched(instance, STARTED, at(tmp_path / "removed"), **{HOST_TAG: host_name()})
    storage = instance.event_log_storage
    assert storage.claim_concurrency_slot("gpu", run_id, "train").is_claimed
    launcher = DagsterLauncher(instance, lambda: idle, Location("no_module", "defs"))
    assert launcher.reconcile() == [run_id]
    run = instance.get_run_by_id(run_id)
    assert run is not None
    assert run.status is dg.DagsterRunStatus.FAILURE
    assert storage.get_concurrency_info("gpu").active_slot_count == 0
    assert launcher.reconcile() == []
