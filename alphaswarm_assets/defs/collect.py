"""Collect: raw bars, checked bars, features, and the pinned dataset of a spec."""

from collections.abc import Mapping

import dagster as dg

from alphaswarm_assets.defs.datasheet import dataset_metadata
from alphaswarm_assets.defs.partitions import SOURCES, SPECS
from alphaswarm_assets.defs.pins import StoresOf, resolve
from alphaswarm_assets.defs.result import made, made_from, plain_errors
from alphaswarm_assets.drive.code import code_version
from alphaswarm_assets.drive.memo import memo_key
from alphaswarm_assets.errors import MissingArtifactError
from alphaswarm_assets.markets import tables
from alphaswarm_assets.ports import BarSource, Columns, Lake, Pin, TablePin
from alphaswarm_assets.records.canonical import JsonObject
from alphaswarm_assets.runtime.rl_runtime import RLRuntime
from alphaswarm_assets.specs.registry import SpecRegistry

OWNERS = ["team:market-data"]
Sources = Mapping[str, BarSource]


def _source(context: dg.AssetExecutionContext, sources: Sources) -> BarSource:
    name = context.partition_key
    if name not in sources:
        raise MissingArtifactError(
            f"there is no bar source {name!r}; there are {', '.join(sorted(sources))}"
        )
    return sources[name]


def _parent(
    context: dg.AssetExecutionContext, stores_of: StoresOf, runtime: RLRuntime, asset: str
) -> tuple[Pin, TablePin]:
    name = context.partition_key
    pin = stores_of(context.instance).events.latest(asset, name)
    if pin is None:
        raise MissingArtifactError(
            f"{asset} for {name!r} was never made. Materialise {asset!r} for partition {name!r} first."
        )
    found, _ = tables.table_pin(runtime.bench.artifacts, pin.digest)
    return pin, found


def _keep(
    context: dg.AssetExecutionContext,
    runtime: RLRuntime,
    *,
    pin: TablePin,
    parent: Pin | None,
    parent_version: str,
    facts: JsonObject,
) -> dg.MaterializeResult:
    """Store the table's artifact and describe it."""
    asset, source = context.asset_key.to_user_string(), context.partition_key
    memo = memo_key(
        asset=asset,
        partition=source,
        spec_hash=None,
        code_version=code_version(asset),
        parents={f"{parent.asset}[{source}]" if parent else "(source)": parent_version},
    )
    run = runtime.context(context.run.run_id, asset)
    artifact = tables.table_artifact(
        pin,
        source=source,
        inputs={parent.asset: parent.digest} if parent else {"source": parent_version},
        facts=facts,
        envelope=run.envelope(runtime.bench),
    )
    digest = runtime.bench.artifacts.put(artifact)
    shown = {"rows": pin.n_rows, "table": pin.table, "snapshot_id": str(pin.snapshot_id), **facts}
    return made(digest, memo=memo, parents=[parent], metadata=shown, spec_hash=None)


@dg.asset(
    partitions_def=SOURCES,
    group_name="collect",
    owners=OWNERS,
    kinds={"iceberg", "bronze"},
    code_version=code_version("bronze_bars"),
    tags={"stage": "collect"},
)
def bronze_bars(
    context: dg.AssetExecutionContext,
    sources: dg.ResourceParam[Sources],
    lake: dg.ResourceParam[Lake],
    runtime: dg.ResourceParam[RLRuntime],
) -> dg.MaterializeResult:
    """Daily bars as the source has them: nothing repaired, nothing dropped."""
    with plain_errors():
        source = _source(context, sources)
        fingerprint = source.fingerprint()
        rows = source.read()
        pin = lake.replace(
            tables.BRONZE, source=source.name, rows=rows, sort_by=tables.BRONZE_ORDER
        )
        facts: JsonObject = {"licence": source.licence}
        return _keep(
            context, runtime, pin=pin, parent=None, parent_version=fingerprint, facts=facts
        )


@dg.asset(
    partitions_def=SOURCES,
    deps=[bronze_bars],
    group_name="collect",
    owners=OWNERS,
    kinds={"iceberg", "silver"},
    code_version=code_version("silver_bars"),
    tags={"stage": "collect"},
)
def silver_bars(
    context: dg.AssetExecutionContext,
    stores_of: dg.ResourceParam[StoresOf],
    lake: dg.ResourceParam[Lake],
    runtime: dg.ResourceParam[RLRuntime],
) -> dg.MaterializeResult:
    """Checked bars, adjusted for splits and dividends; what was dropped or flagged is counted."""
    from alphaswarm_assets.markets.bars import check_bars

    with plain_errors():
        parent, bronze = _parent(context, stores_of, runtime, "bronze_bars")
        source = context.partition_key
        bars, report = check_bars(lake.read(bronze, source=source), source=source)
        pin = lake.replace(tables.SILVER, source=source, rows=bars, sort_by=tables.SILVER_ORDER)
        return _keep(
            context,
            runtime,
            pin=pin,
            parent=parent,
            parent_version=parent.data_version,
            facts=report.to_json(),
        )


@dg.asset(
    partitions_def=SOURCES,
    deps=[silver_bars],
    group_name="collect",
    owners=OWNERS,
    kinds={"iceberg", "gold"},
    code_version=code_version("gold_features"),
    tags={"stage": "collect"},
)
def gold_features(
    context: dg.AssetExecutionContext,
    stores_of: dg.ResourceParam[StoresOf],
    lake: dg.ResourceParam[Lake],
    runtime: dg.ResourceParam[RLRuntime],
) -> dg.MaterializeResult:
    """Causal features of every symbol: the value at a bar uses bars up to it and no other."""
    from alphaswarm_assets.markets.features import feature_table

    with plain_errors():
        parent, silver = _parent(context, stores_of, runtime, "silver_bars")
        source = context.partition_key
        gold: Columns = feature_table(lake.read(silver, source=source))
        pin = lake.replace(tables.GOLD, source=source, rows=gold, sort_by=tables.GOLD_ORDER)
        return _keep(
            context,
            runtime,
            pin=pin,
            parent=parent,
            parent_version=parent.data_version,
            facts={"columns": sorted(gold)},
        )


@dg.asset(
    partitions_def=SPECS,
    deps=[dg.AssetDep(gold_features, partition_mapping=dg.AllPartitionMapping())],
    group_name="collect",
    owners=OWNERS,
    kinds={"iceberg", "dataset"},
    code_version=code_version("research_dataset"),
    tags={"stage": "collect"},
)
def research_dataset(
    context: dg.AssetExecutionContext,
    specs: dg.ResourceParam[SpecRegistry],
    stores_of: dg.ResourceParam[StoresOf],
    lake: dg.ResourceParam[Lake],
    runtime: dg.ResourceParam[RLRuntime],
) -> dg.MaterializeResult:
    """What a study sees: its symbols and window at pinned snapshots, cut into folds, the paper window set aside."""
    with plain_errors():
        making = resolve(
            asset="research_dataset",
            partition=context.partition_key,
            specs=specs,
            stores=stores_of(context.instance),
        )
        gold, source = tables.table_pin(runtime.bench.artifacts, making.digest("gold_features"))
        lake.protect(gold, tag=f"dataset-{making.spec.key}-{gold.snapshot_id}")
        run = runtime.context(context.run.run_id, "research_dataset")
        digest = runtime.collect(
            making.spec, lake.read(gold, source=source), inputs=making.inputs, pins=[gold], run=run
        )
        dataset = runtime.bench.artifacts.get(digest)
        return made_from(making, digest, dataset_metadata(dataset, gold))
