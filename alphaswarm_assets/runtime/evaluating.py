"""Measure the checkpoint of one fold on the block it has not seen. Nothing learns here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from safetensors.numpy import save

from alphaswarm_assets.errors import StaleArtifactError
from alphaswarm_assets.learning.checkpoint import read_policy
from alphaswarm_assets.learning.evaluation import (
    ENSEMBLE,
    Rollout,
    evaluate_baselines,
    evaluate_ensemble,
    evaluate_policies,
)
from alphaswarm_assets.learning.policy import Policy
from alphaswarm_assets.markets.dataset import open_dataset
from alphaswarm_assets.records.canonical import JsonObject
from alphaswarm_assets.records.manifest import Artifact, pack
from alphaswarm_assets.runtime.measuring import (
    CONVENTIONS,
    aggregate_rows,
    mean_reward_attribution,
    metrics_of,
    row_of,
)
from alphaswarm_assets.runtime.workbench import RunContext, Workbench
from alphaswarm_assets.specs.research import ResearchSpec
from alphaswarm_assets.specs.support import require_supported
from alphaswarm_assets.streams import Streams

SERIES_FILE = "series.safetensors"
"""Per-bar arrays of every rollout: ``returns/<label>``, ``turnover/<label>``, ``cost/<label>``, ``session``."""


def open_policies(bench: Workbench, checkpoint: Artifact) -> list[Policy]:
    """Return the policies a *checkpoint* names, in the order of its seeds.

    Raises
    ------
    StaleArtifactError
        If a policy is of another dataset than the checkpoint.
    """
    policies: list[Policy] = []
    dataset = checkpoint.content.inputs["research_dataset"]
    for seed in cast("Sequence[int]", checkpoint.content.facts["seeds"]):
        artifact = bench.artifacts.get(checkpoint.content.inputs[f"policy[{seed}]"])
        if artifact.content.inputs["research_dataset"] != dataset:
            raise StaleArtifactError(
                f"the policy of seed {seed} was trained on dataset {artifact.content.inputs['research_dataset'][:12]}, "
                f"its checkpoint on {dataset[:12]}; run the study again"
            )
        policies.append(read_policy(artifact.payload).policy)
    return policies


def evaluate(
    bench: Workbench,
    spec: ResearchSpec,
    fold: str,
    *,
    dataset: str,
    checkpoint: str,
    run: RunContext,
) -> str:
    """Store the report of *fold* and return its digest: per-seed rows, the ensemble's, the baselines' and aggregates.

    Raises
    ------
    StaleArtifactError
        If the checkpoint was trained on another dataset than *dataset*.
    """
    require_supported(spec)
    trained = bench.artifacts.get(checkpoint)
    if trained.content.inputs["research_dataset"] != dataset:
        raise StaleArtifactError(
            f"checkpoint {checkpoint[:12]} was trained on dataset {trained.content.inputs['research_dataset'][:12]}, "
            f"and is to be evaluated on {dataset[:12]}. Run `alphaswarm run {spec.key}`: it trains again."
        )
    payload, facts = measure(bench, spec, fold, dataset=dataset, checkpoint=trained)
    artifact = pack(
        kind="report",
        spec_hash=spec.snapshot_hash(),
        payload=payload,
        inputs={"research_dataset": dataset, "trained_checkpoint": checkpoint},
        facts=facts,
        envelope=run.envelope(bench),
    )
    return bench.artifacts.put(artifact)


def measure(
    bench: Workbench, spec: ResearchSpec, fold: str, *, dataset: str, checkpoint: Artifact
) -> tuple[dict[str, bytes], JsonObject]:
    """Return the files and facts of a report; pure in its inputs."""
    panel, walk = open_dataset(bench.artifacts.get(dataset))
    window = walk.fold(fold).evaluate
    if window is None:
        return {}, {
            "fold": fold,
            "evaluated": False,
            "reason": "walk_forward.n_blocks is 1: no block is left to be measured on",
        }
    policies = open_policies(bench, checkpoint)
    episodes = spec.evaluation.episodes
    seeds = evaluate_policies(policies, panel, window, spec.environment, episodes)
    ensemble = evaluate_ensemble(policies, panel, window, spec.environment, episodes)
    baselines = evaluate_baselines(panel, window, spec.environment, episodes)
    streams = Streams(spec.training.seed).fork("evaluation").fork(fold)
    table = [metrics_of(r.returns, r.turnover_one_way, r.cost) for r in seeds]
    facts: JsonObject = {
        "fold": fold,
        "evaluated": True,
        "first_session": _day(ensemble.session[0]),
        "last_session": _day(ensemble.session[-1]),
        "episodes": episodes,
        "bars_unused": ensemble.bars_unused,
        "seeds": [row_of(r, seed=s) for r, s in zip(seeds, spec.seeds, strict=True)],
        "ensemble": row_of(ensemble),
        "baselines": [row_of(r) for r in baselines],
        "aggregate": aggregate_rows(table, spec.evaluation.bootstrap, streams),
        "reward_attribution": mean_reward_attribution(seeds),
        "conventions": dict(CONVENTIONS),
    }
    labelled = [(str(s), r) for s, r in zip(spec.seeds, seeds, strict=True)]
    labelled += [(ENSEMBLE, ensemble), *((r.label, r) for r in baselines)]
    return {SERIES_FILE: _series(labelled, ensemble)}, facts


def _series(labelled: list[tuple[str, Rollout]], ensemble: Rollout) -> bytes:
    arrays = {
        "session": ensemble.session,
        "weights/ensemble": np.ascontiguousarray(ensemble.weights),
    }
    for label, rollout in labelled:
        arrays[f"returns/{label}"] = np.ascontiguousarray(rollout.returns)
        arrays[f"turnover/{label}"] = np.ascontiguousarray(rollout.turnover_one_way)
        arrays[f"cost/{label}"] = np.ascontiguousarray(rollout.cost)
    return save(arrays)


def _day(session: np.int64) -> str:
    return str(np.datetime64(int(session), "D"))
