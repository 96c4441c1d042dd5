"""Signals that end a long command cleanly."""

from __future__ import annotations

import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interruptible() -> Generator[None]:
    """Let SIGINT and SIGTERM raise `KeyboardInterrupt` in the block.

    A shell without job control starts background commands with SIGINT ignored, Dagster gives SIGTERM the handler
    that SIGINT has, and a child inherits what is ignored: such a command could only be killed.
    """
    with _handled_by(signal.default_int_handler):
        yield


@contextmanager
def uninterruptible() -> Generator[None]:
    """Let SIGINT and SIGTERM pass unheard in the block: it is the end already."""
    with _handled_by(_not_now):
        yield


def _not_now(number: int, frame: FrameType | None) -> None:
    del number, frame


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], object]) -> Generator[None]:
    held = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in held:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, before in held.items():
            signal.signal(number, before)
