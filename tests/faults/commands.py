"""The real command in a process of its own: started, watched by the CPU time it has used, signalled, waited for."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PROC = Path("/proc")

COMMAND = ("-m", "alphaswarm_assets.cli")
"""What Python is given to be the command."""

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def environment(root: Path = ROOT) -> dict[str, str]:
    """Return this process's environment, with the packages under *root* in front and nothing pointing at a home."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ALPHASWARM", "DAGSTER", "MLFLOW", "COLUMNS"))
    }
    places = [root, root / "resources", root / "kernels"]
    return {
        **inherited,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(map(str, places)),
    }


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A command that is over."""

    code: int
    out: str
    err: str
    cpu_s: float

    @property
    def report(self) -> dict[str, Any]:
        """What ``run --json`` printed."""
        assert self.out, self.err
        return json.loads(self.out)


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command under way, leader of its own process group."""

    process: subprocess.Popen[bytes]
    says: Path
    """Where its output goes: files ``out`` and ``err`` in this folder."""

    @property
    def err(self) -> str:
        """What it has said so far."""
        return (self.says / "err").read_text(encoding="utf-8")

    def cpu_s(self) -> float:
        """Return the CPU seconds its whole group has used."""
        used = sum(sum(ticks) for ticks, _ in _group(self.process.pid))
        return used / _TICKS_PER_S

    def wait_for(self, condition: Callable[[], bool], *, timeout_s: float = 120.0) -> bool:
        """Wait until *condition* holds and return True; return False if the command ended first."""
        deadline_s = time.monotonic() + timeout_s
        while not condition():
            if self.process.poll() is not None:
                return False
            assert time.monotonic() < deadline_s, (
                f"waited {timeout_s:g} s in vain; it says {self.err}"
            )
            time.sleep(0.02)
        return True

    def kill(self, *, group: bool) -> None:
        """Send SIGKILL to it, and to all it started where *group* is set."""
        with suppress(ProcessLookupError):
            (os.killpg if group else os.kill)(self.process.pid, signal.SIGKILL)

    def interrupt(self) -> None:
        """Send what Ctrl-C sends: SIGINT to every process of the group."""
        os.killpg(self.process.pid, signal.SIGINT)

    def is_gone(self, *, within_s: float) -> bool:
        """Return whether no process of its group is left after at most so many seconds."""
        deadline_s = time.monotonic() + within_s
        while any(state not in "ZX" for _, state in _group(self.process.pid)):
            if time.monotonic() > deadline_s:
                return False
            time.sleep(0.02)
        return True

    def wait(self, *, timeout_s: float = 240.0) -> Ended:
        """Wait for its end and return how it ended."""
        before_s = _children_s()
        code = self.process.wait(timeout=timeout_s)
        out, err = ((self.says / name).read_text(encoding="utf-8") for name in ("out", "err"))
        return Ended(code=code, out=out, err=err, cpu_s=_children_s() - before_s)


def start(
    home: Path,
    *arguments: object,
    root: Path = ROOT,
    program: Sequence[str] = COMMAND,
    variables: Mapping[str, str] | None = None,
    beside: str = "first",
) -> Command:
    """Start ``alphaswarm --home HOME ARGUMENTS``; its output goes to the folder *beside* beside the home."""
    says = home.parent / f"{beside}-says"
    says.mkdir(exist_ok=True)
    words = [sys.executable, *program, "--home", str(home), *map(str, arguments)]
    with (says / "out").open("wb") as out, (says / "err").open("wb") as err:
        process = subprocess.Popen(
            words,
            cwd=home.parent,
            env={**environment(root), **(variables or {})},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
    return Command(process=process, says=says)


def run(home: Path, *arguments: object, **options: Any) -> Ended:
    """Run ``alphaswarm --home HOME ARGUMENTS`` to its end."""
    return start(home, *arguments, **options).wait()


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _group(leader: int) -> list[tuple[tuple[int, ...], str]]:
    """Return (user and system ticks, its own and its ended children's; state) of every process of a group."""
    found: list[tuple[tuple[int, ...], str]] = []
    for path in PROC.glob("[0-9]*/stat"):
        with suppress(OSError):
            state, *fields = path.read_text().rpartition(")")[2].split()
            if int(fields[1]) == leader:
                found.append((tuple(map(int, fields[10:14])), state))
    return found
