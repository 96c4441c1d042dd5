"""A hash-chained ledger as a file of JSON lines, appended to under a lock and read only after verifying the chain."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias, cast

from alphaswarm_assets.errors import LedgerError
from alphaswarm_assets.records.canonical import JsonObject, canonical_json
from alphaswarm_assets.records.ledger import Ledger, Row, following, verify
from alphaswarm_resources.durable import make_folder, storing, sync_folder, write_new

_BLOCK = 1 << 16
_State: TypeAlias = tuple[int, int, int, int]


class JsonlLedger(Ledger):
    """One ledger in one file; processes take turns by a lock on the file."""

    def __init__(self, path: Path) -> None:
        """Use the ledger in *path*; the file is made by the first append."""
        self._path = path
        self._read: tuple[_State, list[Row]] | None = None

    def append(self, body: JsonObject) -> Row:
        """Write *body* as the next row, durably, and return the row.

        What a crash left of a row that was never whole is moved to ``<name>.torn-<n>`` first.

        Raises
        ------
        LedgerError
            If the last row is not what was written.
        InvalidInputError
            If *body* has no JSON form.
        StoreError
            If the row cannot be written; the file keeps the rows it had.
        """
        with (
            storing("ledger", self._path),
            self._locked(os.O_RDWR | os.O_CREAT, fcntl.LOCK_EX) as file,
        ):
            self._set_torn_row_aside(file)
            row = following(self._last(file), body)
            _write_at_end(file, _line(row))
        return row

    def rows(self) -> list[Row]:
        """Return every row after verifying the chain; a last row that was never whole does not count.

        Raises
        ------
        LedgerError
            At the first row that is not what was written.
        StoreError
            If the file cannot be read.
        """
        with storing("ledger", self._path):
            if not self._path.exists():
                return []
            with self._locked(os.O_RDONLY, fcntl.LOCK_SH) as file:
                return list(self._verified(file))

    @contextmanager
    def _locked(self, flags: int, lock: int) -> Generator[int]:
        made = not self._path.exists()
        make_folder(self._path.parent)
        file = os.open(self._path, flags | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(file, lock)
            if made:
                sync_folder(self._path.parent)
            yield file
        finally:
            os.close(file)

    def _verified(self, file: int) -> list[Row]:
        status = os.fstat(file)
        state = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        if self._read is None or self._read[0] != state:
            whole, _, _ = os.pread(file, status.st_size, 0).rpartition(b"\n")
            lines = whole.split(b"\n") if whole else []
            raw_rows = [self._parse(line, n) for n, line in enumerate(lines)]
            self._read = state, verify(raw_rows, name=str(self._path))
        return self._read[1]

    def _last(self, file: int) -> Row | None:
        # The last row alone, so that an append costs the same however long the ledger is.
        start, tail = os.fstat(file).st_size, b""
        if start == 0:
            return None
        while start > 0 and b"\n" not in tail[:-1]:
            size = min(_BLOCK, start)
            start -= size
            tail = os.pread(file, size, start) + tail
        raw = self._parse(tail[:-1].rpartition(b"\n")[2], None)
        return _row(raw)

    def _parse(self, line: bytes, position: int | None) -> dict[str, object]:
        try:
            raw = cast("dict[str, object]", json.loads(line))
            whole = _line(_row(raw)) == line + b"\n"
        except (ValueError, AttributeError):
            raw, whole = {}, False
        if not whole:
            where = "at its end" if position is None else f"at row {position}"
            raise LedgerError(
                f"ledger {str(self._path)!r} is broken {where}: {line[:60]!r} is not a row as it was written. "
                "Restore the file from a copy; do not edit it."
            )
        return raw

    def _set_torn_row_aside(self, file: int) -> None:
        end = os.fstat(file).st_size
        if end == 0 or os.pread(file, 1, end - 1) == b"\n":
            return
        whole, newline, torn = os.pread(file, end, 0).rpartition(b"\n")
        names = (self._path.with_name(f"{self._path.name}.torn-{n}") for n in range(1, 10_000))
        write_new(next(path for path in names if not path.exists()), torn)
        sync_folder(self._path.parent)
        os.ftruncate(file, len(whole + newline))
        os.fsync(file)


def _row(raw: dict[str, object]) -> Row:
    return Row(
        index=cast("int", raw.get("index")),
        previous=cast("str", raw.get("previous")),
        body=cast("JsonObject", raw.get("body")),
    )


def _line(row: Row) -> bytes:
    return canonical_json(row.to_json()).encode() + b"\n"


def _write_at_end(file: int, data: bytes) -> None:
    end = os.fstat(file).st_size
    try:
        written = 0
        while written < len(data):
            written += os.pwrite(file, data[written:], end + written)
        os.fsync(file)
    except BaseException:
        with suppress(OSError):
            os.ftruncate(file, end)
        raise
