"""A study asked for over GraphQL, as the UI does it: the daemon drives it, and a daemon that was killed is no loss."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from alphaswarm_assets.definitions import House, compose
from alphaswarm_assets.specs.loading import parse_spec
from tests.graph.conftest import TINY, write_bars
from tests.ui.served import serving, working_on

LOCATION = "{workspaceOrError {... on Workspace {locationEntries {name}}}}"
LAUNCH = """
mutation ($location: String!, $config: RunConfigData!) {
  launchRun(executionParams: {
    selector: {repositoryLocationName: $location, repositoryName: "__repository__", jobName: "research"},
    runConfigData: $config
  }) {__typename ... on PythonError {message} ... on RunConfigValidationInvalid {errors {message}}}
}
"""


@pytest.mark.slow
@pytest.mark.faults
@pytest.mark.timeout(600)
@pytest.mark.skipif(sys.platform != "linux", reason="finds the processes of a home in /proc")
def test_a_study_whose_daemon_was_killed_while_it_trained_is_taken_to_its_verdict_by_the_next(
    tmp_path: Path,
) -> None:
    house = compose(tmp_path / "home")
    write_bars(house.home / "bars" / "tiny.csv")
    house.initialise()
    longer = TINY.replace("total_timesteps: 2048", "total_timesteps: 65536")
    spec = parse_spec(longer.replace("min_sharpe: -50", "min_sharpe: 50"), source="tiny.yaml")
    house.specs.register(spec)

    with serving(house, daemon=True) as address:
        (entry,) = query(address, LOCATION)["workspaceOrError"]["locationEntries"]
        launched = query(address, LAUNCH, location=entry["name"], config={"spec": spec.key})[
            "launchRun"
        ]
        assert launched["__typename"] == "LaunchRunSuccess", launched
        until(lambda: started(house, "make_folds"))
        # Again, until nothing is left: one may start another while the rest is being killed.
        while working := working_on(house.home):
            for pid in working:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
    lost = started(house, "make_folds")
    assert lost

    with serving(house, daemon=True):
        until(lambda: house.requests.rows()[-1].body["event"] == "closed")
    assert house.requests.rows()[-1].body["note"] == "done: the verdict is REJECT"
    failed = house.instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE]))
    assert {run.run_id for run in lost} <= {run.run_id for run in failed}
    runs = house.instance.get_runs()
    assert all(run.is_finished for run in runs), [(run.job_name, run.status) for run in runs]
    assert house.instance.event_log_storage.get_concurrency_info("gpu").active_slot_count == 0
    assert house.event_log().latest("registered_model", spec.key) is None
    assert house.event_log().latest("paper_pack", spec.key) is None


def started(house: House, job: str) -> list[dg.DagsterRun]:
    wanted = dg.RunsFilter(job_name=job, statuses=[dg.DagsterRunStatus.STARTED])
    return list(house.instance.get_runs(wanted))


def query(address: str, text: str, **variables: object) -> dict[str, Any]:
    body = json.dumps({"query": text, "variables": variables}).encode()
    asked = urllib.request.Request(  # noqa: S310 -- our own server
        f"{address}/graphql", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(asked, timeout=60) as answer:  # noqa: S310
        return json.load(answer)["data"]


def until(condition: Callable[[], object], seconds: float = 240.0) -> None:
    deadline_s = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline_s, "it did not come to pass"
        time.sleep(0.2)
