"""Advisory locks between processes, as locked files: a lock dies with its holder."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from alphaswarm_assets.errors import BusyError
from alphaswarm_assets.ports import Locks
from alphaswarm_resources.durable import file_name, make_folder, storing
from alphaswarm_resources.processes import ProcessIdentity, this_process

_POLL_S = 0.05


class FileLocks(Locks):
    """Locks as files under one folder, held with ``flock``; the holder's process stands in the file."""

    def __init__(self, folder: Path) -> None:
        """Keep the locks in *folder*, which is made when it is needed."""
        self._folder = folder

    @contextmanager
    def hold(self, name: str, *, wait_s: float = 0.0) -> Generator[None]:
        """Hold the lock *name*, waiting at most *wait_s* seconds for it.

        Raises
        ------
        BusyError
            If another holder, this process included, still has it then; the holder is named.
        StoreError
            If the lock file cannot be opened.
        """
        path = self._folder / file_name(name, ".lock")
        with storing("lock folder", self._folder):
            make_folder(self._folder)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            _acquire(descriptor, name, wait_s)
            _note_holder(descriptor)
            try:
                yield
            finally:
                # The file itself stays: were it removed, two processes could hold the same name on two files.
                os.ftruncate(descriptor, 0)
        finally:
            os.close(descriptor)


def _acquire(descriptor: int, name: str, wait_s: float) -> None:
    deadline_s = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            left_s = deadline_s - time.monotonic()
            if left_s <= 0:
                raise BusyError(_busy(descriptor, name, wait_s)) from None
            time.sleep(min(_POLL_S, left_s))
        else:
            return


def _note_holder(descriptor: int) -> None:
    me = this_process()
    note = json.dumps(asdict(me))
    # The lock is held whatever the file says: on a full disk the note is what can be spared.
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, note.encode(), 0)


def _busy(descriptor: int, name: str, wait_s: float) -> str:
    try:
        holder = ProcessIdentity(**json.loads(os.pread(descriptor, 4096, 0)))
    except (ValueError, TypeError, OSError):
        holder = None
    # A note that outlived its writer says nothing of who holds the lock now.
    if holder is None or not holder.may_live():
        who, end = "another process", ""
    else:
        who, end = str(holder), f" or end it (kill {holder.pid})"
    waited = f" after {wait_s:g} s" if wait_s else ""
    return (
        f"lock {name!r} is held by {who}{waited}. Wait until it has finished{end}, "
        "then run the same command again."
    )
