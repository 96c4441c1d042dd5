"""The tables of the lake: names, sort orders, and the small artifact that stands for one snapshot of one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.ports import Artifacts, TablePin
from alphaswarm_assets.records.canonical import JsonObject
from alphaswarm_assets.records.manifest import Artifact, newest, pack

BRONZE, SILVER, GOLD = "bronze.bars", "silver.bars", "gold.features"

BRONZE_ORDER = ("symbol", "session", "open", "high", "low", "close", "volume", "adj_close")
"""Raw rows may repeat a key, so every column takes part in the order."""

SILVER_ORDER = GOLD_ORDER = ("symbol", "session")


def table_artifact(
    pin: TablePin,
    *,
    source: str,
    inputs: Mapping[str, str],
    facts: JsonObject,
    envelope: JsonObject,
) -> Artifact:
    """Return the artifact that stands for the rows at *pin*: their digest is content, the snapshot's id is not."""
    return pack(
        kind="table",
        spec_hash=None,
        payload={},
        inputs=inputs,
        facts={
            "table": pin.table,
            "source": source,
            "content_digest": pin.content_digest,
            "n_rows": pin.n_rows,
            **facts,
        },
        envelope={**envelope, "snapshot_id": str(pin.snapshot_id)},
    )


def table_pin(artifacts: Artifacts, digest: str) -> tuple[TablePin, str]:
    """Return the pin and the source that the table artifact *digest* stands for.

    Equal rows that were written again, after a lake was lost, have a new snapshot: the newest envelope names it.

    Raises
    ------
    InvalidInputError
        If the artifact is of another kind.
    """
    content = artifacts.manifest(digest)
    if content.kind != "table":
        raise InvalidInputError(f"expected a table artifact, was {content.kind!r}")
    envelope = newest(artifacts.envelopes(digest))
    pin = TablePin(
        table=cast("str", content.facts["table"]),
        snapshot_id=int(cast("str", envelope["snapshot_id"])),
        content_digest=cast("str", content.facts["content_digest"]),
        n_rows=cast("int", content.facts["n_rows"]),
    )
    return pin, cast("str", content.facts["source"])
