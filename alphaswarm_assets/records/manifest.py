"""Manifests: what an artifact is, what it was made from, and under which circumstances.

The *content* is what the same spec gives anywhere on one platform; its digest is the artifact's identity. The
*envelope* holds what differs between two equal runs (times, ids, versions, device, expiry) and is hashed apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from alphaswarm_assets.errors import StaleArtifactError
from alphaswarm_assets.records.canonical import JsonObject, digest_bytes, digest_json

SCHEMA = "alphaswarm.artifact/1"
"""Changes whenever the meaning of a manifest's fields does."""

_FIELDS = frozenset({"schema", "kind", "spec_hash", "inputs", "seed", "facts", "files"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """The part of a manifest that the same spec reproduces byte for byte."""

    kind: str
    """``dataset``, ``checkpoint``, ``report`` … one word a kind."""
    spec_hash: str | None
    """SHA-256 of the spec; None for what no spec owns (bronze, silver, gold)."""
    inputs: Mapping[str, str] = field(default_factory=dict[str, str])
    """Content digests of what this was made from, by role."""
    seed: int | None = None
    facts: JsonObject = field(default_factory=JsonObject)
    """Small JSON a consumer reads without opening a file."""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """SHA-256 of each file, by its name inside the artifact."""

    def to_json(self) -> JsonObject:
        """Return the content as JSON; its canonical form is what the digest covers."""
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "spec_hash": self.spec_hash,
            "inputs": dict(self.inputs),
            "seed": self.seed,
            "facts": self.facts,
            "files": dict(self.files),
        }

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical content: the artifact's identity."""
        return digest_json(self.to_json())

    @classmethod
    def from_json(cls, raw: Mapping[str, object]) -> Content:
        """Rebuild what `to_json` wrote.

        Raises
        ------
        StaleArtifactError
            If *raw* was written under another schema, or its fields are not those of this one.
        """
        if raw.get("schema") != SCHEMA:
            raise StaleArtifactError(
                f"manifest schema must be {SCHEMA!r}, was {raw.get('schema')!r}"
            )
        if frozenset(raw) != _FIELDS:
            raise StaleArtifactError(
                f"a manifest has the fields {sorted(_FIELDS)}, was {sorted(raw)}; it was edited or cut short"
            )
        return cls(
            kind=cast("str", raw["kind"]),
            spec_hash=cast("str | None", raw["spec_hash"]),
            inputs=cast("dict[str, str]", raw["inputs"]),
            seed=cast("int | None", raw["seed"]),
            facts=cast("JsonObject", raw["facts"]),
            files=cast("dict[str, str]", raw["files"]),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Artifact:
    """A whole artifact in memory: its content manifest, its envelope and the bytes of its files."""

    content: Content
    envelope: JsonObject
    payload: Mapping[str, bytes]

    @property
    def digest(self) -> str:
        """The content digest."""
        return self.content.digest


def pack(
    *,
    kind: str,
    spec_hash: str | None,
    payload: Mapping[str, bytes],
    inputs: Mapping[str, str] | None = None,
    seed: int | None = None,
    facts: JsonObject | None = None,
    envelope: JsonObject | None = None,
) -> Artifact:
    """Make an artifact of *payload*, hashing every file."""
    content = Content(
        kind=kind,
        spec_hash=spec_hash,
        inputs=dict(inputs or {}),
        seed=seed,
        facts=facts or {},
        files={name: digest_bytes(data) for name, data in sorted(payload.items())},
    )
    return Artifact(content=content, envelope=envelope or {}, payload=dict(payload))


def newest(envelopes: Sequence[JsonObject]) -> JsonObject:
    """Return the envelope that was made last; equal content that is made again keeps its digest and has a new one."""
    return max(envelopes, key=lambda envelope: str(envelope.get("made_at", "")))
