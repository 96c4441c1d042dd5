"""Join the reports of all folds into the evidence a verdict is judged on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from safetensors.numpy import load, save

from alphaswarm_assets.arrays import Float64Array
from alphaswarm_assets.learning.evaluation import BASELINES, ENSEMBLE
from alphaswarm_assets.records.canonical import JsonObject
from alphaswarm_assets.records.manifest import Artifact, pack
from alphaswarm_assets.runtime.evaluating import SERIES_FILE
from alphaswarm_assets.runtime.measuring import (
    CONVENTIONS,
    aggregate_rows,
    measured_json,
    metrics_json,
    metrics_of,
)
from alphaswarm_assets.runtime.workbench import RunContext, Workbench
from alphaswarm_assets.specs.research import ResearchSpec
from alphaswarm_assets.statistics.deflation import DeflatedSharpe, deflated_sharpe
from alphaswarm_assets.statistics.duplicates import count_distinct
from alphaswarm_assets.statistics.pbo import probability_of_backtest_overfitting
from alphaswarm_assets.statistics.undefined import Undefined
from alphaswarm_assets.streams import Streams

JOINED_FILE = "out_of_sample.safetensors"
"""Out-of-sample series of every label, the folds in chronological order."""


def summarise(
    bench: Workbench, spec: ResearchSpec, reports: Mapping[str, str | None], *, run: RunContext
) -> str:
    """Store the evidence of a study and return its digest.

    The out-of-sample returns of seed i in fold 0, 1, … are joined in order of time into one series a seed; metrics,
    intervals, deflated Sharpe and PBO are those of the joined series. A fold without a report is listed as missing.

    Parameters
    ----------
    reports : mapping
        Digest of the report of every fold of the spec; None where there is none.
    """
    opened = {f: bench.artifacts.get(d) for f, d in sorted(reports.items()) if d is not None}
    measured = {f: a for f, a in opened.items() if a.content.facts["evaluated"]}
    facts: JsonObject = {
        "folds_expected": list(spec.folds),
        "folds_present": sorted(measured),
        "seeds": list(spec.seeds),
        "conventions": dict(CONVENTIONS),
        "promoted_checkpoint": _promoted(spec, opened),
    }
    payload: dict[str, bytes] = {}
    if measured:
        joined = _join(spec, list(measured.values()))
        facts |= _evidence(spec, joined)
        payload[JOINED_FILE] = save(joined)
    artifact = pack(
        kind="summary",
        spec_hash=spec.snapshot_hash(),
        payload=payload,
        inputs={f"evaluation_report[{f}]": report.digest for f, report in opened.items()},
        facts=facts,
        envelope=run.envelope(bench),
    )
    return bench.artifacts.put(artifact)


def _promoted(spec: ResearchSpec, opened: Mapping[str, Artifact]) -> str | None:
    last = opened.get(spec.folds[-1])
    return last.content.inputs["trained_checkpoint"] if last is not None else None


def _join(spec: ResearchSpec, reports: Sequence[Artifact]) -> dict[str, Float64Array]:
    parts = [load(report.payload[SERIES_FILE]) for report in reports]
    labels = [str(seed) for seed in spec.seeds] + [ENSEMBLE, *BASELINES]
    names = ["session"] + [
        f"{kind}/{label}" for label in labels for kind in ("returns", "turnover", "cost")
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in names}


def _evidence(spec: ResearchSpec, joined: Mapping[str, Float64Array]) -> JsonObject:
    tables = {
        label: metrics_of(
            joined[f"returns/{label}"], joined[f"turnover/{label}"], joined[f"cost/{label}"]
        )
        for label in [str(seed) for seed in spec.seeds] + [ENSEMBLE, *BASELINES]
    }
    seeds = [str(seed) for seed in spec.seeds]
    matrix = np.column_stack([joined[f"returns/{seed}"] for seed in seeds])
    streams = Streams(spec.training.seed).fork("summary")
    deflated = deflated_sharpe(matrix)
    pbo = probability_of_backtest_overfitting(matrix)
    return {
        "n_bars": len(matrix),
        "metrics": {label: metrics_json(metrics) for label, metrics in tables.items()},
        "aggregate": aggregate_rows(
            [tables[seed] for seed in seeds], spec.evaluation.bootstrap, streams
        ),
        "n_seeds": len(seeds),
        "n_distinct_seeds": count_distinct(matrix),
        "dsr": _dsr_json(spec, deflated),
        "pbo": measured_json(pbo if isinstance(pbo, Undefined) else pbo.value)
        | {"scope": "seeds", "n_blocks": 16, "comparison": "logit <= 0"},
    }


def _dsr_json(spec: ResearchSpec, deflated: DeflatedSharpe | Undefined) -> JsonObject:
    if spec.evaluation.compute_dsr is False:
        return {"value": None, "reason": "evaluation.compute_dsr is false", "scope": "battery"}
    value = deflated if isinstance(deflated, Undefined) else deflated.probability
    return measured_json(value) | {"scope": "battery"}
