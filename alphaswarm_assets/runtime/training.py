"""Train the policies of one fold: one run a seed, resumable, remembered once it is whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from alphaswarm_assets.errors import MissingArtifactError
from alphaswarm_assets.learning.checkpoint import policy_files, read_policy
from alphaswarm_assets.learning.ppo import train
from alphaswarm_assets.markets.dataset import open_dataset
from alphaswarm_assets.ports import Progress
from alphaswarm_assets.records.canonical import JsonObject, digest_json
from alphaswarm_assets.records.manifest import pack
from alphaswarm_assets.runtime.workbench import RunContext, Workbench
from alphaswarm_assets.specs.research import ResearchSpec
from alphaswarm_assets.specs.support import require_supported
from alphaswarm_assets.streams import seed_all


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedRun:
    """One seed of one fold to be trained."""

    spec: ResearchSpec
    fold: str
    seed: int
    dataset: str
    """Digest of the dataset artifact."""

    @property
    def topic(self) -> str:
        """Where its progress is posted."""
        return f"{self.spec.key}/{self.fold}/{self.seed}"

    def memo(self, code_version: str) -> str:
        """Return what decides the policy this run makes, as one digest."""
        return digest_json(
            {
                "schema": "alphaswarm.seed-run/1",
                "spec_hash": self.spec.snapshot_hash(),
                "fold": self.fold,
                "seed": self.seed,
                "dataset": self.dataset,
                "code_version": code_version,
            }
        )


def train_seed(bench: Workbench, task: SeedRun, run: RunContext) -> str:
    """Return the digest of the policy of *task*, training it unless it is remembered and still verifies.

    A draft of the learner's whole state is kept while it runs, so a killed run goes on where it was and ends with the
    same bytes.
    """
    require_supported(task.spec)
    memo = task.memo(run.code_version)
    known = bench.artifacts.recall(memo)
    if known is not None:
        return known
    panel, walk = open_dataset(bench.artifacts.get(task.dataset))
    seed_all(task.seed)

    def report(step: int, total: int, values: Mapping[str, float]) -> None:
        label, at = f"{task.fold} · seed {task.seed}", bench.clock.now().isoformat()
        progress = Progress(label=label, step=step, total=total, at=at, values=values)
        bench.progress.post(task.topic, progress)

    with bench.device.lease():
        trained = train(
            panel=panel,
            window=walk.fold(task.fold).train,
            training=task.spec.training,
            environment=task.spec.environment,
            seed=task.seed,
            resume=bench.artifacts.draft(memo),
            on_progress=report,
            keep_draft=lambda data: bench.artifacts.keep_draft(memo, data),
            clock=bench.clock,
        )
    artifact = pack(
        kind="policy",
        spec_hash=task.spec.snapshot_hash(),
        payload=policy_files(trained),
        inputs={"research_dataset": task.dataset},
        seed=task.seed,
        facts={"fold": task.fold, **trained.meta},
        envelope=run.envelope(bench),
    )
    digest = bench.artifacts.put(artifact)
    bench.artifacts.remember(memo, digest)
    bench.artifacts.drop_draft(memo)
    return digest


def gather(
    bench: Workbench,
    spec: ResearchSpec,
    fold: str,
    *,
    dataset: str,
    policies: Mapping[int, str],
    run: RunContext,
) -> str:
    """Store the checkpoint of *fold*, which names the policy of every seed by digest, and return its digest.

    Raises
    ------
    MissingArtifactError
        If the policy of a seed of the battery is not among *policies*.
    """
    missing = [seed for seed in spec.seeds if seed not in policies]
    if missing:
        raise MissingArtifactError(
            f"{fold} lacks the policies of the seeds {missing}; train them first"
        )
    seeds = [_seed_facts(bench, seed, policies[seed]) for seed in spec.seeds]
    artifact = pack(
        kind="checkpoint",
        spec_hash=spec.snapshot_hash(),
        payload={},
        inputs={"research_dataset": dataset} | {f"policy[{s}]": policies[s] for s in spec.seeds},
        facts={"fold": fold, "seeds": list(spec.seeds), "training": seeds},
        envelope=run.envelope(bench),
    )
    return bench.artifacts.put(artifact)


def _seed_facts(bench: Workbench, seed: int, digest: str) -> JsonObject:
    manifest = bench.artifacts.manifest(digest)
    return {"seed": seed, "policy": digest, "steps": cast("int", manifest.facts["total_timesteps"])}


def learning_curves_of(bench: Workbench, checkpoint: str) -> dict[str, list[tuple[int, float]]]:
    """Return (step, mean episode return) along the training of every seed of *checkpoint*."""
    held = bench.artifacts.get(checkpoint).content
    curves: dict[str, list[tuple[int, float]]] = {}
    for seed in cast("Sequence[int]", held.facts["seeds"]):
        policy = bench.artifacts.get(held.inputs[f"policy[{seed}]"])
        curves[str(seed)] = [
            (int(step), float(reached))
            for row in read_policy(policy.payload).curve
            if (step := row["step"]) is not None
            and (reached := row["mean_episode_return"]) is not None
        ]
    return curves


def log_curves(bench: Workbench, spec: ResearchSpec, fold: str, checkpoint: str) -> None:
    """Log the learning curves of *checkpoint* as one run of the experiment tracker; the same checkpoint once."""
    bench.registry.log_curves(
        run_name=f"{spec.key} {fold}",
        identity=f"curves.{checkpoint}",
        curves={
            f"seed_{seed}.mean_episode_return": curve
            for seed, curve in learning_curves_of(bench, checkpoint).items()
        },
        tags={
            "alphaswarm.spec_key": spec.key,
            "alphaswarm.spec_hash": spec.snapshot_hash(),
            "alphaswarm.fold": fold,
            "alphaswarm.checkpoint": checkpoint,
        },
    )
