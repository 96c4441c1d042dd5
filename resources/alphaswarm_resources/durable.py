"""Files that are written whole or not at all, and what to say when they cannot be."""

from __future__ import annotations

import errno
import hashlib
import itertools
import os
import re
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from alphaswarm_assets.errors import StoreError
from alphaswarm_resources.processes import ProcessIdentity, this_process

_OUT_OF_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_OUT_OF_SPACE_TEXTS = ("no space left", "disk is full", "quota exceeded", "file too large")
_NEARLY_FULL_BYTES = 1 << 20
_DAY_S = 86_400
_numbers = itertools.count()


def file_name(key: str, suffix: str) -> str:
    """Return the name of the file that stands for *key*: the key where it can be one, else with its digest.

    Distinct keys have distinct names, also on a filesystem that ignores case.
    """
    plain = re.sub(r"[^a-z0-9_-]", "_", key)[:60]
    if plain == key and key:
        return plain + suffix
    return f"{plain}.{hashlib.sha256(key.encode()).hexdigest()[:24]}{suffix}"


def make_folder(folder: Path) -> None:
    """Make *folder* and what is missing above it, durably."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in *folder* survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_new(path: Path, data: bytes) -> None:
    """Write *data* to the new file *path* and wait until it is on the disk; on failure there is no such file."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def is_out_of_space(error: BaseException) -> bool:
    """Return whether *error*, or one it came from, says that the disk is full."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, OSError) and seen.errno in _OUT_OF_SPACE:
            return True
        if any(text in str(seen).lower() for text in _OUT_OF_SPACE_TEXTS):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


def what_to_do(store: str, folder: Path, error: BaseException) -> str:
    """Return what to tell when *store* in *folder* failed with *error*: what happened and what to do."""
    free = _free_bytes(folder)
    # SQLite says only this much when a page of its journal finds no place.
    vague = "disk i/o error" in str(error).lower() and free < _NEARLY_FULL_BYTES
    if vague or is_out_of_space(error):
        return (
            f"{store} in {folder} could not be written: the disk is full or over quota, {free} bytes are free. "
            "Free some space and run the same command again; nothing half-written was kept."
        )
    told = str(error).partition("\n")[0]
    return (
        f"{store} in {folder} could not be used: {type(error).__name__}: {told}. "
        "Check that the folder is there and yours to read and write, then run the same command again."
    )


@contextmanager
def storing(store: str, folder: Path) -> Generator[None]:
    """Name *store* and *folder*, and say what to do, when the work inside fails with an `OSError`.

    Raises
    ------
    StoreError
        In place of any other `OSError`.
    """
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(what_to_do(store, folder, error)) from error


class Scratch:
    """A folder for what is not whole yet, on the filesystem of the store it serves.

    A name in it tells which process writes there, so that what a killed process left can be told from what a living
    one is writing. Nothing is ever read from here.
    """

    def __init__(self, folder: Path) -> None:
        """Use *folder*, which is made when it is needed, and sweep out what dead processes left in it."""
        self._folder = folder
        self.sweep()

    def replace(self, target: Path, data: bytes, *, durable: bool = True) -> None:
        """Make *target* hold *data*, whole, in place of what it held; unless *durable*, a power cut may undo it."""
        with self.path() as temporary:
            if durable:
                write_new(temporary, data)
            else:
                temporary.write_bytes(data)
            make_folder(target.parent)
            temporary.replace(target)
        if durable:
            sync_folder(target.parent)

    def create(self, target: Path, data: bytes) -> bool:
        """Make *target* hold *data*, whole, unless it is there already; return whether it was made."""
        with self.path() as temporary:
            write_new(temporary, data)
            make_folder(target.parent)
            try:
                os.link(temporary, target)
            except FileExistsError:
                return False
        sync_folder(target.parent)
        return True

    @contextmanager
    def path(self) -> Generator[Path]:
        """Offer a path to write to and move away; what is still there at the end is removed.

        Yields
        ------
        Path
            Where nothing is yet.
        """
        make_folder(self._folder)
        me = this_process()
        path = self._folder / f"{me.host}~{me.pid}~{me.start_ticks}~{next(_numbers)}"
        try:
            yield path
        finally:
            _remove(path)

    def sweep(self) -> None:
        """Remove what processes that are gone have left; of another host's, what is older than a day."""
        with suppress(FileNotFoundError):
            for path in sorted(self._folder.iterdir()):
                if not self._is_in_use(path):
                    _remove(path)

    def _is_in_use(self, path: Path) -> bool:
        host, *numbers = path.name.split("~")
        if len(numbers) != 3 or not all(number.isdigit() for number in numbers):
            return False
        owner = ProcessIdentity(host=host, pid=int(numbers[0]), start_ticks=int(numbers[1]))
        return owner.may_live() and (owner.host == this_process().host or self._is_young(path))

    def _is_young(self, path: Path) -> bool:
        # The clock that dated the file is the filesystem's, which need not be this machine's.
        with self.path() as probe:
            probe.touch()
            now_s = probe.stat().st_mtime
        with suppress(FileNotFoundError):
            return now_s - path.stat().st_mtime < _DAY_S
        return True


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        path.unlink(missing_ok=True)


def _free_bytes(folder: Path) -> int:
    present = next(place for place in (folder, *folder.absolute().parents) if place.is_dir())
    return shutil.disk_usage(present).free
