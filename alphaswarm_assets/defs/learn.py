"""Learn: one policy a seed of the battery, and the checkpoint of the fold that names them all."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

import dagster as dg

from alphaswarm_assets.defs.partitions import FOLD_SPEC
from alphaswarm_assets.defs.pictures import learning_curves, markdown_image
from alphaswarm_assets.defs.pins import StoresOf, resolve
from alphaswarm_assets.defs.result import plain_errors, provenance, table, to_metadata
from alphaswarm_assets.drive.code import code_version
from alphaswarm_assets.errors import StaleArtifactError
from alphaswarm_assets.ports import Pin
from alphaswarm_assets.runtime.rl_runtime import RLRuntime
from alphaswarm_assets.runtime.workbench import RunContext
from alphaswarm_assets.specs.registry import SpecRegistry

ASSET = "trained_checkpoint"


@dg.op(ins={"research_dataset": dg.In(dg.Nothing)}, out=dg.DynamicOut(dict))
def plan_seeds(
    context: dg.OpExecutionContext,
    specs: dg.ResourceParam[SpecRegistry],
    stores_of: dg.ResourceParam[StoresOf],
) -> Iterator[dg.DynamicOutput[dict[str, Any]]]:
    """Pin the dataset and name every seed of the battery."""
    with plain_errors():
        making = resolve(
            asset=ASSET,
            partition=str(context.partition_key),
            specs=specs,
            stores=stores_of(context.instance),
        )
        plan = {
            "key": making.spec.key,
            "fold": making.fold,
            "memo_key": making.memo_key,
            "code_version": code_version(ASSET),
            "dataset": making.digest("research_dataset"),
            "parents": [pin.to_json() for pin in making.parents.values() if pin],
        }
        for seed in making.spec.seeds:
            yield dg.DynamicOutput({**plan, "seed": seed}, mapping_key=f"seed_{seed}")


@contextmanager
def retried_once() -> Generator[None]:
    """Have the step tried a second time after an unforeseen error.

    A `RetryPolicy` would do so too after Ctrl-C, which is to end the run.
    """
    try:
        yield
    except (dg.Failure, dg.RetryRequested):
        raise
    except Exception as error:
        raise dg.RetryRequested(max_retries=1) from error


@dg.op(pool="gpu")
def train_seed(
    context: dg.OpExecutionContext,
    task: dict[str, Any],
    specs: dg.ResourceParam[SpecRegistry],
    runtime: dg.ResourceParam[RLRuntime],
) -> dict[str, Any]:
    """Train one policy, or take the one remembered; a killed training goes on where it was."""
    with retried_once(), plain_errors():
        spec = specs.get(task["key"])
        run = _same_code(runtime.context(context.run.run_id, ASSET), task)
        digest = runtime.train(spec, task["fold"], task["seed"], dataset=task["dataset"], run=run)
    context.log.info(f"seed {task['seed']} of {task['fold']}: policy {digest[:12]}")
    return {**task, "policy": digest}


@dg.op(
    out={
        "checkpoint": dg.Out(dg.Nothing, is_required=True),
        "trained_checkpoint_every_seed_trained": dg.Out(dg.Nothing),
    }
)
def gather(
    context: dg.OpExecutionContext,
    trained: list[dict[str, Any]],
    specs: dg.ResourceParam[SpecRegistry],
    runtime: dg.ResourceParam[RLRuntime],
) -> Iterator[Any]:
    """Join the policies into the checkpoint of the fold and say what it was made from."""
    with plain_errors():
        first = trained[0]
        spec = specs.get(first["key"])
        run = _same_code(runtime.context(context.run.run_id, ASSET), first)
        policies = {task["seed"]: task["policy"] for task in trained}
        digest = runtime.gather(
            spec, first["fold"], dataset=first["dataset"], policies=policies, run=run
        )
        metadata = _metadata(runtime, digest) | provenance(
            digest,
            memo=first["memo_key"],
            parents=[Pin(**_pin(raw)) for raw in first["parents"]],
            spec_hash=spec.snapshot_hash(),
        )
    yield dg.Output(
        None, "checkpoint", metadata=metadata, data_version=dg.DataVersion(f"sha256:{digest}")
    )
    yield dg.AssetCheckResult(
        passed=len(policies) == len(spec.seeds),
        check_name="every_seed_trained",
        metadata={"trained": len(policies), "asked for": len(spec.seeds)},
    )


@dg.graph_asset(
    name=ASSET,
    ins={"research_dataset": dg.AssetIn(dagster_type=dg.Nothing)},
    partitions_def=FOLD_SPEC,
    group_name="learn",
    owners=["team:research"],
    kinds={"torch", "ppo"},
    code_version=code_version(ASSET),
    tags={"stage": "learn"},
    description="The policies of one fold, one a seed of the battery, trained on what comes before its evaluation.",
    check_specs=[
        dg.AssetCheckSpec(
            "every_seed_trained",
            asset=ASSET,
            partitions_def=FOLD_SPEC,
            description="Every seed of the battery has a policy in the checkpoint.",
        )
    ],
)
def trained_checkpoint(research_dataset: Any) -> dict[str, Any]:
    """Plan the seeds, train each, gather them."""
    checkpoint, every_seed_trained = gather(
        plan_seeds(research_dataset=research_dataset).map(train_seed).collect()
    )
    return {"result": checkpoint, "trained_checkpoint_every_seed_trained": every_seed_trained}


def _same_code(run: RunContext, task: Mapping[str, Any]) -> RunContext:
    # Steps are processes of their own: one that starts after an edit must not join those that started before.
    if run.code_version != task["code_version"]:
        raise StaleArtifactError(
            f"the sources of {ASSET} were edited since its seeds were planned. Run it again: the seeds that are done "
            "under the sources as they are now are not trained again."
        )
    return run


def _pin(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {**raw, "storage_id": int(raw["storage_id"])}


def _metadata(runtime: RLRuntime, digest: str) -> dict[str, Any]:
    from alphaswarm_assets.runtime.training import learning_curves_of

    facts = runtime.bench.artifacts.manifest(digest).facts
    curves = learning_curves_of(runtime.bench, digest)
    rows = cast("Sequence[Mapping[str, Any]]", facts["training"])
    picture = markdown_image(learning_curves(curves), "mean episode return while training")
    return to_metadata(
        {
            "fold": facts["fold"],
            "seeds": table(
                [
                    {"seed": r["seed"], "steps": f"{r['steps']:,}", "policy": r["policy"][:12]}
                    for r in rows
                ]
            ),
            "learning_curves": dg.MetadataValue.md(picture),
        }
    )
