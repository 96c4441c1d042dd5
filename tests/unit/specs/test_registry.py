from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from alphaswarm_assets.errors import InvalidInputError, InvalidSpecError, LedgerError
from alphaswarm_assets.records.canonical import JsonObject
from alphaswarm_assets.records.ledger import Row, following, verify
from alphaswarm_assets.specs.loading import validate_spec
from alphaswarm_assets.specs.registry import SpecRegistry
from alphaswarm_assets.specs.research import ResearchSpec


@dataclass
class MemoryLedger:
    """Rows as they would lie on disk."""

    raw: list[dict[str, Any]] = field(default_factory=list)

    def append(self, body: JsonObject) -> Row:
        rows = self.rows()
        row = following(rows[-1] if rows else None, body)
        self.raw.append(dict(row.to_json()))
        return row

    def rows(self) -> list[Row]:
        return verify(self.raw, name="specs")


def _spec(name: str = "study", seed: int = 7) -> ResearchSpec:
    raw = {"name": name, "training": {"seed": seed, "total_timesteps": 1000}}
    return validate_spec(raw, source="test")


@pytest.fixture
def ledger() -> MemoryLedger:
    return MemoryLedger()


@pytest.fixture
def registry(ledger: MemoryLedger) -> SpecRegistry:
    return SpecRegistry(ledger)


def test_registering_twice_adds_one_row(registry: SpecRegistry, ledger: MemoryLedger) -> None:
    assert registry.register(_spec()) is True
    assert registry.register(_spec()) is False
    assert len(ledger.raw) == 1
    assert registry.get(_spec().key) == _spec()


def test_keys_are_listed_oldest_first(registry: SpecRegistry) -> None:
    specs = [_spec("b"), _spec("a"), _spec("b", seed=8)]
    for spec in specs:
        registry.register(spec)
    assert registry.keys() == [spec.key for spec in specs]


def test_another_content_under_a_key_is_refused(
    registry: SpecRegistry, ledger: MemoryLedger
) -> None:
    spec = _spec()
    ledger.append({"key": spec.key, "hash": "f" * 64, "spec": spec.canonical()})
    with pytest.raises(InvalidSpecError, match=f"already stands for hash {'f' * 64}.*another name"):
        registry.register(spec)
    assert len(ledger.raw) == 1


def test_two_contents_on_one_key_in_the_ledger_are_seen(
    registry: SpecRegistry, ledger: MemoryLedger
) -> None:
    registry.register(_spec())
    ledger.append({"key": _spec().key, "hash": "f" * 64, "spec": _spec(seed=8).canonical()})
    for read in (
        registry.keys,
        lambda: registry.get(_spec().key),
        lambda: registry.register(_spec()),
    ):
        with pytest.raises(LedgerError, match="stands for two specs"):
            read()


def test_an_unknown_key_gets_a_suggestion(registry: SpecRegistry) -> None:
    registry.register(_spec())
    wrong = _spec().key.replace("study", "stduy")
    with pytest.raises(
        InvalidSpecError, match=f"is not registered \\(did you mean '{_spec().key}'"
    ):
        registry.get(wrong)


def test_an_unknown_key_in_an_empty_registry_says_what_to_do(registry: SpecRegistry) -> None:
    with pytest.raises(InvalidSpecError, match="alphaswarm spec register FILE"):
        registry.get(_spec().key)


def test_a_row_edited_in_place_is_seen(registry: SpecRegistry, ledger: MemoryLedger) -> None:
    registry.register(_spec())
    ledger.raw[0]["body"] = ledger.raw[0]["body"] | {"spec": _spec(seed=8).canonical()}
    with pytest.raises(LedgerError, match="'specs' is broken at row 0"):
        registry.get(_spec().key)


@pytest.mark.parametrize(
    "forge",
    [
        lambda spec: {
            "key": spec.key,
            "hash": spec.snapshot_hash(),
            "spec": _spec(seed=8).canonical(),
        },
        lambda spec: {
            "key": spec.key,
            "hash": _spec(seed=8).snapshot_hash(),
            "spec": _spec(seed=8).canonical(),
        },
        lambda spec: {"key": spec.key, "hash": spec.snapshot_hash(), "spec": {"name": "study"}},
        lambda spec: {"key": spec.key, "hash": spec.snapshot_hash(), "spec": ["no", "mapping"]},
    ],
    ids=["another spec", "another spec with its hash", "half a spec", "no spec"],
)
def test_a_forged_row_with_a_valid_chain_is_refused_on_reading(
    registry: SpecRegistry, ledger: MemoryLedger, forge: Callable[[ResearchSpec], JsonObject]
) -> None:
    ledger.append(forge(_spec()))
    with pytest.raises(InvalidSpecError):
        registry.get(_spec().key)


def test_a_row_that_is_no_registration_is_refused(
    registry: SpecRegistry, ledger: MemoryLedger
) -> None:
    ledger.append({"decision": "PASS"})
    with pytest.raises(
        LedgerError, match=r"row 0 is no registered spec, it lacks \['hash', 'key', 'spec'\]"
    ):
        registry.keys()


def test_what_is_no_key_is_never_looked_up_as_one(registry: SpecRegistry) -> None:
    with pytest.raises((InvalidSpecError, InvalidInputError)):
        registry.get("f0|study")
