"""Hash-chained rows: the arithmetic of an append-only ledger, without the file it stands in.

Row *n* carries the digest of row *n-1*, so a row that is changed, moved or taken out from before another breaks the
chain at a place that can be named. Rows cut off at the end leave a shorter chain that holds: whoever must notice
keeps the digest of the last row elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, cast

from alphaswarm_assets.errors import InvalidInputError, LedgerError
from alphaswarm_assets.records.canonical import JsonObject, digest_json

GENESIS = "0" * 64
"""What the first row names as the row before it."""

_FIELDS = frozenset({"index", "previous", "body", "digest"})


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
        return {
            "index": self.index,
            "previous": self.previous,
            "body": self.body,
            "digest": self.digest,
        }


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
        At the first row whose fields, index, link or digest are not what was written.
    """
    rows: list[Row] = []
    link = GENESIS
    for position, raw in enumerate(raw_rows):
        row = _row_at(position, link, raw)
        if row is None:
            raise LedgerError(
                f"ledger {name!r} is broken at row {position}: its index, its link to the row before or its digest "
                "is not what was written. Restore the file from a copy; do not edit it."
            )
        rows.append(row)
        link = cast("str", raw["digest"])
    return rows


def _row_at(position: int, link: str, raw: Mapping[str, object]) -> Row | None:
    # A field the digest does not cover could be added unseen, so the fields must be exactly these.
    body = raw.get("body")
    if frozenset(raw) != _FIELDS or not isinstance(body, dict):
        return None
    if type(raw["index"]) is not int or raw["index"] != position or raw["previous"] != link:
        return None
    row = Row(index=position, previous=link, body=cast("JsonObject", body))
    try:
        return row if row.digest == raw["digest"] else None
    except InvalidInputError:
        return None


class Ledger(Protocol):
    """An append-only, hash-chained sequence of rows."""

    def append(self, body: JsonObject) -> Row:
        """Write *body* as the next row, durably, and return the row."""
        ...

    def rows(self) -> list[Row]:
        """Return every row after verifying the chain."""
        ...
