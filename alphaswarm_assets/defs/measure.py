"""Measure: what each fold's policies did on a block they had not seen, and the evidence of all folds together."""

from collections.abc import Mapping
from typing import Any

import dagster as dg

from alphaswarm_assets.defs.partitions import FOLD_SPEC, SPECS
from alphaswarm_assets.defs.pins import StoresOf, resolve
from alphaswarm_assets.defs.reading import report_metadata, summary_metadata
from alphaswarm_assets.defs.result import made_from, plain_errors
from alphaswarm_assets.drive.code import code_version
from alphaswarm_assets.runtime.rl_runtime import RLRuntime
from alphaswarm_assets.specs.registry import SpecRegistry

OWNERS = ["team:research"]


@dg.asset(
    partitions_def=FOLD_SPEC,
    deps=["trained_checkpoint", "research_dataset"],
    group_name="measure",
    owners=OWNERS,
    kinds={"numpy", "report"},
    code_version=code_version("evaluation_report"),
    tags={"stage": "measure"},
    check_specs=[
        dg.AssetCheckSpec(
            "every_seed_measured",
            asset="evaluation_report",
            partitions_def=FOLD_SPEC,
            description="The fold has an evaluation block, and every seed of the battery has a row.",
        )
    ],
)
def evaluation_report(
    context: dg.AssetExecutionContext,
    specs: dg.ResourceParam[SpecRegistry],
    stores_of: dg.ResourceParam[StoresOf],
    runtime: dg.ResourceParam[RLRuntime],
) -> dg.MaterializeResult:
    """Pure evaluation of one fold: a row a seed, the ensemble's, the baselines', intervals over seeds, attribution."""
    with plain_errors():
        making = resolve(
            asset="evaluation_report",
            partition=str(context.partition_key),
            specs=specs,
            stores=stores_of(context.instance),
        )
        run = runtime.context(context.run.run_id, "evaluation_report")
        digest = runtime.evaluate(
            making.spec,
            str(making.fold),
            dataset=making.digest("research_dataset"),
            checkpoint=making.digest("trained_checkpoint"),
            run=run,
        )
        report = runtime.bench.artifacts.get(digest)
        measured = len(_rows(report.content.facts))
        check = dg.AssetCheckResult(
            check_name="every_seed_measured",
            passed=measured == len(making.spec.seeds),
            metadata={"measured": measured, "asked for": len(making.spec.seeds)},
        )
        return made_from(making, digest, report_metadata(report), [check])


@dg.asset(
    partitions_def=SPECS,
    deps=[
        dg.AssetDep(
            evaluation_report,
            partition_mapping=dg.MultiToSingleDimensionPartitionMapping("spec"),
        )
    ],
    group_name="measure",
    owners=OWNERS,
    kinds={"numpy", "evidence"},
    code_version=code_version("evaluation_summary"),
    tags={"stage": "measure"},
    check_specs=[
        dg.AssetCheckSpec(
            "all_folds_present",
            asset="evaluation_summary",
            partitions_def=SPECS,
            description="Every fold of the spec was measured; one that is missing is missing evidence.",
        )
    ],
)
def evaluation_summary(
    context: dg.AssetExecutionContext,
    specs: dg.ResourceParam[SpecRegistry],
    stores_of: dg.ResourceParam[StoresOf],
    runtime: dg.ResourceParam[RLRuntime],
) -> dg.MaterializeResult:
    """The evidence: out-of-sample series of all folds joined, IQM and intervals over seeds, deflated Sharpe, PBO."""
    with plain_errors():
        making = resolve(
            asset="evaluation_summary",
            partition=context.partition_key,
            specs=specs,
            stores=stores_of(context.instance),
        )
        reports = {
            parent.partition.split("|")[0]: pin.digest if pin else None
            for parent, pin in zip(making.cell.parents, making.parents.values(), strict=True)
        }
        run = runtime.context(context.run.run_id, "evaluation_summary")
        digest = runtime.summarise(making.spec, reports, run=run)
        summary = runtime.bench.artifacts.get(digest)
        facts = summary.content.facts
        check = dg.AssetCheckResult(
            check_name="all_folds_present",
            passed=facts["folds_present"] == facts["folds_expected"],
            metadata={
                "present": ", ".join(facts["folds_present"]) or "none",  # type: ignore[arg-type]
                "expected": ", ".join(facts["folds_expected"]),  # type: ignore[arg-type]
            },
        )
        return made_from(making, digest, summary_metadata(summary), [check])


def _rows(facts: Mapping[str, Any]) -> list[Any]:
    return list(facts.get("seeds", []))
