"""Promote: the verdict, which judges for itself and always says what it found, and the registration it may allow."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import dagster as dg

from alphaswarm_assets.defs.partitions import SPECS
from alphaswarm_assets.defs.pins import EventLogs, Making, resolve, stale_inputs
from alphaswarm_assets.defs.reading import verdict_metadata
from alphaswarm_assets.defs.result import made_from, plain_errors
from alphaswarm_assets.drive.code import code_version
from alphaswarm_assets.ports import EventLog
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
        description=f"The gate {name}, as the verdict judged it. The check shows; the verdict decides.",
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
    event_logs: dg.ResourceParam[EventLogs],
    runtime: dg.ResourceParam[RLRuntime],
) -> dg.MaterializeResult:
    """PASS, REJECT or UNGATED, with every gate's observed value, threshold and reason. A REJECT is a result."""
    with plain_errors():
        events = event_logs.of(context.instance)
        making = resolve(
            asset="promotion_verdict",
            partition=context.partition_key,
            events=events,
            specs=specs,
            artifacts=runtime.bench.artifacts,
            tolerate_stale=True,
        )
        run = runtime.context(context.run.run_id, code_version("promotion_verdict"))
        digest = runtime.judge(
            making.spec,
            summary=making.digest("evaluation_summary"),
            stale=_stale(making, events, runtime),
            run=run,
        )
        verdict = runtime.bench.artifacts.get(digest)
        summary = runtime.bench.artifacts.get(making.digest("evaluation_summary"))
        outcomes = cast("Sequence[Mapping[str, Any]]", verdict.content.facts["outcomes"])
        by_check = {outcome["check"]: outcome for outcome in outcomes}
        checks = [_check(name, by_check.get(name)) for name in GATES]
        return made_from(making, digest, verdict_metadata(making.spec, verdict, summary), checks)


def _stale(making: Making, events: EventLog, runtime: RLRuntime) -> list[str]:
    """Walk down from the evidence: whatever was remade since, as something else, makes it stale."""
    artifacts, findings = runtime.bench.artifacts, list[str]()
    waiting = [(making.cell.parents[0], making.parents["evaluation_summary"])]
    while waiting:
        cell, pin = waiting.pop()
        if pin is None:
            continue
        findings += stale_inputs(cell, pin, events, artifacts)
        if cell.axis != "source":
            waiting += [(p, events.latest(p.asset, p.partition)) for p in cell.parents]
    return sorted(set(findings))


def _check(name: str, outcome: Mapping[str, Any] | None) -> dg.AssetCheckResult:
    if outcome is None:
        return dg.AssetCheckResult(
            check_name=name, passed=True, metadata={"status": "not configured by the spec"}
        )
    shown = {k: str(v) for k, v in outcome.items() if k != "check"}
    numbers = {
        k: float(outcome[k])
        for k in ("observed", "threshold")
        if isinstance(outcome[k], int | float) and not isinstance(outcome[k], bool)
    }
    return dg.AssetCheckResult(
        check_name=name,
        passed=outcome["status"] in {"pass", "not_applicable"},
        metadata={**shown, **numbers},
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
    event_logs: dg.ResourceParam[EventLogs],
    runtime: dg.ResourceParam[RLRuntime],
) -> Iterator[Any]:
    """The promoted policies as an MLflow model version; nothing is materialised unless the verdict allows it."""
    making = yield from allowed(context, specs, event_logs, runtime, "registered_model")
    with plain_errors():
        digest = runtime.register(
            making.spec,
            verdict=making.digest("promotion_verdict"),
            checkpoint=making.digest("trained_checkpoint"),
            run=runtime.context(context.run.run_id, code_version("registered_model")),
        )
        registration = runtime.bench.artifacts.get(digest)
        shown = {**registration.content.facts, "version": registration.envelope["version"]}
        result = made_from(making, digest, shown)
    yield result


def allowed(
    context: dg.AssetExecutionContext,
    specs: SpecRegistry,
    event_logs: EventLogs,
    runtime: RLRuntime,
    asset: str,
) -> Iterator[Any]:
    """Yield the check ``verdict_allows`` and return the cell, pinned; a refusal fails with nothing materialised."""
    from alphaswarm_assets.errors import AlphaSwarmError
    from alphaswarm_assets.runtime.registering import require_allowed

    try:
        making = resolve(
            asset=asset,
            partition=context.partition_key,
            events=event_logs.of(context.instance),
            specs=specs,
            artifacts=runtime.bench.artifacts,
        )
        verdict = runtime.bench.artifacts.get(making.digest("promotion_verdict"))
        require_allowed(making.spec, verdict, making.digest("trained_checkpoint"))
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
        metadata={"decision": str(verdict.content.facts["decision"]), "verdict": verdict.digest},
    )
    return making
