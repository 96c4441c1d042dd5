"""Hash-chained rows: the arithmetic of an append-only ledger, without the file it stands in.

Row *n* carries the digest of row *n-1*, so a row that is changed, dropped or moved breaks the chain at a place
that can be named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, cast

from alphaswarm_assets.errors import LedgerError
from alphaswarm_assets.records.canonical import JsonObject, digest_json

GENESIS = "0" * 64
"""What the first row names as the row before it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One row of a ledger."""

    index: int
    previous: str
    body: JsonObject

    @property
    def digest(self) -> str:
        """SHA-256 over index, previous digest and body."""
        return digest_json({"index": self.index, "previous": self.previous, "body": self.body})

    def to_json(self) -> JsonObject:
        """Return the row as it is written, digest included."""
        return {"index": self.index, "previous": self.previous, "body": self.body, "digest": self.digest}


def following(last: Row | None, body: JsonObject) -> Row:
    """Return the row that holds *body* and follows *last*."""
    if last is None:
        return Row(index=0, previous=GENESIS, body=body)
    return Row(index=last.index + 1, previous=last.digest, body=body)


def verify(raw_rows: Iterable[Mapping[str, object]], *, name: str) -> list[Row]:
    """Return the rows of the ledger *name* after checking every link.

    Raises
    ------
    LedgerError
        At the first row whose index, link or digest is wrong.
    """
    rows: list[Row] = []
    for position, raw in enumerate(raw_rows):
        row = Row(
            index=cast("int", raw.get("index")),
            previous=cast("str", raw.get("previous")),
            body=cast("JsonObject", raw.get("body")),
        )
        link = rows[-1].digest if rows else GENESIS
        if row.index != position or row.previous != link or row.digest != raw.get("digest"):
            raise LedgerError(
                f"ledger {name!r} is broken at row {position}: its index, its link to the row before or its digest "
                "is not what was written. Restore the file from a copy; do not edit it."
            )
        rows.append(row)
    return rows


class Ledger(Protocol):
    """An append-only, hash-chained sequence of rows."""

    def append(self, body: JsonObject) -> Row:
        """Write *body* as the next row, durably, and return the row."""
        ...

    def rows(self) -> list[Row]:
        """Return every row after verifying the chain."""
        ...
