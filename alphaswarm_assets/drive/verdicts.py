"""A verdict as people ask for it: the decision, its gates, the evidence beside the baselines, the paper pack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from alphaswarm_assets.drive.cells import Cell, cells_of
from alphaswarm_assets.ports import Artifacts, EventLog
from alphaswarm_assets.records.manifest import newest
from alphaswarm_assets.specs.research import ResearchSpec


@dataclass(frozen=True, kw_only=True, slots=True)
class VerdictView:
    """The latest verdict on a spec."""

    key: str
    decision: str
    """``PASS``, ``REJECT`` or ``UNGATED``."""
    outcomes: Sequence[Mapping[str, Any]]
    reasons: Sequence[str]
    digest: str
    current: bool
    """Whether it judged the evidence that is current."""
    metrics: Mapping[str, Mapping[str, float | None]]
    """Metrics of the ensemble and of every baseline, by label."""
    pack: Mapping[str, Any] | None
    """The paper pack's summary, where there is one."""


def verdict_of(spec: ResearchSpec, events: EventLog, artifacts: Artifacts) -> VerdictView | None:
    """Return the latest verdict on *spec*, or None if it was never judged."""
    cells = {cell.asset: cell for cell in cells_of(spec)}
    pin = _latest(events, cells["promotion_verdict"])
    if pin is None:
        return None
    verdict = artifacts.get(pin)
    facts = cast("Mapping[str, Any]", verdict.content.facts)
    summary = verdict.content.inputs.get("evaluation_summary")
    return VerdictView(
        key=spec.key,
        decision=facts["decision"],
        outcomes=facts["outcomes"],
        reasons=facts["reasons"],
        digest=pin,
        current=_latest(events, cells["evaluation_summary"]) == summary,
        metrics=_metrics(artifacts, summary),
        pack=_pack(events, artifacts, cells.get("paper_pack"), pin),
    )


def _latest(events: EventLog, cell: Cell) -> str | None:
    pin = events.latest(cell.asset, cell.partition)
    return pin.digest if pin is not None else None


def _metrics(artifacts: Artifacts, summary: str | None) -> dict[str, dict[str, float | None]]:
    if summary is None:
        return {}
    facts = cast("Mapping[str, Any]", artifacts.manifest(summary).facts)
    return {
        label: {name: found["value"] for name, found in metrics.items()}
        for label, metrics in facts.get("metrics", {}).items()
        if not label.isdigit()
    }


def _pack(
    events: EventLog, artifacts: Artifacts, cell: Cell | None, verdict: str
) -> Mapping[str, Any] | None:
    digest = _latest(events, cell) if cell is not None else None
    if digest is None:
        return None
    pack = artifacts.get(digest)
    if pack.content.inputs["promotion_verdict"] != verdict:
        return None
    return {
        **pack.content.facts,
        "approval_expiry": newest(artifacts.envelopes(digest)).get("approval_expiry"),
    }
