"""Rehearse the promoted policy: the ensemble of the last fold's seeds on bars nobody trained or measured on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from alphaswarm_assets.errors import RefusedError
from alphaswarm_assets.learning.environment import PortfolioVectorEnv
from alphaswarm_assets.learning.policy import Ensemble
from alphaswarm_assets.markets.dataset import open_dataset
from alphaswarm_assets.markets.folds import Walk
from alphaswarm_assets.markets.panel import Block, Panel
from alphaswarm_assets.ports import HALT_ALL
from alphaswarm_assets.records.canonical import JsonObject, digest_json
from alphaswarm_assets.records.manifest import pack
from alphaswarm_assets.rehearsal.pack import build_pack, probe_pack
from alphaswarm_assets.rehearsal.session import Session, run_probe, run_session
from alphaswarm_assets.runtime.evaluating import open_policies
from alphaswarm_assets.runtime.registering import require_allowed
from alphaswarm_assets.runtime.workbench import RunContext, Workbench, record_run
from alphaswarm_assets.specs.environment import EnvironmentSpec
from alphaswarm_assets.specs.research import ResearchSpec

MIN_EPISODE_BARS = 21
"""A paper episode shorter than a month of sessions tells nothing; fewer episodes are played instead."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowDesk:
    """Paper episodes over a window of the panel: disjoint, equally long, each from a flat start."""

    panel: Panel
    episodes: tuple[Block, ...]
    environment: EnvironmentSpec
    policy: Ensemble

    def open_episode(self, index: int) -> Iterator[float] | None:
        """Return the simple net returns of episode *index*, step by step, or None when the window is used up."""
        if index >= len(self.episodes):
            return None
        return self._play(self.episodes[index])

    def _play(self, block: Block) -> Iterator[float]:
        env = PortfolioVectorEnv(
            panel=self.panel,
            window=block,
            environment=self.environment,
            n_envs=1,
            episode_bars=len(block) - 1,
        )
        env.reset(np.array([block.start], dtype=np.int64))
        for _ in range(len(block) - 1):
            features, known, held = env.inputs()
            result = env.step(self.policy.target_weights(features, known, held))
            yield float(result.growth[0]) - 1.0


def rehearse(
    bench: Workbench,
    spec: ResearchSpec,
    *,
    verdict: str,
    checkpoint: str,
    dataset: str,
    run: RunContext,
) -> str:
    """Play the paper session of *spec*, store its pack and return the digest.

    Raises
    ------
    RefusedError
        If the verdict does not allow it, there is no window for it, or the session was halted or ran out of time:
        nothing is stored then, and the next run plays it again.
    StaleArtifactError
        If the verdict judged another checkpoint.
    """
    decision = require_allowed(bench, spec, verdict=verdict, checkpoint=checkpoint)
    panel, walk = open_dataset(bench.artifacts.get(dataset))
    policies = open_policies(bench, bench.artifacts.get(checkpoint))
    desk = WindowDesk(
        panel=panel,
        episodes=_episodes(spec, walk),
        environment=spec.environment,
        policy=Ensemble(members=tuple(policies)),
    )
    attempt = digest_json(["paper", spec.snapshot_hash(), verdict, checkpoint, dataset])
    _finish_own_rollback(bench, spec, attempt)
    bench.artifacts.keep_draft(attempt, b"under way")
    session = _play_session(bench, spec, desk)
    content, envelope = _pack(spec, session, checkpoint)
    if decision == "UNGATED" and content["decision"] == "PASS":
        content["decision"] = (
            decision  # a policy that no gate was asked about is approved by no session
        )
    record_run(
        bench,
        run,
        spec,
        target="paper",
        status=session.status,
        result_summary={"paper_pack": content},
    )
    _require_whole(spec, session)
    artifact = pack(
        kind="paper_pack",
        spec_hash=spec.snapshot_hash(),
        payload={},
        inputs={
            "promotion_verdict": verdict,
            "trained_checkpoint": checkpoint,
            "research_dataset": dataset,
        },
        facts={**content, "verdict_decision": decision},
        envelope={**run.envelope(bench), **envelope},
    )
    digest = bench.artifacts.put(artifact)
    bench.artifacts.drop_draft(attempt)
    return digest


def _finish_own_rollback(bench: Workbench, spec: ResearchSpec, attempt: str) -> None:
    # A session that rolled itself back and was killed before its pack was kept is played again, to the same end. An
    # operator's halt has another reason, and stays.
    reason = bench.halts.reason(spec.key)
    if reason is not None and reason.startswith("rollback:") and bench.artifacts.draft(attempt):
        bench.halts.release(spec.key)


def _require_whole(spec: ResearchSpec, session: Session) -> None:
    # What a person or the clock cut short is no evidence, and a pack of it would depend on when it was cut.
    played = f"after {len(session.episodes)} episodes"
    if session.status == "halted" and session.halt is not None:
        raise RefusedError(
            f"the paper session of {spec.key} was halted ({session.halt.key}: {session.halt.reason}) {played}. "
            "Release it with `alphaswarm resume`, then run again."
        )
    if session.status == "timeout":
        raise RefusedError(
            f"the paper session of {spec.key} ran out of paper.duration_seconds {played}. Run it again, or give it "
            "more time."
        )


def _play_session(bench: Workbench, spec: ResearchSpec, desk: WindowDesk) -> Session:
    keys = (spec.key, HALT_ALL)
    if spec.paper is None:
        return run_probe(desk=desk, halts=bench.halts, halt_keys=keys, clock=bench.clock)
    return run_session(
        desk=desk, paper=spec.paper, halts=bench.halts, halt_keys=keys, clock=bench.clock
    )


def _pack(spec: ResearchSpec, session: Session, checkpoint: str) -> tuple[JsonObject, JsonObject]:
    spec_hash, seed = spec.snapshot_hash(), spec.training.seed
    if spec.paper is None:
        return probe_pack(
            session=session,
            spec_hash=spec_hash,
            checkpoint=checkpoint,
            seed=seed,
            seeds=spec.seeds,
        )
    return build_pack(
        session=session,
        paper=spec.paper,
        spec_hash=spec_hash,
        checkpoint=checkpoint,
        seed=seed,
        seeds=spec.seeds,
    )


def _episodes(spec: ResearchSpec, walk: Walk) -> tuple[Block, ...]:
    # Equal episodes of the reserved window, the newest bars last; a probe is one episode on the last block.
    if spec.paper is None:
        window = walk.folds[-1].evaluate
        if window is None:
            raise RefusedError(
                f"spec {spec.key} has one block and no `paper`: there is no bar its policy has not been trained on"
            )
        return (window,)
    if walk.paper is None:
        raise RefusedError(
            f"the dataset of {spec.key} reserves no paper window; run the study again"
        )
    n = max(1, min(spec.paper.max_episodes, len(walk.paper) // MIN_EPISODE_BARS))
    size = len(walk.paper) // n
    first = walk.paper.stop - n * size
    return tuple(Block(start=first + i * size, stop=first + (i + 1) * size) for i in range(n))
