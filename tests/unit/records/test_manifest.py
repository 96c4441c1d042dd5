from __future__ import annotations

import json
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from alphaswarm_assets.errors import StaleArtifactError
from alphaswarm_assets.records.canonical import canonical_json, digest_bytes
from alphaswarm_assets.records.manifest import SCHEMA, Artifact, Content, pack


def _artifact(**changes: Any) -> Artifact:
    given: dict[str, Any] = {
        "kind": "checkpoint",
        "spec_hash": "a" * 64,
        "payload": {"policy.json": b"{}", "policy.safetensors": b"\x00\x01"},
        "inputs": {"research_dataset": "b" * 64},
        "seed": 7,
        "facts": {"steps": 1024},
        "envelope": {"run_id": "r1"},
    }
    return pack(**(given | changes))


def test_every_file_is_hashed_under_its_name() -> None:
    assert _artifact().content.files == {
        "policy.json": digest_bytes(b"{}"),
        "policy.safetensors": digest_bytes(b"\x00\x01"),
    }


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "report"},
        {"spec_hash": "c" * 64},
        {"spec_hash": None},
        {"payload": {"policy.json": b"{}", "policy.safetensors": b"\x00\x02"}},
        {"payload": {"policy.json": b"{}", "other.safetensors": b"\x00\x01"}},
        {"inputs": {"research_dataset": "d" * 64}},
        {"inputs": {"dataset": "b" * 64}},
        {"seed": 8},
        {"seed": None},
        {"facts": {"steps": 1025}},
    ],
    ids=str,
)
def test_whatever_is_content_moves_the_digest(change: dict[str, Any]) -> None:
    assert _artifact(**change).digest != _artifact().digest


def test_the_envelope_and_the_order_of_names_do_not_move_the_digest() -> None:
    reordered = {"policy.safetensors": b"\x00\x01", "policy.json": b"{}"}
    assert _artifact(payload=reordered, envelope={"run_id": "r2"}).digest == _artifact().digest


def test_the_digest_of_a_manifest_never_moves() -> None:
    # Written out by hand: what stands here is what lies in stores already.
    expected = (
        '{"facts":{},"files":{"a.txt":"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"},'
        '"inputs":{},"kind":"report","schema":"alphaswarm.artifact/1","seed":null,"spec_hash":null}'
    )
    artifact = pack(kind="report", spec_hash=None, payload={"a.txt": b"a"})
    assert canonical_json(artifact.content.to_json()) == expected
    assert artifact.digest == digest_bytes(expected.encode())


def test_content_reads_back_with_the_same_digest() -> None:
    content = _artifact(facts=MappingProxyType({"nested": {"x": [1, None, "é"]}})).content
    back = Content.from_json(json.loads(canonical_json(content.to_json())))
    assert back.digest == content.digest
    assert back.facts["nested"] == {"x": [1, None, "é"]}


def test_another_schema_or_other_fields_are_refused() -> None:
    raw = _artifact().content.to_json()
    with pytest.raises(
        StaleArtifactError, match=r"schema must be 'alphaswarm.artifact/1', was 'x'"
    ):
        Content.from_json(raw | {"schema": "x"})
    with pytest.raises(StaleArtifactError, match="was None"):
        Content.from_json({})
    for broken in ({k: v for k, v in raw.items() if k != "facts"}, raw | {"note": 1}):
        with pytest.raises(StaleArtifactError, match="edited or cut short"):
            Content.from_json(broken)


def test_the_payload_of_an_artifact_is_its_own_copy() -> None:
    payload = {"a": b"1"}
    artifact = pack(kind="report", spec_hash=None, payload=payload)
    payload["a"] = b"2"
    assert artifact.payload["a"] == b"1"
    assert replace(artifact, envelope={}).digest == artifact.digest
    assert artifact.content.to_json()["schema"] == SCHEMA
