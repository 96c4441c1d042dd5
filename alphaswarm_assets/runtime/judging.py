"""Judge a study: evidence in, verdict out, recorded where it outlives the orchestrator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from alphaswarm_assets.errors import InvalidInputError, RefusedError
from alphaswarm_assets.gates.board import judge, preconditions
from alphaswarm_assets.gates.evidence import Evidence, Reading
from alphaswarm_assets.records.canonical import JsonObject
from alphaswarm_assets.records.manifest import Artifact, pack
from alphaswarm_assets.runtime.workbench import RunContext, Workbench, record_run
from alphaswarm_assets.specs.research import ResearchSpec

KIND = "verdict"
"""Kind of the artifact a verdict is kept as."""


def judge_study(
    bench: Workbench,
    spec: ResearchSpec,
    *,
    summary: str | None,
    stale: Sequence[str],
    run: RunContext,
) -> str:
    """Store the verdict on *spec* and return its digest; a REJECT is a result like any other.

    Parameters
    ----------
    summary : str or None
        Digest of the evidence; None where there is none, which is judged as missing.
    stale : sequence of str
        What the evidence was made from and has been remade since, a sentence each.
    """
    held = _open(bench, spec, summary) if summary is not None else None
    evidence = evidence_of(spec, held, stale)
    verdict = judge(spec.promotion, evidence)
    checkpoint = held.content.facts["promoted_checkpoint"] if held is not None else None
    artifact = pack(
        kind=KIND,
        spec_hash=spec.snapshot_hash(),
        payload={},
        inputs={
            role: digest
            for role, digest in (
                ("evaluation_summary", summary),
                ("trained_checkpoint", cast("str | None", checkpoint)),
            )
            if digest is not None
        },
        facts={
            **verdict.to_json(),
            "preconditions": [outcome.to_json() for outcome in preconditions(evidence)],
            "evidence": evidence.to_json(),
            "promotion": spec.canonical().get("promotion"),
        },
        envelope=run.envelope(bench),
    )
    digest = bench.artifacts.put(artifact)
    _note(bench, spec, digest, artifact, run)
    record_run(
        bench,
        run,
        spec,
        target="judge",
        status="completed",
        result_summary={"promotion": {"verdict": digest, **verdict.to_json()}},
    )
    return digest


def _open(bench: Workbench, spec: ResearchSpec, summary: str) -> Artifact:
    held = bench.artifacts.get(summary)
    if held.content.kind != "summary" or held.content.spec_hash != spec.snapshot_hash():
        raise InvalidInputError(
            f"the evidence of {spec.key} must be a summary of this spec, was {held.content.kind!r} {summary[:12]} of "
            f"spec {held.content.spec_hash}"
        )
    return held


def _note(
    bench: Workbench, spec: ResearchSpec, digest: str, verdict: Artifact, run: RunContext
) -> None:
    # Reading the rows verifies the chain, so a judgement is never added to a ledger that was tampered with.
    noted = [
        row.body.get("verdict") for row in bench.promotions.rows() if row.body["event"] == "judged"
    ]
    if digest in noted:
        return
    bench.promotions.append(
        {
            "event": "judged",
            "spec_key": spec.key,
            "spec_hash": spec.snapshot_hash(),
            "decision": verdict.content.facts["decision"],
            "verdict": digest,
            "evidence": verdict.content.inputs.get("evaluation_summary"),
            "checkpoint": verdict.content.inputs.get("trained_checkpoint"),
            "run_id": run.run_id,
            "at": bench.clock.now().isoformat(),
        }
    )


def evidence_of(spec: ResearchSpec, summary: Artifact | None, stale: Sequence[str]) -> Evidence:
    """Return what the gates look at, read from the evidence artifact *summary*; with none, everything is missing."""
    if summary is None:
        return Evidence(folds_expected=spec.folds, stale=tuple(stale))
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


def require_own_words(spec: ResearchSpec, verdict: Artifact, summary: Artifact) -> None:
    """Return quietly if *verdict* says what its own evidence says when it is judged again.

    Raises
    ------
    RefusedError
        If the artifact is no verdict of *spec*, or judging its evidence again gives another verdict.
    """
    content = verdict.content
    if content.kind != KIND or content.spec_hash != spec.snapshot_hash():
        raise RefusedError(
            f"{verdict.digest[:12]} is {content.kind!r}, and no verdict on {spec.key}"
        )
    again = judge(spec.promotion, evidence_of(spec, summary, ()))
    said = {name: content.facts[name] for name in again.to_json()}
    if said != again.to_json() or content.inputs.get("evaluation_summary") != summary.digest:
        raise RefusedError(
            f"verdict {verdict.digest[:12]} says {content.facts['decision']}, and its evidence judged again says "
            f"{again.decision}. Run `alphaswarm run {spec.key}`: it judges again."
        )
