"""Ctrl-C and SIGTERM during a step: both interrupt it, and neither is lost."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

_INTERRUPTS = {signal.SIGINT, signal.SIGTERM}


@contextmanager
def noticing_interrupts() -> Generator[Callable[[], bool]]:
    """Let SIGTERM interrupt as Ctrl-C does, and yield what tells whether either came until then.

    The exception that a signal raises is dropped where Python calls back by itself, in a finaliser for one, and Dagster
    forgets a signal that comes between two steps; the system's note of it stays. Outside the main thread, where no
    signal arrives, nothing is ever noticed.

    Yields
    ------
    callable
        Without arguments; returns whether SIGINT or SIGTERM came.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    noted_before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    terminated_before = signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield lambda: _came(reading)
    finally:
        signal.signal(signal.SIGTERM, terminated_before)
        signal.set_wakeup_fd(noted_before)
        os.close(reading)
        os.close(writing)


def _came(reading: int) -> bool:
    with suppress(BlockingIOError):
        return not _INTERRUPTS.isdisjoint(os.read(reading, 4096))
    return False
