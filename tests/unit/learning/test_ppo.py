from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import pytest

from alphaswarm_assets.errors import DivergedError, StoreError
from alphaswarm_assets.learning.adam import Adam
from alphaswarm_assets.learning.checkpoint import TrainedPolicy, policy_files
from alphaswarm_assets.learning.evaluation import roll_out
from alphaswarm_assets.learning.ppo import train
from alphaswarm_assets.learning.rollout import Rollouts
from alphaswarm_assets.learning.traders import follow
from alphaswarm_assets.markets.panel import Block, Panel
from alphaswarm_assets.ports import Clock
from alphaswarm_assets.specs.environment import EnvironmentSpec
from alphaswarm_assets.specs.training import TrainingSpec
from alphaswarm_assets.streams import Streams

MakePanel: TypeAlias = Callable[..., Panel]

SMALL: dict[str, Any] = {
    "n_envs": 4,
    "n_steps": 16,
    "batch_size": 24,
    "n_epochs": 2,
    "hidden_sizes": (8, 8),
    "log_interval": 3,
}
"""Ten updates of 64 steps; 24 does not divide 64, so every epoch ends in a shorter minibatch."""

WINDOW = Block(start=5, stop=110)


def _train(
    panel: Panel,
    clock: Clock,
    *,
    seed: int = 7,
    window: Block = WINDOW,
    environment: EnvironmentSpec | None = None,
    steps: int = 600,
    **extra: Any,
) -> TrainedPolicy:
    hyper = {**SMALL, **{k: v for k, v in extra.items() if k in TrainingSpec.model_fields}}
    rest = {k: v for k, v in extra.items() if k not in TrainingSpec.model_fields}
    return train(
        panel=panel,
        window=window,
        training=TrainingSpec(seed=0, total_timesteps=steps, **hyper),
        environment=environment or EnvironmentSpec(episode_bars=20),
        seed=seed,
        clock=clock,
        **rest,
    )


class Stopped(BaseException):
    """Something nobody expects."""


def _stopped_after(panel: Panel, clock: Clock, n_updates: int) -> list[bytes]:
    """Return the drafts of a training run that is stopped from outside after *n_updates* updates."""
    drafts: list[bytes] = []
    done: list[int] = []

    def stop(step: int, total: int, row: Mapping[str, float]) -> None:
        done.append(step)
        if len(done) == n_updates:
            raise Stopped

    with pytest.raises(Stopped):
        _train(panel, clock, on_progress=stop, keep_draft=drafts.append)
    return drafts


def test_the_same_arguments_give_the_same_bytes_and_another_seed_gives_others(
    walk: MakePanel, clock: Clock
) -> None:
    first, again, other = (
        policy_files(_train(walk(gaps=0.1), clock, seed=seed)) for seed in (7, 7, 8)
    )
    assert first == again
    assert first != other


def test_training_reads_nothing_outside_its_window(
    walk: MakePanel, clock: Clock, panel_of: MakePanel
) -> None:
    panel = walk()
    outside = np.ones(panel.n_bars, dtype=np.bool_)
    outside[WINDOW.start : WINDOW.stop] = False
    changed = {
        name: np.where(outside.reshape(-1, *[1] * (array.ndim - 1)), array * 3.0, array)
        for name, array in (
            ("open", panel.open),
            ("close", panel.close),
            ("features", panel.features),
        )
    }
    other = panel_of(changed["open"], changed["close"], features=changed["features"])
    assert policy_files(_train(panel, clock)) == policy_files(_train(other, clock))


def test_the_budget_is_rounded_up_to_whole_updates_and_said(walk: MakePanel, clock: Clock) -> None:
    seen: list[tuple[int, int, Mapping[str, float]]] = []
    trained = _train(walk(), clock, on_progress=lambda *report: seen.append(report))
    assert trained.meta["total_timesteps"] == 640
    assert trained.meta["n_updates"] == 10
    assert [(step, total) for step, total, _ in seen] == [(64 * i, 640) for i in range(1, 11)]
    assert seen[0][2] == {}
    assert seen[-1][2]["step"] == 640


def test_the_curve_has_a_row_every_interval_and_one_at_the_end(
    walk: MakePanel, clock: Clock
) -> None:
    curve = _train(walk(), clock).curve
    assert [row["step"] for row in curve] == [192, 384, 576, 640]
    assert set(curve[0]) == {
        "step",
        "mean_episode_return",
        "policy_loss",
        "value_loss",
        "entropy",
        "approx_kl",
        "clip_fraction",
        "explained_variance",
    }
    # Episodes of 20 decisions: two of each environment have ended by step 48, of 64 / 4 = 16 an update.
    assert all(isinstance(row["mean_episode_return"], float) for row in curve[:3])


def test_watching_more_closely_changes_nothing(walk: MakePanel, clock: Clock) -> None:
    close, far = (_train(walk(), clock, log_interval=n).policy for n in (1, 10))
    assert all((close.parameters[k] == v).all() for k, v in far.parameters.items())


def test_no_episode_ended_is_no_return_and_not_a_number(walk: MakePanel, clock: Clock) -> None:
    trained = _train(walk(), clock, environment=EnvironmentSpec(episode_bars=100), steps=64)
    assert trained.curve[0]["mean_episode_return"] is None


@pytest.mark.parametrize("n_updates", [1, 4, 9])
def test_a_stopped_training_goes_on_to_the_same_bytes(
    walk: MakePanel, clock: Clock, n_updates: int
) -> None:
    panel = walk(gaps=0.1)
    drafts = _stopped_after(panel, clock, n_updates)
    whole = policy_files(_train(panel, clock))
    seen: list[int] = []
    resumed = _train(
        panel, clock, resume=drafts[-1], on_progress=lambda step, *_: seen.append(step)
    )
    assert policy_files(resumed) == whole
    assert seen[0] == 64 * (n_updates + 1)


@pytest.mark.parametrize("instant", range(4))
def test_a_stop_in_the_middle_of_an_update_goes_on_from_the_boundary_before(
    walk: MakePanel, clock: Clock, monkeypatch: pytest.MonkeyPatch, instant: int
) -> None:
    panel = walk()
    whole = policy_files(_train(panel, clock))
    # Sixty minibatches in all: 10 updates of 2 epochs of 3.
    at = int(Streams(instant).generator("instant").integers(1, 61))
    step, calls = Adam.step, [0]
    drafts: list[bytes] = []

    def interrupt(self: Adam, *arguments: Any) -> None:
        calls[0] += 1
        if calls[0] == at:
            raise KeyboardInterrupt
        step(self, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(Adam, "step", interrupt)
        with pytest.raises(KeyboardInterrupt):
            _train(panel, clock, keep_draft=drafts.append)
    assert policy_files(_train(panel, clock, resume=drafts[-1])) == whole


def test_a_stop_before_the_first_update_leaves_a_draft_too(
    walk: MakePanel, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = walk()
    drafts: list[bytes] = []

    def interrupt(self: Rollouts, *arguments: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Rollouts, "collect", interrupt)
        with pytest.raises(KeyboardInterrupt):
            _train(panel, clock, keep_draft=drafts.append)
    assert policy_files(_train(panel, clock, resume=drafts[0])) == policy_files(
        _train(panel, clock)
    )


def test_drafts_are_kept_as_often_as_asked(walk: MakePanel, clock: Clock) -> None:
    # This clock moves a second a look: one look an update, one more when a draft was kept.
    drafts: list[bytes] = []
    _train(walk(), clock, keep_draft=drafts.append, draft_every_s=3.0)
    assert len(drafts) == 3


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 8},
        {"window": Block(start=5, stop=109)},
        {"learning_rate": 1e-3},
        {"environment": EnvironmentSpec(episode_bars=20, cost_bps=11.0)},
    ],
    ids=["seed", "window", "hyper-parameter", "environment"],
)
def test_a_draft_of_another_run_is_not_gone_on_from(
    walk: MakePanel, clock: Clock, change: Any
) -> None:
    panel = walk()
    draft = _stopped_after(panel, clock, 4)[-1]
    assert policy_files(_train(panel, clock, resume=draft, **change)) == policy_files(
        _train(panel, clock, **change)
    )


def test_a_draft_on_other_bars_is_not_gone_on_from(walk: MakePanel, clock: Clock) -> None:
    draft = _stopped_after(walk(), clock, 4)[-1]
    other = walk(name="other")
    assert policy_files(_train(other, clock, resume=draft)) == policy_files(_train(other, clock))


@pytest.mark.parametrize(
    "damage",
    [lambda _: b"", lambda d: d[:100], lambda d: d[:-10], lambda _: b"no draft at all"],
    ids=["empty", "cut in the header", "cut at the end", "foreign"],
)
def test_a_damaged_draft_is_not_gone_on_from(
    walk: MakePanel, clock: Clock, damage: Callable[[bytes], bytes]
) -> None:
    panel = walk()
    draft = damage(_stopped_after(panel, clock, 4)[-1])
    assert policy_files(_train(panel, clock, resume=draft)) == policy_files(_train(panel, clock))


def test_a_draft_that_cannot_be_kept_does_not_hide_what_stopped_training(
    walk: MakePanel, clock: Clock
) -> None:
    def full(data: bytes) -> None:
        raise StoreError("disk full")

    def stop(*report: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        _train(walk(), clock, on_progress=stop, keep_draft=full)
    assert any("disk full" in note for note in stopped.value.__notes__)


def test_a_loss_that_is_not_finite_stops_training_by_name(walk: MakePanel, clock: Clock) -> None:
    drafts: list[bytes] = []
    with pytest.raises(
        DivergedError, match=r"at update 1 policy_loss was .* value_loss .* \(seed 7\)"
    ):
        _train(walk(), clock, value_coef=1e38, keep_draft=drafts.append)
    assert len(drafts) == 1


def test_it_learns_to_hold_the_symbol_that_always_rises(
    walk: MakePanel, panel_of: MakePanel, clock: Clock
) -> None:
    noise = walk(n_bars=500, n_symbols=4)
    close, open_ = np.sqrt(noise.close), np.sqrt(noise.open)  # 1 % a day, 0.5 % of it in the day
    close[:, 1] = 50.0 * 1.004 ** np.arange(500)
    open_[:, 1] = close[:, 1] / 1.002
    panel = panel_of(open_, close, features=noise.features)
    environment = EnvironmentSpec(episode_bars=64)
    trained = train(
        panel=panel,
        window=Block(start=0, stop=400),
        training=TrainingSpec(seed=0, total_timesteps=150_000),
        environment=environment,
        seed=1,
        clock=clock,
    )
    held = roll_out(
        "trained",
        follow(trained.policy),
        panel=panel,
        window=Block(start=400, stop=500),
        environment=environment,
        episodes=1,
    )
    assert held.weights[:, 1].mean() > 0.8
    first, last = (trained.curve[i]["mean_episode_return"] for i in (0, -1))
    assert first is not None
    assert last is not None
    assert last > first
