from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from alphaswarm_assets.drive.verdicts import verdict_of
from alphaswarm_assets.ports import Artifacts
from alphaswarm_assets.records.canonical import JsonObject
from alphaswarm_assets.records.manifest import Artifact, Content, pack
from tests.unit.drive.conftest import World

METRICS = {
    "ensemble": {"sharpe": {"value": 0.4, "reason": None}},
    "do_nothing": {"sharpe": {"value": None, "reason": "no spread"}},
    "1": {"sharpe": {"value": 0.3, "reason": None}},
}


@dataclass
class Shelf:
    """Artifacts by digest."""

    held: dict[str, Artifact] = field(default_factory=dict)

    def get(self, digest: str) -> Artifact:
        return self.held[digest]

    def manifest(self, digest: str) -> Content:
        return self.held[digest].content

    def envelopes(self, digest: str) -> list[JsonObject]:
        return [self.held[digest].envelope]

    def keep(self, world: World, asset: str, facts: dict[str, Any], **more: Any) -> str:
        """Store an artifact and record it as the latest materialisation of *asset*."""
        artifact = pack(kind=asset, spec_hash=None, payload={}, facts=facts, **more)
        self.held[artifact.digest] = artifact
        pin = world.materialise(asset, world.spec.key, "memo")
        world.pins[asset, world.spec.key] = replace(pin, data_version=f"sha256:{artifact.digest}")
        return artifact.digest


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def _judge(world: World, shelf: Shelf, summary: str) -> str:
    facts = {
        "decision": "REJECT",
        "reasons": ["min_sharpe"],
        "outcomes": [{"check": "min_sharpe", "passed": False}],
    }
    return shelf.keep(world, "promotion_verdict", facts, inputs={"evaluation_summary": summary})


def test_a_spec_that_was_never_judged_has_no_verdict(world: World, shelf: Shelf) -> None:
    assert verdict_of(world.spec, world, cast("Artifacts", shelf)) is None


def test_a_verdict_is_read_with_its_evidence_beside_the_baselines(
    world: World, shelf: Shelf
) -> None:
    digest = _judge(world, shelf, shelf.keep(world, "evaluation_summary", {"metrics": METRICS}))
    view = verdict_of(world.spec, world, cast("Artifacts", shelf))
    assert view is not None
    assert (view.key, view.decision, view.digest) == (world.spec.key, "REJECT", digest)
    assert view.reasons == ["min_sharpe"]
    assert view.outcomes == [{"check": "min_sharpe", "passed": False}]
    assert view.metrics == {"ensemble": {"sharpe": 0.4}, "do_nothing": {"sharpe": None}}
    assert view.current
    assert view.pack is None


def test_a_verdict_on_older_evidence_says_so_and_keeps_its_numbers(
    world: World, shelf: Shelf
) -> None:
    _judge(world, shelf, shelf.keep(world, "evaluation_summary", {"metrics": METRICS}))
    shelf.keep(world, "evaluation_summary", {"metrics": {}})
    view = verdict_of(world.spec, world, cast("Artifacts", shelf))
    assert view is not None
    assert not view.current
    assert view.metrics["ensemble"] == {"sharpe": 0.4}


def test_a_pack_is_shown_with_the_verdict_it_was_made_for_and_no_other(
    world: World, shelf: Shelf
) -> None:
    summary = shelf.keep(world, "evaluation_summary", {"metrics": METRICS})
    verdict = _judge(world, shelf, summary)
    envelope = {"approval_expiry": "2027-01-01T00:00:00+00:00"}
    shelf.keep(
        world,
        "paper_pack",
        {"status": "ok"},
        inputs={"promotion_verdict": verdict},
        envelope=envelope,
    )
    view = verdict_of(world.spec, world, cast("Artifacts", shelf))
    assert view is not None
    assert view.pack == {"status": "ok", **envelope}
    shelf.keep(world, "paper_pack", {"status": "ok"}, inputs={"promotion_verdict": "0" * 64})
    view = verdict_of(world.spec, world, cast("Artifacts", shelf))
    assert view is not None
    assert view.pack is None
