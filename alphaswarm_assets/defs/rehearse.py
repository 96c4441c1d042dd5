"""Rehearse: a bounded paper session on bars that neither training nor evaluation has seen."""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from alphaswarm_assets.defs.partitions import SPECS
from alphaswarm_assets.defs.pins import StoresOf
from alphaswarm_assets.defs.promote import allowed
from alphaswarm_assets.defs.reading import pack_metadata
from alphaswarm_assets.defs.result import made_from, plain_errors
from alphaswarm_assets.drive.code import code_version
from alphaswarm_assets.runtime.rl_runtime import RLRuntime
from alphaswarm_assets.specs.registry import SpecRegistry


@dg.asset(
    partitions_def=SPECS,
    deps=[
        "promotion_verdict",
        dg.AssetDep(
            "trained_checkpoint",
            partition_mapping=dg.MultiToSingleDimensionPartitionMapping("spec"),
        ),
        "research_dataset",
    ],
    group_name="rehearse",
    owners=["team:trading"],
    kinds={"paper"},
    code_version=code_version("paper_pack"),
    tags={"stage": "rehearse"},
    check_specs=[
        dg.AssetCheckSpec(
            "verdict_allows",
            asset="paper_pack",
            partitions_def=SPECS,
            description="The verdict is PASS or UNGATED, and judged the checkpoint that is current.",
        ),
        dg.AssetCheckSpec(
            "accepted",
            asset="paper_pack",
            partitions_def=SPECS,
            description="The session met every acceptance criterion of the spec, and nothing rolled it back.",
        ),
    ],
)
def paper_pack(
    context: dg.AssetExecutionContext,
    specs: dg.ResourceParam[SpecRegistry],
    stores_of: dg.ResourceParam[StoresOf],
    runtime: dg.ResourceParam[RLRuntime],
) -> Iterator[Any]:
    """The paper release train: episodes, rollback triggers, acceptance; the halt switch stops it between and within."""
    making = yield from allowed(context, specs, stores_of, runtime, "paper_pack")
    with plain_errors():
        digest = runtime.paper(
            making.spec,
            verdict=making.digest("promotion_verdict"),
            checkpoint=making.digest("trained_checkpoint"),
            dataset=making.digest("research_dataset"),
            run=runtime.context(context.run.run_id, "paper_pack"),
        )
        pack = runtime.bench.artifacts.get(digest)
        metadata, accepted = pack_metadata(pack)
    yield dg.AssetCheckResult(
        check_name="accepted",
        passed=accepted is not False,
        metadata={"accepted": "no criteria: a probe" if accepted is None else str(accepted)},
    )
    yield made_from(making, digest, metadata)
