"""The CPU as the device: what it is, and one thread for each step that holds it."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from multiprocessing import parent_process
from pathlib import Path

from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.ports import Device, DeviceInfo
from alphaswarm_resources.processes import die_with_parent

_THREADS = 1
"""Intra-op threads of a learner: with more, sums are added in another order and a run gives other bytes."""


class CpuDevice(Device):
    """The processors this process may run on."""

    def __init__(self, n_parallel: int | None = None) -> None:
        """Let *n_parallel* steps compute at the same time; None = one a processor.

        Raises
        ------
        InvalidInputError
            If *n_parallel* is not positive.
        """
        if n_parallel is not None and n_parallel < 1:
            raise InvalidInputError(f"n_parallel must be at least 1, was {n_parallel!r}")
        self._n_parallel = n_parallel or _n_processors()

    def info(self) -> DeviceInfo:
        """Return what the device is."""
        return DeviceInfo(
            kind="cpu",
            name=_processor_name(),
            n_parallel=self._n_parallel,
            memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        )

    @contextmanager
    def lease(self) -> Generator[DeviceInfo]:
        """Hold the device for one step, with torch on one intra-op thread while it is held.

        Who leases a device computes on it, so torch is loaded here, where its threads can still be set. A step process
        that leases it ends with the run that started it: nobody waits for what it computes.

        Yields
        ------
        DeviceInfo
            What is held.
        """
        run = parent_process()
        if run is not None:
            die_with_parent(run.pid)
        import torch

        before = torch.get_num_threads()
        torch.set_num_threads(_THREADS)
        try:
            yield self.info()
        finally:
            torch.set_num_threads(before)


def _n_processors() -> int:
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _processor_name() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, flags=re.MULTILINE)
    return found[1].strip() if found else platform.processor() or platform.machine()
