"""What always holds for records: canonical JSON is one text a value, and a ledger shows where it was touched."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alphaswarm_assets.errors import InvalidInputError, LedgerError
from alphaswarm_assets.records.canonical import canonical_json, digest_json, pretty_json
from alphaswarm_assets.records.ledger import Row, following, verify
from alphaswarm_assets.records.manifest import Content, pack

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)
BODIES: st.SearchStrategy[dict[str, Any]] = st.dictionaries(st.text(), JSON, max_size=3)


def _typed(value: Any) -> Any:
    """Return *value* so that 1, 1.0, True and -0.0 differ, and lists and dicts compare by what they hold."""
    if isinstance(value, dict):
        return {key: _typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_typed(item) for item in value]
    return (type(value).__name__, repr(value))


@given(JSON)
def test_canonical_json_reads_back_to_the_same_value(value: Any) -> None:
    assert _typed(json.loads(canonical_json(value))) == _typed(value)
    assert _typed(json.loads(pretty_json(value))) == _typed(value)
    assert canonical_json(value).isascii()


@given(JSON, JSON)
def test_two_values_have_one_text_only_if_they_are_equal(one: Any, other: Any) -> None:
    assert (canonical_json(one) == canonical_json(other)) == (_typed(one) == _typed(other))


@settings(max_examples=50)
@given(st.dictionaries(st.text(), JSON, min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_the_order_keys_were_written_in_never_matters(record: dict[str, Any], random: Any) -> None:
    keys = list(record)
    random.shuffle(keys)
    assert digest_json({key: record[key] for key in keys}) == digest_json(record)


@given(
    JSON,
    st.sampled_from([float("nan"), float("inf"), b"x", {1}, {2: 3}, object()]),
    st.integers(0, 5),
)
def test_a_value_without_a_form_is_refused_however_deep_it_lies(
    value: Any, bad: Any, depth: int
) -> None:
    record: Any = bad
    for _ in range(depth):
        record = {"a": value, "b": [value, record]}
    path = r"\$" + r"\.b\[1\]" * depth
    with pytest.raises(InvalidInputError, match=path):
        canonical_json(record)


@st.composite
def _ledgers(draw: st.DrawFn, min_size: int = 1) -> list[dict[str, Any]]:
    rows: list[Row] = []
    for body in draw(st.lists(BODIES, min_size=min_size, max_size=5)):
        rows.append(following(rows[-1] if rows else None, body))
    return [json.loads(canonical_json(row.to_json())) for row in rows]


@settings(max_examples=50)
@given(_ledgers())
def test_a_chain_as_it_was_written_always_holds(raw: list[dict[str, Any]]) -> None:
    rows = verify(raw, name="any")
    assert [row.to_json() for row in rows] == raw


@settings(max_examples=50)
@given(_ledgers(), st.data())
def test_a_changed_value_anywhere_breaks_the_chain_there_or_at_once_after(
    raw: list[dict[str, Any]], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(raw) - 1))
    field = data.draw(st.sampled_from(["index", "previous", "body", "digest"]))
    value = data.draw(JSON.filter(lambda v: _typed(v) != _typed(raw[at][field])))
    touched = copy.deepcopy(raw)
    touched[at][field] = value
    with pytest.raises(LedgerError, match=f"broken at row {at}"):
        verify(touched, name="any")


@settings(max_examples=50)
@given(_ledgers(min_size=2), st.data())
def test_rows_taken_out_before_the_last_or_swapped_break_the_chain(
    raw: list[dict[str, Any]], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(raw) - 2))
    with pytest.raises(LedgerError, match=f"broken at row {at}"):
        verify(raw[:at] + raw[at + 1 :], name="any")
    swapped = [*raw[:at], raw[at + 1], raw[at], *raw[at + 2 :]]
    with pytest.raises(LedgerError, match=f"broken at row {at}"):
        verify(swapped, name="any")


@given(st.dictionaries(st.text(min_size=1), st.binary(max_size=8), max_size=4), BODIES, BODIES)
def test_a_manifest_reads_back_and_no_envelope_moves_it(
    payload: dict[str, bytes], facts: dict[str, Any], envelope: dict[str, Any]
) -> None:
    artifact = pack(kind="any", spec_hash=None, payload=payload, facts=facts, envelope=envelope)
    assert artifact.digest == pack(kind="any", spec_hash=None, payload=payload, facts=facts).digest
    back = Content.from_json(json.loads(canonical_json(artifact.content.to_json())))
    assert back.digest == artifact.digest
