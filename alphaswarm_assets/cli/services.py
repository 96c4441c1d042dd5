"""Children of ``alphaswarm ui``: started with a log each, watched, and ended together with all they started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

GRACE_S: Final = 15.0
"""Seconds a child has between SIGTERM and SIGKILL."""

POLL_S: Final = 0.1

_PROC = Path("/proc")


@dataclass(frozen=True, kw_only=True, slots=True)
class Service:
    """One running child, the leader of a process group of its own."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def last_words(self, n_lines: int = 15) -> str:
        """Return the last lines of its log."""
        return "\n".join(
            self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-n_lines:]
        )


def start(
    name: str, module: str, arguments: Sequence[str], *, environment: Mapping[str, str], logs: Path
) -> Service:
    """Start ``python -m module arguments`` with its output in a log of its own, written anew."""
    logs.mkdir(parents=True, exist_ok=True)
    log = logs / f"{name}.log"
    command = [
        sys.executable,
        "-m",
        "alphaswarm_assets.cli.child",
        str(os.getpid()),
        module,
        *arguments,
    ]
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 -- our own interpreter and module
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return Service(name=name, process=process, log=log)


def stop(services: Sequence[Service]) -> None:
    """End every service and all it started: asked first, killed when the grace is over."""
    for service in services:
        _signal_group(service, signal.SIGTERM)
    deadline_s = time.monotonic() + GRACE_S
    while any(_is_left(service) for service in services) and time.monotonic() < deadline_s:
        time.sleep(POLL_S)
    for service in services:
        _signal_group(service, signal.SIGKILL)
        service.process.wait()


def _is_left(service: Service) -> bool:
    # A run that is told to end may take longer than the server that started it.
    return service.process.poll() is None or _group_lives(service.process.pid)


def _group_lives(group: int) -> bool:
    if not _PROC.is_dir():
        return False
    for path in _PROC.glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, its_group = path.read_text().rpartition(")")[2].split()[:3]
            if int(its_group) == group and state != "Z":
                return True
    return False


def _signal_group(service: Service, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # empty already; macOS says so with EPERM
        os.killpg(service.process.pid, number)
