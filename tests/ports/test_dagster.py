"""The event log and the launcher, on a real instance and with real processes that are interrupted and killed."""

import importlib
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import TypeAlias

import dagster as dg
import pytest

from alphaswarm_assets.ports import EventLog, Launcher, LaunchRequest, Pin
from alphaswarm_resources.eventlog_dagster import DagsterEventLog
from alphaswarm_resources.launcher_dagster import (
    HOST_TAG,
    PID_TAG,
    START_TAG,
    DagsterLauncher,
    Location,
)
from alphaswarm_resources.processes import host_name, this_process
from tests.ports.children import Child, Start

Begin: TypeAlias = Callable[..., Child]
HERE = Path(__file__).parent
KEY = "small-0123456789ab"
MEMO = "m" * 64

MAKE = """
import os, sys
import dagster as dg
import small_location
from alphaswarm_assets.ports import LaunchRequest
from alphaswarm_resources.launcher_dagster import DagsterLauncher, Location
home, asset, partition, parallel = sys.argv[1:]
instance = dg.DagsterInstance.from_config(home)
job = small_location.defs.resolve_implicit_global_asset_job_def
launcher = DagsterLauncher(instance, job, Location("small_location", "defs"))
if __name__ == "__main__":
    request = LaunchRequest(asset=asset, partition=partition, memo_key="m" * 64, parallel=parallel == "parallel")
    done = launcher.make(request)
    print(done.status, done.run_id, done.error)
"""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("dagster")
    settings = resources.files("alphaswarm_resources").joinpath("dagster.yaml")
    (home / "dagster.yaml").write_bytes(settings.read_bytes())
    with dg.DagsterInstance.from_config(str(home)) as instance:
        instance.add_dynamic_partitions("spec", [KEY])
        instance.event_log_storage.set_concurrency_slots("gpu", 1)
        assert instance.schedule_storage is not None
        instance.schedule_storage.all_instigator_state()
    return home


@pytest.fixture
def home(template: Path, tmp_path: Path) -> Path:
    shutil.copytree(template, tmp_path / "dagster")
    return tmp_path / "dagster"


@pytest.fixture
def instance(home: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.from_config(str(home)) as instance:
        yield instance


@pytest.fixture
def launcher(
    instance: dg.DagsterInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> DagsterLauncher:
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setenv("SMALL_PIDS", str(tmp_path / "pids"))
    monkeypatch.delenv("SMALL_STEP", raising=False)
    location = importlib.import_module("small_location")
    job = location.defs.resolve_implicit_global_asset_job_def
    return DagsterLauncher(instance, job, Location("small_location", "defs"))


@pytest.fixture
def log(instance: dg.DagsterInstance) -> DagsterEventLog:
    return DagsterEventLog(instance)


def report(memo_key: str = MEMO, partition: str | None = KEY) -> LaunchRequest:
    return LaunchRequest(asset="report", partition=partition, memo_key=memo_key)


def started(
    instance: dg.DagsterInstance,
    *,
    tags: dict[str, str] | None = None,
    status: dg.DagsterRunStatus = dg.DagsterRunStatus.STARTED,
    parent: str | None = None,
) -> dg.DagsterRun:
    """Add a run as another process would have left it."""
    run = dg.DagsterRun(
        "__ASSET_JOB", status=status, tags=tags, parent_run_id=parent, root_run_id=parent
    )
    instance.add_run(run)
    return run


def found(instance: dg.DagsterInstance, run_id: str) -> dg.DagsterRun:
    run = instance.get_run_by_id(run_id)
    assert run is not None
    return run


def pinned(log: DagsterEventLog, asset: str, partition: str | None) -> Pin:
    pin = log.latest(asset, partition)
    assert pin is not None
    return pin


def slots(instance: dg.DagsterInstance) -> int:
    return instance.event_log_storage.get_concurrency_info("gpu").active_slot_count


def test_they_are_an_event_log_and_a_launcher(
    log: DagsterEventLog, launcher: DagsterLauncher
) -> None:
    assert isinstance(log, EventLog)
    assert isinstance(launcher, Launcher)


def test_a_cell_that_was_made_is_pinned(
    log: DagsterEventLog,
    launcher: DagsterLauncher,
    instance: dg.DagsterInstance,
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert log.latest("report", KEY) is None
    done = launcher.make(report())
    assert (done.status, done.error) == ("made", None)
    pin = pinned(log, "report", KEY)
    assert pin == Pin(
        asset="report",
        partition=KEY,
        storage_id=pin.storage_id,
        run_id=done.run_id,
        data_version="sha256:" + "a" * 64,
        code_version="c1",
        memo_key=MEMO,
    )
    assert pin.digest == "a" * 64
    tags = found(instance, done.run_id).tags
    me = this_process()
    assert {
        PID_TAG: str(me.pid),
        HOST_TAG: host_name(),
        START_TAG: str(me.start_ticks),
    }.items() <= tags.items()
    assert tags["alphaswarm/memo_key"] == MEMO
    assert slots(instance) == 0
    assert capfd.readouterr() == ("", "")


def test_the_latest_of_a_partition_is_its_own(
    log: DagsterEventLog, launcher: DagsterLauncher
) -> None:
    launcher.register_partition("spec", "other-0123456789ab")
    launcher.register_partition("spec", "other-0123456789ab")
    first = launcher.make(report("1" * 64))
    launcher.make(report("2" * 64, "other-0123456789ab"))
    again = launcher.make(report("3" * 64))
    assert pinned(log, "report", KEY).run_id == again.run_id != first.run_id
    assert pinned(log, "report", "other-0123456789ab").memo_key == "2" * 64
    assert log.latest("report", "none-0123456789ab") is None


def test_an_asset_without_partitions_is_made_and_pinned_too(
    log: DagsterEventLog, launcher: DagsterLauncher
) -> None:
    done = launcher.make(LaunchRequest(asset="lone", partition=None, memo_key=MEMO))
    pin = pinned(log, "lone", None)
    assert (done.status, pin.run_id, pin.partition, pin.memo_key) == (
        "made",
        done.run_id,
        None,
        None,
    )


def test_a_cell_of_two_dimensions_is_made_in_this_process(
    log: DagsterEventLog, launcher: DagsterLauncher, tmp_path: Path
) -> None:
    done = launcher.make(LaunchRequest(asset="checkpoint", partition=f"f0|{KEY}", memo_key=MEMO))
    assert done.status == "made"
    assert pinned(log, "checkpoint", f"f0|{KEY}").run_id == done.run_id
    assert log.latest("checkpoint", f"f1|{KEY}") is None
    assert (tmp_path / "pids").read_text() == f"{os.getpid()} {os.getpid()}"


def test_a_failed_step_is_a_result_that_tells_what_was_raised(
    log: DagsterEventLog,
    launcher: DagsterLauncher,
    instance: dg.DagsterInstance,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("SMALL_STEP", "fail")
    done = launcher.make(report())
    assert done.status == "failed"
    assert done.error == "StaleArtifactError: report must be aa, was bb.\nRestore it"
    assert found(instance, done.run_id).status == dg.DagsterRunStatus.FAILURE
    assert slots(instance) == 0
    assert log.latest("report", KEY) is None
    assert capfd.readouterr() == ("", "")


def test_a_refusal_is_told_as_it_was_written(
    launcher: DagsterLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMALL_STEP", "refuse")
    assert launcher.make(report()).error == "REJECT: too few seeds"


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        (report(partition="unknown-0123456789ab"), "unknown-0123456789ab"),
        (LaunchRequest(asset="nothing", partition=KEY, memo_key=MEMO), "nothing"),
        (
            LaunchRequest(asset="checkpoint", partition="f0|unknown", memo_key=MEMO, parallel=True),
            "unknown",
        ),
    ],
)
def test_a_cell_that_does_not_exist_is_a_failure_without_a_run(
    launcher: DagsterLauncher, instance: dg.DagsterInstance, request_: LaunchRequest, told: str
) -> None:
    done = launcher.make(request_)
    assert (done.status, done.run_id) == ("failed", "")
    assert told in str(done.error)
    assert instance.get_runs_count() == 0


def test_attempts_count_what_did_not_succeed(
    log: DagsterEventLog,
    launcher: DagsterLauncher,
    instance: dg.DagsterInstance,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert log.attempts(MEMO) == 0
    launcher.make(report())
    assert log.attempts(MEMO) == 0
    monkeypatch.setenv("SMALL_STEP", "fail")
    for n in (1, 2):
        launcher.make(report())
        assert log.attempts(MEMO) == n
    assert log.attempts("x" * 64) == 0
    canceled = started(instance, tags={"alphaswarm/memo_key": MEMO})
    instance.report_run_canceled(canceled)
    assert log.attempts(MEMO) == 3


def test_a_run_is_running_until_it_ends(log: DagsterEventLog, instance: dg.DagsterInstance) -> None:
    assert not log.running(MEMO)
    for name in ("NOT_STARTED", "STARTING", "STARTED", "CANCELING"):
        run = started(
            instance, tags={"alphaswarm/memo_key": MEMO}, status=dg.DagsterRunStatus[name]
        )
        assert log.running(MEMO)
        instance.report_run_failed(run)
        assert not log.running(MEMO)


def test_reading_the_log_is_fast(log: DagsterEventLog, launcher: DagsterLauncher) -> None:
    launcher.make(report())
    fastest = {}
    for name, ask in {
        "latest": lambda: log.latest("report", KEY),
        "attempts": lambda: log.attempts(MEMO),
        "running": lambda: log.running(MEMO),
    }.items():
        taken = []
        for _ in range(10):
            began = time.perf_counter()
            ask()
            taken.append(time.perf_counter() - began)
        fastest[name] = min(taken)
    assert max(fastest.values()) < 0.010, fastest


def test_making_a_cell_leaves_the_signals_as_they_were(launcher: DagsterLauncher) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    launcher.make(report())
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


@pytest.mark.slow
def test_a_parallel_cell_is_made_by_step_processes_in_silence(
    log: DagsterEventLog,
    launcher: DagsterLauncher,
    instance: dg.DagsterInstance,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    request = LaunchRequest(asset="checkpoint", partition=f"f1|{KEY}", memo_key=MEMO, parallel=True)
    done = launcher.make(request)
    assert (done.status, done.error) == ("made", None)
    assert pinned(log, "checkpoint", f"f1|{KEY}").run_id == done.run_id
    pids = set((tmp_path / "pids").read_text().split())
    assert len(pids) == 2
    assert str(os.getpid()) not in pids
    tags = found(instance, done.run_id).tags
    assert (tags["dagster/partition/fold"], tags["dagster/partition/spec"]) == ("f1", KEY)
    assert tags[PID_TAG] == str(os.getpid())
    assert slots(instance) == 0
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
@pytest.mark.faults
def test_a_step_process_that_dies_without_a_word_is_told(
    launcher: DagsterLauncher, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMALL_STEP", "crash")
    done = launcher.make(LaunchRequest(asset="report", partition=KEY, memo_key=MEMO, parallel=True))
    assert done.status == "failed"
    assert (
        done.error
        == "the process of step 'report' died before it could say why: it was killed, or out of memory"
    )
    assert slots(instance) == 0


@pytest.fixture
def begin(start: Start, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Begin:
    """Start making a cell in a child process and return once its step is waiting."""

    def begin(asset: str, partition: str, parallel: str = "here") -> Child:
        script, flag = tmp_path / "make_cell.py", tmp_path / "flag"
        script.write_text(MAKE)
        flag.unlink(missing_ok=True)
        monkeypatch.setenv("SMALL_STEP", "wait")
        monkeypatch.setenv("SMALL_FLAG", str(flag))
        monkeypatch.setenv("SMALL_PIDS", str(tmp_path / "pids"))
        # A file, not -c: a spawned step process runs the main module of its parent again.
        child = start("import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')",
                      script, home, asset, partition, parallel)  # fmt: skip
        deadline = time.monotonic() + 60
        while not flag.exists():
            assert child.poll() is None, child.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        monkeypatch.setenv("SMALL_STEP", "")
        return child

    return begin


@pytest.mark.slow
@pytest.mark.faults
@pytest.mark.parametrize(
    ("way", "number"),
    [("here", signal.SIGINT), ("here", signal.SIGTERM), ("parallel", signal.SIGINT)],
)
def test_an_interrupted_cell_is_cancelled_after_its_checkpoint(
    begin: Begin, instance: dg.DagsterInstance, tmp_path: Path, way: str, number: signal.Signals
) -> None:
    log = DagsterEventLog(instance)
    child = begin("report", KEY, way)
    assert log.running(MEMO)
    # A terminal sends Ctrl-C to every process below the command as well; a supervisor its SIGTERM to the one it knows.
    (os.killpg if number == signal.SIGINT else os.kill)(child.pid, number)
    out, err = child.communicate(timeout=60)
    assert out.split()[0] == "interrupted"
    assert err == ""
    (run,) = instance.get_runs()
    assert run.run_id == out.split()[1]
    assert run.status == dg.DagsterRunStatus.CANCELED
    assert slots(instance) == 0
    assert (tmp_path / "checkpoint").exists()
    assert log.attempts(MEMO) == 1
    assert not log.running(MEMO)


@pytest.mark.faults
def test_a_killed_cell_is_reconciled_and_can_be_made_again(
    begin: Begin, launcher: DagsterLauncher, instance: dg.DagsterInstance, log: DagsterEventLog
) -> None:
    child = begin("report", KEY)
    assert launcher.reconcile() == []
    assert slots(instance) == 1
    child.kill()
    child.wait()
    (run,) = instance.get_runs()
    assert run.status == dg.DagsterRunStatus.STARTED
    assert launcher.reconcile() == [run.run_id]
    assert found(instance, run.run_id).status == dg.DagsterRunStatus.FAILURE
    assert slots(instance) == 0
    assert (log.attempts(MEMO), log.running(MEMO)) == (1, False)
    assert launcher.reconcile() == []
    assert launcher.make(report()).status == "made"


def owned(
    instance: dg.DagsterInstance, *, parent: str | None = None, **changed: str
) -> dg.DagsterRun:
    me = this_process()
    tags = {PID_TAG: str(me.pid), HOST_TAG: me.host, START_TAG: str(me.start_ticks)}
    return started(instance, tags={**tags, **changed}, parent=parent)


def test_only_runs_whose_process_is_gone_are_reported_lost(
    launcher: DagsterLauncher, instance: dg.DagsterInstance
) -> None:
    alive = owned(instance)
    reused = owned(instance, **{START_TAG: "1"})
    elsewhere = owned(instance, **{HOST_TAG: "elsewhere", START_TAG: "1"})
    again = owned(instance, parent=reused.run_id, **{START_TAG: "1"})
    daemons = started(instance)
    assert launcher.reconcile() == [reused.run_id]
    assert found(instance, reused.run_id).status == dg.DagsterRunStatus.FAILURE
    for run in (alive, elsewhere, again, daemons):
        assert found(instance, run.run_id).status == dg.DagsterRunStatus.STARTED


def test_a_slot_that_a_finished_run_kept_is_freed(
    launcher: DagsterLauncher, instance: dg.DagsterInstance
) -> None:
    run = owned(instance)
    instance.event_log_storage.claim_concurrency_slot("gpu", run.run_id, "report")
    assert launcher.reconcile() == []
    assert slots(instance) == 1
    instance.report_run_failed(run)
    assert launcher.reconcile() == []
    assert slots(instance) == 0


def test_a_daemon_does_not_try_again_what_was_launched_here(
    launcher: DagsterLauncher, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMALL_STEP", "fail")
    done = launcher.make(report())
    assert found(instance, done.run_id).tags["dagster/max_retries"] == "0"
