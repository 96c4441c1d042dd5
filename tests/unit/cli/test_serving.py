from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from alphaswarm_assets.cli import services, serving
from alphaswarm_assets.errors import StoreError
from alphaswarm_resources.stores import create_stores

on_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="reads /proc; a child learns of its parent's end on Linux alone"
)

MODULES = {
    "talker": "import time\nprint('hello', flush=True)\ntime.sleep(60)\n",
    "brief": "print('no database', flush=True)\nraise SystemExit(3)\n",
    "stubborn": """
        import signal, subprocess, sys, time
        IGNORES = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)"
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        subprocess.Popen([sys.executable, "-c", IGNORES])
        print("ready", flush=True)
        time.sleep(60)
        """,
    "courteous": """
        import pathlib, sys, time
        try:
            print("ready", flush=True)
            time.sleep(60)
        except KeyboardInterrupt:
            print("was told to end", flush=True)
        """,
}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    for name, text in MODULES.items():
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    paths = [str(tmp_path), *(entry for entry in sys.path if entry)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def started(name: str, environment: dict[str, str], tmp_path: Path) -> services.Service:
    return services.start(name, name, [], environment=environment, logs=tmp_path / "logs")


def until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.02)


def processes() -> list[tuple[int, str, int, int]]:
    """Return pid, state, parent and process group of every process."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent, group = path.read_text().rpartition(")")[2].split()[:3]
            found.append((int(path.parent.name), state, int(parent), int(group)))
    return found


def group_is_gone(group: int) -> bool:
    return all(state == "Z" for _, state, _, its in processes() if its == group)


def test_a_child_that_is_told_to_end_ends_by_itself(
    environment: dict[str, str], tmp_path: Path
) -> None:
    service = started("courteous", environment, tmp_path)
    until(lambda: "ready" in service.last_words())
    services.stop([service])
    assert "was told to end" in service.last_words()
    assert service.process.returncode == 0


@on_linux
def test_a_child_that_will_not_end_is_killed_with_all_it_started(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "GRACE_S", 0.5)
    service = started("stubborn", environment, tmp_path)
    until(lambda: "ready" in service.last_words())
    services.stop([service])
    until(lambda: group_is_gone(service.process.pid))


@on_linux
def test_no_child_outlives_a_parent_that_was_killed(
    environment: dict[str, str], tmp_path: Path
) -> None:
    program = (
        "import os, sys, time, pathlib\nfrom alphaswarm_assets.cli import services\n"
        "logs = pathlib.Path(sys.argv[1])\n"
        "s = services.start('courteous', 'courteous', [], environment=os.environ, logs=logs)\n"
        "print(s.process.pid, flush=True)\ntime.sleep(60)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "logs")]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        until(lambda: "ready" in (tmp_path / "logs" / "courteous.log").read_text())
        parent.kill()
    until(lambda: group_is_gone(child))
    assert "was told to end" in (tmp_path / "logs" / "courteous.log").read_text()


def test_a_port_in_use_is_an_error_when_it_was_named_and_passed_over_when_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.socket() as taken:
        taken.bind((serving.HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(StoreError, match=f"port {port} is in use"):
            serving.free_port(port)
        monkeypatch.setattr(serving, "FIRST_PORT", port)
        assert port < serving.free_port(None) <= port + serving.N_PORTS
        monkeypatch.setattr(serving, "N_PORTS", 1)
        with pytest.raises(StoreError, match="are in use"):
            serving.free_port(None)


def test_a_child_that_ends_by_itself_is_an_error_with_its_last_words(
    environment: dict[str, str], tmp_path: Path
) -> None:
    service = started("brief", environment, tmp_path)
    with pytest.raises(StoreError, match="code 3") as caught:
        serving._require_alive([service], wait_s=10.0)
    assert "no database" in str(caught.value)


def test_one_home_has_one_daemon(tmp_path: Path) -> None:
    with (
        serving._only_daemon(tmp_path, wanted=True) as first,
        serving._only_daemon(tmp_path, wanted=True) as second,
    ):
        assert (first, second) == (True, False)
    with (
        serving._only_daemon(tmp_path, wanted=True) as again,
        serving._only_daemon(tmp_path, wanted=False) as unwanted,
    ):
        assert (again, unwanted) == (True, False)


SERVE = """
import os, pathlib, sys
from alphaswarm_assets.cli.serving import serve
from alphaswarm_resources.clock_system import SystemClock

class House:
    home = pathlib.Path(sys.argv[1])
    clock = SystemClock()
    def child_environment(self):
        return {**os.environ, "DAGSTER_HOME": str(self.home / "dagster")}
    def workspace_arguments(self):
        return ["-f", sys.argv[2]]

serve(House(), port=None, with_daemon=True)
"""


@on_linux
@pytest.mark.slow
def test_the_ui_answers_and_leaves_nothing_behind_though_it_was_started_with_sigint_ignored(
    environment: dict[str, str], tmp_path: Path
) -> None:
    # As `alphaswarm ui` does first: webserver and daemon that both make the storage break each other.
    create_stores(tmp_path / "home", gpu_slots=1)
    location = tmp_path / "location.py"
    location.write_text(
        "import dagster as dg\n\n@dg.asset\ndef one(): ...\n\ndefs = dg.Definitions([one])\n"
    )
    command = [sys.executable, "-c", SERVE, str(tmp_path / "home"), str(location)]
    ignored = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        parent = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGINT, ignored)
    with parent:
        assert parent.stdout is not None
        try:
            assert "the UI is at http://127.0.0.1:" in parent.stdout.readline()
            children = [pid for pid, _, its_parent, _ in processes() if its_parent == parent.pid]
            assert len(children) == 2
        finally:
            parent.send_signal(signal.SIGTERM)
            rest, _ = parent.communicate(timeout=60)
    assert parent.returncode == 0
    assert "the UI is closed" in rest
    until(lambda: all(group_is_gone(child) for child in children))
