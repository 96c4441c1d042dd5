"""Runs a module as a child that ends with its parent and hears its signals: ``python -m …child PID MODULE ARG…``."""

from __future__ import annotations

import ctypes
import os
import runpy
import signal
import sys

_PR_SET_PDEATHSIG = 1


def end_with_parent(parent: int) -> None:
    """Let SIGTERM reach this process when *parent* is gone, and let signals the shell had ignored act again."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit("the process that started this one is gone")


def main() -> None:
    """Become the module that the arguments name, after the pid of the parent."""
    parent, module, *arguments = sys.argv[1:]
    end_with_parent(int(parent))
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
