"""`alphaswarm ui` as a person starts it, in processes of its own that end with the test."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from alphaswarm_assets.definitions import House

ROOT = Path(__file__).parents[2]
ANSWER_S = 120.0
END_S = 60.0


@contextmanager
def serving(house: House, *, daemon: bool) -> Generator[str]:
    """Serve the UI of *house* on a free port, yield its address, and leave no process behind."""
    port = _free_port()
    command = [sys.executable, "-m", "alphaswarm_assets.cli", "ui", "--port", str(port)]
    command += [] if daemon else ["--no-daemon"]
    environment = {
        **house.child_environment(),
        "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    log = house.home / "ui.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _await_address(process, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(END_S)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert working_on(house.home) == {}


def working_on(home: Path) -> dict[int, str]:
    """Return pid and command of the processes that work on *home*, but this one and its browser."""
    found: dict[int, str] = {}
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            environment = (path / "environ").read_bytes().split(b"\0")
            if f"ALPHASWARM_HOME={home}".encode() in environment and command:
                found[int(path.name)] = command
    found.pop(os.getpid(), None)
    browser = ("playwright", "chrom")
    return {pid: said for pid, said in found.items() if not any(name in said for name in browser)}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _await_address(process: subprocess.Popen[bytes], log: Path) -> None:
    deadline_s = time.monotonic() + ANSWER_S
    while "the UI is at http://" not in log.read_text(errors="replace"):
        assert process.poll() is None, log.read_text(errors="replace")
        assert time.monotonic() < deadline_s, log.read_text(errors="replace")
        time.sleep(0.1)
