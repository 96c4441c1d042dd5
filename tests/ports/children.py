"""Child processes that run Python code of a test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

Child: TypeAlias = "subprocess.Popen[str]"
Start: TypeAlias = Callable[..., Child]

_ROOT = Path(__file__).parents[2]


def starting() -> Iterator[Start]:
    """Yield what starts code in a child process; one that outlives the test is killed."""
    places = [_ROOT, _ROOT / "resources", _ROOT / "kernels", Path(__file__).parent]
    started: list[Child] = []

    def start(code: str, *args: object) -> Child:
        child = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, args)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            # A shell without job control starts children deaf to Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
        )
        started.append(child)
        return child

    yield start
    for child in started:
        child.kill()
        child.communicate()


def first_line(child: Child) -> str:
    """Return the next line the child prints, waiting for it."""
    assert child.stdout is not None
    return child.stdout.readline()


def outputs(children: list[Child]) -> list[tuple[str, str]]:
    """Return what each child printed and what it complained of, once all have ended."""
    return [child.communicate(timeout=240) for child in children]
