"""PPO from a panel to a policy: the loop that trains, keeps drafts, and goes on from them.

Every random number comes from a named stream of the seed, so the same arguments give the same bytes. Training stops
only between two updates: whatever interrupts it, the last boundary is kept as a draft, and going on from a draft gives
the bytes of a run that was never stopped. What an update does stands in `learner`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
import torch

from alphaswarm_assets.learning.checkpoint import TrainedPolicy
from alphaswarm_assets.learning.draft import decode_draft, encode_draft, fingerprint
from alphaswarm_assets.learning.learner import Learner
from alphaswarm_assets.markets.panel import Block, Panel
from alphaswarm_assets.ports import Clock
from alphaswarm_assets.specs.environment import EnvironmentSpec
from alphaswarm_assets.specs.training import TrainingSpec

OnProgress: TypeAlias = Callable[[int, int, Mapping[str, float]], None]
KeepDraft: TypeAlias = Callable[[bytes], None]


def train(
    *,
    panel: Panel,
    window: Block,
    training: TrainingSpec,
    environment: EnvironmentSpec,
    seed: int,
    clock: Clock,
    resume: bytes | None = None,
    on_progress: OnProgress | None = None,
    keep_draft: KeepDraft | None = None,
    draft_every_s: float = 10.0,
) -> TrainedPolicy:
    """Return the policy that PPO makes of *window*.

    Parameters
    ----------
    panel, window : Panel, Block
        The market, and the bars of it that training sees.
    training, environment : TrainingSpec, EnvironmentSpec
        How to learn and what in. ``total_timesteps`` is rounded up to whole updates.
    seed : int
        Root of every stream; it stands for ``training.seed``, which is not read.
    clock : Clock
        Decides when a draft is due, and nothing else.
    resume : bytes, optional
        A draft to go on from; one of another run, or damaged, is ignored.
    on_progress : callable, optional
        Given steps done, steps in all and the latest row of the curve after every update.
    keep_draft : callable, optional
        Given a draft every *draft_every_s* seconds, and when anything, an interrupt too, ends training early.
    draft_every_s : float
        Seconds between drafts.

    Raises
    ------
    MarketDataError
        If the window is too short or has no known symbol.
    DivergedError
        If the loss is no longer finite.
    """
    run = fingerprint(
        panel=panel,
        window=window,
        training=training,
        environment=environment,
        seed=seed,
        libraries={"numpy": np.__version__, "torch": torch.__version__},
    )
    learner = Learner(
        panel=panel, window=window, training=training, environment=environment, seed=seed
    )
    draft = decode_draft(resume, run) if resume is not None else None
    if draft is not None:
        learner.restore(draft)
    boundary = learner.state()
    kept_s = clock.monotonic_s()
    try:
        while learner.n_updates < learner.updates_wanted:
            learner.update()
            boundary = learner.state()
            if on_progress is not None:
                on_progress(learner.steps_done, learner.steps_wanted, learner.latest())
            if keep_draft is not None and clock.monotonic_s() - kept_s >= draft_every_s:
                keep_draft(encode_draft(boundary, run))
                kept_s = clock.monotonic_s()
    except BaseException as stopped:
        if keep_draft is not None:
            _keep_last(keep_draft, encode_draft(boundary, run), stopped)
        raise
    return learner.result()


def _keep_last(keep_draft: KeepDraft, draft: bytes, stopped: BaseException) -> None:
    try:
        keep_draft(draft)
    except Exception as failed:  # noqa: BLE001 -- what stopped training is the error to report; this one is noted on it
        stopped.add_note(f"the draft of this training could not be kept either: {failed!r}")
