"""A code location of two assets, for tests of the adapters to Dagster; what a step does stands in the environment."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg

from alphaswarm_assets.errors import StaleArtifactError

SPEC = dg.DynamicPartitionsDefinition(name="spec")
FOLD_SPEC = dg.MultiPartitionsDefinition(
    {"fold": dg.StaticPartitionsDefinition(["f0", "f1"]), "spec": SPEC}
)


def _act() -> None:
    match os.environ.get("SMALL_STEP"):
        case "fail":
            raise StaleArtifactError("report must be aa, was bb.\nRestore it") from OSError("below")
        case "refuse":
            raise dg.Failure("REJECT: too few seeds", allow_retries=False)
        case "crash":
            os._exit(9)
        case "wait":
            flag = Path(os.environ["SMALL_FLAG"])
            flag.touch()
            try:
                time.sleep(60)
            except dg.DagsterExecutionInterruptedError:
                flag.with_name("checkpoint").touch()
                raise
        case _:
            pass


@dg.asset(partitions_def=SPEC, code_version="c1", pool="gpu")
def report(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
    context.log.warning("a step may talk")
    _act()
    run_tags = context.run.tags
    return dg.MaterializeResult(
        metadata={"memo_key": dg.MetadataValue.text(run_tags["alphaswarm/memo_key"])},
        data_version=dg.DataVersion("sha256:" + "a" * 64),
    )


@dg.asset
def lone() -> dg.MaterializeResult:
    return dg.MaterializeResult()


@dg.op(out=dg.DynamicOut(int))
def plan() -> Iterator[dg.DynamicOutput[int]]:
    for seed in (7, 8):
        yield dg.DynamicOutput(seed, mapping_key=str(seed))


@dg.op(pool="gpu")
def train(seed: int) -> int:
    _act()
    return os.getpid()


@dg.op
def gather(context: dg.OpExecutionContext, pids: list[int]) -> None:
    Path(os.environ["SMALL_PIDS"]).write_text(" ".join(map(str, pids)))


@dg.graph_asset(partitions_def=FOLD_SPEC, code_version="c1")
def checkpoint() -> None:
    return gather(plan().map(train).collect())


defs = dg.Definitions(assets=[report, lone, checkpoint])
