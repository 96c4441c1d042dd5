"""Promote: the verdict, which judges for itself and always says what it found, and the registration it may allow."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import dagster as dg

from alphaswarm_assets.defs.partitions import SPECS
from alphaswarm_assets.defs.pins import Making, StoresOf, resolve
from alphaswarm_assets.defs.result import made_from, plain_errors
from alphaswarm_assets.defs.verdict_page import verdict_metadata
from alphaswarm_assets.defs.wording import GATES_ASK, gate_row
from alphaswarm_assets.drive.code import code_version
from alphaswarm_assets.errors import AlphaSwarmError, MissingArtifactError, StaleArtifactError
from alphaswarm_assets.records.manifest import Artifact, newest
from alphaswarm_assets.runtime.rl_runtime import RLRuntime
from alphaswarm_assets.specs.promotion import THRESHOLDS
from alphaswarm_assets.specs.registry import SpecRegistry

OWNERS = ["team:risk"]

GATES = (*THRESHOLDS, "all_folds_present", "evidence_current")
"""One asset check each; a threshold the spec does not set passes as not configured."""


def _gate_spec(name: str) -> dg.AssetCheckSpec:
    return dg.AssetCheckSpec(
        name,
        asset="promotion_verdict",
        partitions_def=SPECS,
        description=f"A gate of the verdict. It looks at: {GATES_ASK[name]}. The check shows, the verdict decides.",
    )


@dg.asset(
    partitions_def=SPECS,
    deps=["evaluation_summary"],
    group_name="promote",
    owners=OWNERS,
    kinds={"verdict"},
    code_version=code_version("promotion_verdict"),
    tags={"stage": "promote"},
    check_specs=[_gate_spec(name) for name in GATES],
)
def promotion_verdict(
    context: dg.AssetExecutionContext,
    specs: dg.ResourceParam[SpecRegistry],
    stores_of: dg.ResourceParam[StoresOf],
    runtime: dg.ResourceParam[RLRuntime],
) -> dg.MaterializeResult:
    """PASS, REJECT or UNGATED, with every gate's observed value, threshold and reason. A REJECT is a result."""
    with plain_errors():
        making = resolve(
            asset="promotion_verdict",
            partition=context.partition_key,
            specs=specs,
            stores=stores_of(context.instance),
            tolerate_stale=True,
        )
        run = runtime.context(context.run.run_id, "promotion_verdict")
        summary, findings = _evidence(making, runtime)
        digest = runtime.judge(
            making.spec,
            summary=summary.digest if summary else None,
            stale=findings,
            run=run,
        )
        verdict = runtime.bench.artifacts.get(digest)
        facts = cast("Mapping[str, Sequence[Mapping[str, Any]]]", verdict.content.facts)
        by_check = {o["check"]: o for o in (*facts["preconditions"], *facts["outcomes"])}
        checks = [_check(name, by_check.get(name)) for name in GATES]
        return made_from(making, digest, verdict_metadata(making.spec, verdict, summary), checks)


def _evidence(making: Making, runtime: RLRuntime) -> tuple[Artifact | None, list[str]]:
    """Return the evidence there is, and what is wrong with it; a verdict is given on none at all, too."""
    findings = list(making.findings)
    try:
        return runtime.bench.artifacts.get(making.digest("evaluation_summary")), findings
    except (MissingArtifactError, StaleArtifactError) as error:
        return None, [*findings, str(error)]


def _check(name: str, outcome: Mapping[str, Any] | None) -> dg.AssetCheckResult:
    if outcome is None:
        return dg.AssetCheckResult(
            check_name=name, passed=True, metadata={"result": "the spec does not ask for it"}
        )
    row = gate_row(outcome)
    words = {
        "result": row["result"],
        "found": f"{row['observed']}, needs {row['needed']}",
        "measured over": str(outcome["scope"]),
        "unit": str(outcome["unit"]),
    }
    if outcome["reason"] is not None:
        words["reason"] = str(outcome["reason"])
    numbers = {
        k: float(outcome[k])
        for k in ("observed", "threshold")
        if isinstance(outcome[k], int | float) and not isinstance(outcome[k], bool)
    }
    return dg.AssetCheckResult(
        check_name=name,
        passed=outcome["status"] in {"pass", "not_applicable"},
        metadata={**words, **numbers},
    )


@dg.asset(
    partitions_def=SPECS,
    deps=[
        "promotion_verdict",
        dg.AssetDep(
            "trained_checkpoint",
            partition_mapping=dg.MultiToSingleDimensionPartitionMapping("spec"),
        ),
    ],
    group_name="promote",
    owners=OWNERS,
    kinds={"mlflow"},
    code_version=code_version("registered_model"),
    tags={"stage": "promote"},
    check_specs=[
        dg.AssetCheckSpec(
            "verdict_allows",
            asset="registered_model",
            partitions_def=SPECS,
            description="The verdict is PASS or UNGATED, and judged the checkpoint that is current.",
        )
    ],
)
def registered_model(
    context: dg.AssetExecutionContext,
    specs: dg.ResourceParam[SpecRegistry],
    stores_of: dg.ResourceParam[StoresOf],
    runtime: dg.ResourceParam[RLRuntime],
) -> Iterator[Any]:
    """The promoted policies as an MLflow model version; nothing is materialised unless the verdict allows it."""
    making = yield from allowed(context, specs, stores_of, runtime, "registered_model")
    with plain_errors():
        digest = runtime.register(
            making.spec,
            verdict=making.digest("promotion_verdict"),
            checkpoint=making.digest("trained_checkpoint"),
            run=runtime.context(context.run.run_id, "registered_model"),
        )
        facts = runtime.bench.artifacts.manifest(digest).facts
        envelope = newest(runtime.bench.artifacts.envelopes(digest))
        name = {"model": facts["model"], "version": envelope["version"]}
        shown = {**name, **facts}
        result = made_from(making, digest, shown)
    yield result


def allowed(
    context: dg.AssetExecutionContext,
    specs: SpecRegistry,
    stores_of: StoresOf,
    runtime: RLRuntime,
    asset: str,
) -> Iterator[Any]:
    """Yield the check ``verdict_allows`` and return the cell, pinned; a refusal fails with nothing materialised."""
    from alphaswarm_assets.runtime.registering import require_allowed

    try:
        making = resolve(
            asset=asset,
            partition=context.partition_key,
            specs=specs,
            stores=stores_of(context.instance),
        )
        verdict = making.digest("promotion_verdict")
        decision = require_allowed(
            runtime.bench,
            making.spec,
            verdict=verdict,
            checkpoint=making.digest("trained_checkpoint"),
        )
    except AlphaSwarmError as error:
        yield dg.AssetCheckResult(
            check_name="verdict_allows", passed=False, metadata={"reason": str(error)}
        )
        raise dg.Failure(
            description=f"{type(error).__name__}: {error}", allow_retries=False
        ) from error
    yield dg.AssetCheckResult(
        check_name="verdict_allows",
        passed=True,
        metadata={"decision": decision, "verdict": verdict},
    )
    return making
