"""Processes by identity: which one holds something, whether it still lives, and how one dies with its parent."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessIdentity:
    """One process among all that ever had its number."""

    host: str
    pid: int
    start_ticks: int
    """When it started, in the unit of `process_start_ticks`; tells it from a later process with the same number."""

    def may_live(self) -> bool:
        """Return whether it may still run; nothing is known of a process on another host."""
        return self.host != host_name() or is_alive(self.pid, self.start_ticks)

    def __str__(self) -> str:
        """Name it as a person would."""
        return f"process {self.pid} on {self.host}"


def this_process() -> ProcessIdentity:
    """Return the identity of the process that asks."""
    return _identity_of(os.getpid())


def host_name() -> str:
    """Return the name of this machine."""
    return socket.gethostname()


def process_start_ticks(pid: int) -> int | None:
    """Return when the process *pid* started, or None if there is none.

    The number has the unit of the platform (clock ticks since boot on Linux, seconds since 1970 elsewhere) and is only
    ever compared for equality. A process that has ended and was not waited for yet counts as gone.
    """
    return _start_from_proc(pid) if sys.platform == "linux" else _start_from_ps(pid)


def is_alive(pid: int, start_ticks: int) -> bool:
    """Return whether the process *pid* that started at *start_ticks* still runs."""
    return process_start_ticks(pid) == start_ticks


def die_with_parent(parent: int | None = None) -> None:
    """Ask the kernel for SIGTERM when the parent of this process dies; without a kernel that can, do nothing.

    Call it first thing in a step process: a killed orchestrator must not leave a child that holds the device. The
    signal comes when the *thread* that made this process ends, so the parent must not make it from a passing thread.

    Parameters
    ----------
    parent : int, optional
        The process that made this one, where it may be gone by the time of this call; as a rule the parent as it is.
    """
    if sys.platform == "linux":
        maker = os.getppid() if parent is None else parent
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        # A parent that died before the call above sends nothing any more.
        if os.getppid() != maker:
            os.kill(os.getpid(), signal.SIGTERM)


@lru_cache(maxsize=4)
def _identity_of(pid: int) -> ProcessIdentity:
    return ProcessIdentity(host=host_name(), pid=pid, start_ticks=process_start_ticks(pid) or 0)


def _start_from_proc(pid: int) -> int | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    # The command stands in brackets and may hold spaces and brackets itself: count from the last one.
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in {"Z", "X"} else int(fields[18])


def _start_from_ps(pid: int) -> int | None:
    command = ["ps", "-o", "stat=,lstart=", "-p", str(pid)]
    found = subprocess.run(  # noqa: S603  (fixed command, a number as its only argument)
        command,
        env={"LC_ALL": "C", "TZ": "UTC", "PATH": "/bin:/usr/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    state, _, start = found.stdout.strip().partition(" ")
    if not start or state.startswith("Z"):
        return None
    return int(
        datetime.strptime(start.strip(), "%a %b %d %H:%M:%S %Y").replace(tzinfo=UTC).timestamp()
    )
