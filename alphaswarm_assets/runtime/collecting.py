"""Make the dataset artifact of a spec from rows of the gold table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from alphaswarm_assets.markets.dataset import dataset_payload
from alphaswarm_assets.ports import Columns, TablePin
from alphaswarm_assets.records.manifest import pack
from alphaswarm_assets.runtime.workbench import RunContext, Workbench
from alphaswarm_assets.specs.research import ResearchSpec
from alphaswarm_assets.specs.support import require_supported


def collect_dataset(
    bench: Workbench,
    spec: ResearchSpec,
    gold: Columns,
    *,
    inputs: Mapping[str, str],
    pins: Sequence[TablePin],
    run: RunContext,
) -> str:
    """Store the dataset of *spec* and return its digest; snapshot ids stand in the envelope."""
    require_supported(spec)
    payload, facts = dataset_payload(spec, gold)
    artifact = pack(
        kind="dataset",
        spec_hash=spec.snapshot_hash(),
        payload=payload,
        inputs=inputs,
        facts=facts,
        envelope={**run.envelope(bench), "snapshots": [pin.to_json() for pin in pins]},
    )
    return bench.artifacts.put(artifact)
