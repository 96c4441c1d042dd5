"""Register the promoted policy: only where a verdict allows it, once, with everything needed to walk back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from alphaswarm_assets.errors import RefusedError, StaleArtifactError
from alphaswarm_assets.records.canonical import JsonObject, pretty_json
from alphaswarm_assets.records.manifest import pack
from alphaswarm_assets.runtime.judging import require_own_words
from alphaswarm_assets.runtime.workbench import RunContext, Workbench, record_run
from alphaswarm_assets.specs.research import ResearchSpec

ALIAS = "challenger"
"""A registered policy challenges; what trades is decided after its paper pack."""

ALLOWED = frozenset({"PASS", "UNGATED"})
"""Decisions that may be registered and rehearsed."""


def require_allowed(bench: Workbench, spec: ResearchSpec, *, verdict: str, checkpoint: str) -> str:
    """Return the decision of *verdict* if it allows the policies in *checkpoint* to go on.

    The verdict is not taken at its word: its evidence is judged again, and the ledger of promotions must hold it.

    Raises
    ------
    RefusedError
        If the verdict says no, is no verdict on *spec*, contradicts its evidence, or was never recorded.
    StaleArtifactError
        If the verdict judged another checkpoint.
    """
    judged = bench.artifacts.get(verdict)
    decision = str(judged.content.facts.get("decision"))
    if decision not in ALLOWED:
        reasons = "; ".join(cast("Sequence[str]", judged.content.facts.get("reasons", ())))
        raise RefusedError(f"the verdict on {spec.key} is {decision}: {reasons}")
    evidence = judged.content.inputs.get("evaluation_summary")
    if evidence is None:
        raise RefusedError(f"the verdict on {spec.key} names no evidence")
    require_own_words(spec, judged, bench.artifacts.get(evidence))
    rows = bench.promotions.rows()
    recorded = [row.body.get("verdict") for row in rows if row.body["event"] == "judged"]
    if verdict not in recorded:
        raise RefusedError(
            f"verdict {verdict[:12]} on {spec.key} stands in no row of the promotions ledger. Run "
            f"`alphaswarm run {spec.key}` after restoring the ledger, or judge again."
        )
    of = judged.content.inputs.get("trained_checkpoint")
    if of != checkpoint:
        was = of[:12] if of else "none"
        raise StaleArtifactError(
            f"the verdict on {spec.key} judged checkpoint {was}, the current one is {checkpoint[:12]}. "
            f"Run `alphaswarm run {spec.key}`: it judges again."
        )
    return decision


def identity_of(facts: JsonObject) -> str:
    """Return what a registry knows a registration by, from its facts: the same verdict and checkpoint, once."""
    return f"{facts['verdict']}.{facts['checkpoint']}"


def register(
    bench: Workbench, spec: ResearchSpec, *, verdict: str, checkpoint: str, run: RunContext
) -> str:
    """Register the policies of *checkpoint* and return the digest of the registration.

    Raises
    ------
    RefusedError
        If the verdict does not allow it, or the spec names no model.
    StaleArtifactError
        If the verdict judged another checkpoint.
    LedgerError
        If the ledger of promotions does not hold; nothing is registered then.
    """
    if spec.mlflow is None:
        raise RefusedError(f"spec {spec.key} has no `mlflow` section, so nothing is registered")
    decision = require_allowed(bench, spec, verdict=verdict, checkpoint=checkpoint)
    content: JsonObject = {
        "model": spec.mlflow.register_model_as,
        "alias": ALIAS,
        "decision": decision,
        "verdict": verdict,
        "checkpoint": checkpoint,
    }
    noted = _is_noted(bench, content)
    version = bench.registry.register(
        spec.mlflow.register_model_as,
        files=_files(bench, spec, checkpoint, content),
        tags={
            "alphaswarm.spec_key": spec.key,
            "alphaswarm.spec_hash": spec.snapshot_hash(),
            "alphaswarm.verdict": verdict,
            "alphaswarm.checkpoint": checkpoint,
            "alphaswarm.decision": decision,
        },
        identity=identity_of(content),
        alias=ALIAS,
    )
    artifact = pack(
        kind="registration",
        spec_hash=spec.snapshot_hash(),
        payload={},
        inputs={"promotion_verdict": verdict, "trained_checkpoint": checkpoint},
        facts=content,
        envelope={
            **run.envelope(bench),
            "version": version.version,
            "mlflow_run_id": version.run_id,
        },
    )
    digest = bench.artifacts.put(artifact)
    # Not only if it is new: a run that was killed in between has registered it and noted nothing.
    if version.created or not noted:
        bench.promotions.append(
            {
                "event": "registered",
                "spec_key": spec.key,
                "spec_hash": spec.snapshot_hash(),
                "version": version.version,
                "run_id": run.run_id,
                "at": bench.clock.now().isoformat(),
                **content,
            }
        )
    record_run(
        bench,
        run,
        spec,
        target="register",
        status="completed",
        result_summary={"registration": content | {"version": version.version}},
    )
    return digest


def _is_noted(bench: Workbench, content: JsonObject) -> bool:
    wanted = {"event": "registered", **content}
    return any(wanted.items() <= row.body.items() for row in bench.promotions.rows())


def _files(
    bench: Workbench, spec: ResearchSpec, checkpoint: str, content: JsonObject
) -> dict[str, bytes]:
    held = bench.artifacts.get(checkpoint)
    files = {
        "spec.json": pretty_json(spec.canonical()).encode(),
        "registration.json": pretty_json(content).encode(),
        "checkpoint.json": pretty_json(held.content.to_json()).encode(),
    }
    for seed in cast("Sequence[int]", held.content.facts["seeds"]):
        policy = bench.artifacts.get(held.content.inputs[f"policy[{seed}]"])
        files |= {f"seed-{seed}/{name}": data for name, data in policy.payload.items()}
    return files
