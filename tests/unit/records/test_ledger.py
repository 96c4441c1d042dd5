from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from alphaswarm_assets.errors import LedgerError
from alphaswarm_assets.records.canonical import digest_json
from alphaswarm_assets.records.ledger import GENESIS, Row, following, verify


def _written(n: int = 4) -> list[dict[str, object]]:
    rows: list[Row] = []
    for i in range(n):
        rows.append(following(rows[-1] if rows else None, {"decision": "REJECT", "n": i}))
    return [json.loads(json.dumps(row.to_json())) for row in rows]


def test_a_chain_as_it_was_written_holds() -> None:
    rows = verify(_written(), name="promotions")
    assert [row.index for row in rows] == [0, 1, 2, 3]
    assert rows[0].previous == GENESIS
    assert [row.previous for row in rows[1:]] == [row.digest for row in rows[:-1]]
    assert verify([], name="promotions") == []


def test_the_digest_covers_index_link_and_body() -> None:
    row = following(None, {"a": 1})
    assert row.digest == digest_json({"index": 0, "previous": GENESIS, "body": {"a": 1}})


@pytest.mark.parametrize("at", [0, 1, 3])
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("index", 7),
        ("index", True),
        ("index", None),
        ("previous", "f" * 64),
        ("body", {"decision": "PASS", "n": 1}),
        ("body", {"decision": float("nan")}),
        ("body", None),
        ("body", []),
        ("digest", "f" * 64),
        ("note", "a field no digest covers"),
    ],
    ids=str,
)
def test_a_changed_field_breaks_the_chain_at_its_row(at: int, field: str, value: Any) -> None:
    raw = _written()
    raw[at][field] = value
    with pytest.raises(LedgerError, match=f"'promotions' is broken at row {at}"):
        verify(raw, name="promotions")


@pytest.mark.parametrize("field", ["index", "previous", "body", "digest"])
def test_a_missing_field_breaks_the_chain(field: str) -> None:
    raw = _written()
    del raw[2][field]
    with pytest.raises(LedgerError, match="broken at row 2"):
        verify(raw, name="promotions")


def test_a_body_changed_together_with_its_digest_breaks_the_next_link() -> None:
    raw = _written()
    body = {"decision": "PASS", "n": 1}
    raw[1] |= {
        "body": body,
        "digest": digest_json({"index": 1, "previous": raw[1]["previous"], "body": body}),
    }
    with pytest.raises(LedgerError, match="broken at row 2"):
        verify(raw, name="promotions")


def test_a_row_taken_out_swapped_repeated_or_put_in_is_seen() -> None:
    whole = _written()
    for at, raw in [
        (0, whole[1:]),
        (1, [whole[0], *whole[2:]]),
        (1, [whole[0], whole[2], whole[1], whole[3]]),
        (2, [*whole[:2], whole[1], *whole[2:]]),
    ]:
        with pytest.raises(LedgerError, match=f"broken at row {at}"):
            verify(copy.deepcopy(raw), name="promotions")


def test_rows_cut_off_at_the_end_leave_a_chain_that_holds() -> None:
    # The chain alone cannot see this; whoever must notice keeps the last digest elsewhere.
    whole = _written()
    assert verify(whole[:2], name="promotions")[-1].digest == whole[1]["digest"]
