from __future__ import annotations

import hashlib
import json
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.records.canonical import (
    canonical_json,
    digest_bytes,
    digest_json,
    pretty_json,
)


def test_keys_are_sorted_at_every_depth_and_nothing_is_spaced() -> None:
    assert (
        canonical_json({"b": 1, "a": {"d": [1, 2.5], "c": None}})
        == '{"a":{"c":null,"d":[1,2.5]},"b":1}'
    )


def test_text_is_written_in_ascii_and_reads_back() -> None:
    text = "Zürich → 東京 🐝 \x00"
    assert canonical_json(text).isascii()
    assert json.loads(canonical_json({text: text})) == {text: text}


def test_a_composed_and_a_decomposed_letter_are_two_texts() -> None:
    assert canonical_json("é") != canonical_json("e\u0301")


def test_an_integer_and_a_float_of_one_value_are_two_records() -> None:
    assert canonical_json(1) != canonical_json(1.0)
    assert canonical_json(True) == "true"


def test_the_shortest_text_that_reads_back_stands_for_a_float() -> None:
    assert canonical_json([0.1, 1e-7, 1e22, 5e-324]) == "[0.1,1e-07,1e+22,5e-324]"
    assert canonical_json(np.float64(0.1)) == "0.1"


def test_a_read_only_mapping_is_a_mapping() -> None:
    frozen = MappingProxyType({"b": MappingProxyType({"z": 1, "y": 2}), "a": 1})
    assert canonical_json(frozen) == '{"a":1,"b":{"y":2,"z":1}}'
    assert pretty_json(frozen) == pretty_json({"a": 1, "b": {"y": 2, "z": 1}})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), np.float64("nan")])
def test_a_number_that_is_not_finite_is_refused_with_its_path(value: Any) -> None:
    with pytest.raises(
        InvalidInputError, match=r"must be finite, was .* at \$\.metrics\[1\]\.sharpe"
    ):
        canonical_json({"metrics": [{}, {"sharpe": value}]})


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({1: "a"}, r"a key in a record must be a string, was 1 at \$"),
        ({"a": {None: 1}}, r"must be a string, was None at \$\.a"),
        ({"a": {1, 2}}, r"was set at \$\.a"),
        ({"a": b"bytes"}, r"was bytes at \$\.a"),
        ([np.int64(3)], r"was int64 at \$\[0\]"),
        ([np.zeros(2)], r"was ndarray at \$\[0\]"),
    ],
)
def test_what_json_has_no_form_for_is_refused_with_its_path(value: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        canonical_json(value)
    with pytest.raises(InvalidInputError, match=message):
        pretty_json(value)


def test_a_record_that_holds_itself_is_refused() -> None:
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(InvalidInputError, match="nested at most"):
        canonical_json(endless)


def test_the_digest_is_the_sha256_of_the_canonical_bytes() -> None:
    assert digest_json({"a": 1}) == hashlib.sha256(b'{"a":1}').hexdigest()
    # FIPS 180-2, appendix B.1.
    assert (
        digest_bytes(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )


def test_pretty_json_is_the_same_record_for_people() -> None:
    record = {"b": [1, 2], "a": "x"}
    assert pretty_json(record) == '{\n  "a": "x",\n  "b": [\n    1,\n    2\n  ]\n}\n'
    assert json.loads(pretty_json(record)) == record
