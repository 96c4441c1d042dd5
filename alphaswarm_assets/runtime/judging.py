"""Judge a study: evidence in, verdict out, recorded where it outlives the orchestrator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from alphaswarm_assets.gates.board import judge
from alphaswarm_assets.gates.evidence import Evidence, Reading
from alphaswarm_assets.records.canonical import JsonObject
from alphaswarm_assets.records.manifest import Artifact, pack
from alphaswarm_assets.runtime.workbench import RunContext, Workbench, record_run
from alphaswarm_assets.specs.research import ResearchSpec


def judge_study(
    bench: Workbench, spec: ResearchSpec, *, summary: str, stale: Sequence[str], run: RunContext
) -> str:
    """Store the verdict on *spec* and return its digest; a REJECT is a result like any other.

    Parameters
    ----------
    summary : str
        Digest of the evidence.
    stale : sequence of str
        What the evidence was made from and has been remade since, a sentence each.
    """
    held = bench.artifacts.get(summary)
    evidence = evidence_of(held, stale)
    verdict = judge(spec.promotion, evidence)
    checkpoint = cast("str | None", held.content.facts["promoted_checkpoint"])
    inputs = {"evaluation_summary": summary}
    if checkpoint is not None:
        inputs["trained_checkpoint"] = checkpoint
    artifact = pack(
        kind="verdict",
        spec_hash=spec.snapshot_hash(),
        payload={},
        inputs=inputs,
        facts={
            **verdict.to_json(),
            "evidence": evidence.to_json(),
            "promotion": spec.canonical().get("promotion"),
        },
        envelope=run.envelope(bench),
    )
    digest = bench.artifacts.put(artifact)
    bench.promotions.append(
        {
            "event": "judged",
            "spec_key": spec.key,
            "spec_hash": spec.snapshot_hash(),
            "decision": verdict.decision,
            "verdict": digest,
            "evidence": summary,
            "checkpoint": checkpoint,
            "run_id": run.run_id,
            "at": bench.clock.now().isoformat(),
        }
    )
    record_run(
        bench,
        run,
        spec,
        target="judge",
        status="completed",
        result_summary={"promotion": {"verdict": digest, **verdict.to_json()}},
    )
    return digest


def evidence_of(summary: Artifact, stale: Sequence[str]) -> Evidence:
    """Return what the gates look at, read from the evidence artifact *summary*."""
    facts = cast("Mapping[str, Any]", summary.content.facts)
    expected, present = tuple(facts["folds_expected"]), tuple(facts["folds_present"])
    if not present:
        return Evidence(folds_expected=expected, folds_present=present, stale=tuple(stale))
    aggregate = facts["aggregate"]
    return Evidence(
        n_seeds=facts["n_seeds"],
        n_distinct_seeds=facts["n_distinct_seeds"],
        sharpe=_of_aggregate(aggregate["sharpe"], "point", unit="annual"),
        total_return_ci_lo=_of_aggregate(aggregate["total_return"], "lo", unit="fraction"),
        pbo=_reading(facts["pbo"], unit="probability"),
        dsr_probability=_reading(facts["dsr"], unit="probability"),
        folds_expected=expected,
        folds_present=present,
        stale=tuple(stale),
    )


def _of_aggregate(entry: Mapping[str, Any], field: str, *, unit: str) -> Reading:
    value = entry[field]
    reason = entry.get("reason") if value is None else None
    return Reading(value=value, reason=reason, unit=unit, scope="seeds")


def _reading(entry: JsonObject, *, unit: str) -> Reading:
    raw = cast("Mapping[str, Any]", entry)
    return Reading(value=raw["value"], reason=raw["reason"], unit=unit, scope=raw["scope"])
