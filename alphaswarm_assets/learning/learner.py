"""One PPO training run, update by update: act with Gaussian noise, estimate advantages, learn in minibatches.

Streams of the seed, all below ``ppo``: ``init``, ``episodes``, ``noise``, ``minibatches``.

References
----------
.. [1] Schulman, Wolski, Dhariwal, Radford and Klimov (2017), "Proximal Policy Optimization Algorithms",
   arXiv 1707.06347, algorithm 1.
.. [2] Pardo, Tavakoli, Levdik and Kormushev (2018), "Time Limits in Reinforcement Learning", ICML: an episode cut by
   a time limit is bootstrapped from its last state.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import cast

import numpy as np

from alphaswarm_assets.errors import DivergedError
from alphaswarm_assets.learning.adam import Adam
from alphaswarm_assets.learning.checkpoint import CurveRow, TrainedPolicy
from alphaswarm_assets.learning.draft import State, restore_stream, stream_state
from alphaswarm_assets.learning.environment import PortfolioVectorEnv
from alphaswarm_assets.learning.network import Network, one_thread
from alphaswarm_assets.learning.normalizer import fit_normalizer
from alphaswarm_assets.learning.objective import Coefficients, Measures, Minibatch, Objective
from alphaswarm_assets.learning.policy import Policy, initial_parameters, parameter_shapes
from alphaswarm_assets.learning.rollout import EpisodeReturns, Rollouts
from alphaswarm_assets.markets.panel import Block, Panel
from alphaswarm_assets.records.canonical import JsonObject
from alphaswarm_assets.specs.environment import EnvironmentSpec
from alphaswarm_assets.specs.training import TrainingSpec
from alphaswarm_assets.streams import Streams


class Learner:
    """One training run between two updates.

    Attributes
    ----------
    n_updates, updates_wanted : int
        Updates done, and in all.
    """

    def __init__(
        self,
        *,
        panel: Panel,
        window: Block,
        training: TrainingSpec,
        environment: EnvironmentSpec,
        seed: int,
    ) -> None:
        """Set everything up as it is before the first update."""
        streams = Streams(seed).fork("ppo")
        self._panel, self._window, self._seed = panel, window, seed
        self._training, self._environment = training, environment
        self._streams = {
            name: streams.generator(name) for name in ("episodes", "noise", "minibatches")
        }
        self._normalizer = fit_normalizer(panel, window)
        self._env = PortfolioVectorEnv(
            panel=panel,
            window=window,
            environment=environment,
            n_envs=training.n_envs,
            normalizer=self._normalizer,
        )
        self._env.reset(self._streams["episodes"])
        shapes = parameter_shapes(
            self._env.observation_size, training.hidden_sizes, panel.n_symbols
        )
        self._network = Network(
            initial_parameters(
                shapes, initial_log_std=training.initial_log_std, random=streams.generator("init")
            )
        )
        self._adam = Adam(
            len(self._network.flat),
            learning_rate=training.learning_rate,
            max_grad_norm=training.max_grad_norm,
        )
        self._objective = Objective(
            Coefficients(
                clip_range=training.clip_range,
                value_coef=training.value_coef,
                entropy_coef=training.entropy_coef,
            )
        )
        self._rollouts = Rollouts(
            env=self._env,
            n_steps=training.n_steps,
            batch_size=training.batch_size,
            gamma=training.gamma,
            lam=training.gae_lambda,
        )
        self._returns = EpisodeReturns(training.n_envs)
        self._curve: list[CurveRow] = []
        self._steps_per_update = training.n_envs * training.n_steps
        self.n_updates = 0
        self.updates_wanted = math.ceil(training.total_timesteps / self._steps_per_update)

    @property
    def steps_done(self) -> int:
        """Environment steps done, over all environments together."""
        return self.n_updates * self._steps_per_update

    @property
    def steps_wanted(self) -> int:
        """Environment steps in all: `total_timesteps` rounded up to whole updates."""
        return self.updates_wanted * self._steps_per_update

    def update(self) -> None:
        """Act, then learn from it.

        Raises
        ------
        DivergedError
            If a loss is not finite.
        """
        number = self.n_updates + 1
        logged = number % self._training.log_interval == 0 or number == self.updates_wanted
        measures: list[Measures] = []
        # An overflow shows as a loss that is not finite, which is refused by name.
        with one_thread(), np.errstate(all="ignore"):
            self._rollouts.collect(self._network, self._streams["noise"], self._returns)
            for _ in range(self._training.n_epochs):
                self._rollouts.deal(self._streams["minibatches"])
                for batch in self._rollouts.minibatches:
                    self._learn(batch, number, measures if logged else None)
        self.n_updates = number
        if logged:
            self._curve.append(self._row(measures))

    def _learn(self, batch: Minibatch, number: int, measures: list[Measures] | None) -> None:
        network, objective, n = self._network, self._objective, len(batch.target)
        mean = network.actor.forward(batch.observation)
        objective.policy_gradient(
            batch=batch,
            mean=mean,
            log_std=network.log_std,
            d_mean=network.actor.output_gradient(n),
            d_log_std=network.d_log_std,
        )
        network.actor.backward(batch.observation)
        value = network.critic.forward(batch.observation)
        objective.value_gradient(
            batch=batch, value=value, d_value=network.critic.output_gradient(n)
        )
        network.critic.backward(batch.observation)
        norm = network.gradient_norm()
        if measures is not None or not math.isfinite(norm):
            found = objective.measure(batch=batch, mean=mean, log_std=network.log_std, value=value)
            if measures is not None:
                measures.append(found)
            if not math.isfinite(norm):
                self._refuse(number, found, norm)
        self._adam.step(network.flat, network.gradient, norm)

    def _refuse(self, number: int, found: Measures, norm: float) -> None:
        raise DivergedError(
            f"training stopped: the loss and its gradient must be finite, at update {number} policy_loss was "
            f"{found.policy_loss!r}, value_loss {found.value_loss!r} and the gradient's norm {norm!r} "
            f"(seed {self._seed}). Lower training.learning_rate or training.value_coef, or look at the bars of the "
            "window."
        )

    def _row(self, measures: list[Measures]) -> CurveRow:
        def mean(values: list[float]) -> float:
            return math.fsum(values) / len(values)

        return {
            "step": self.steps_done,
            "mean_episode_return": self._returns.take_mean(),
            "policy_loss": mean([m.policy_loss for m in measures]),
            "value_loss": mean([m.value_loss for m in measures]),
            "entropy": mean([m.entropy for m in measures]),
            "approx_kl": mean([m.approx_kl for m in measures]),
            "clip_fraction": mean([m.clip_fraction for m in measures]),
            "explained_variance": self._rollouts.explained_variance(),
        }

    def latest(self) -> dict[str, float]:
        """Return the latest row of the curve, less what it could not compute; empty before the first."""
        row = self._curve[-1] if self._curve else {}
        return {name: value for name, value in row.items() if value is not None}

    def state(self) -> State:
        """Return a copy of everything the next update depends on."""
        return State(
            arrays={
                "flat": self._network.flat.copy(),
                "adam.first": self._adam.first.copy(),
                "adam.second": self._adam.second.copy(),
                "returns.running": self._returns.running.copy(),
                **{f"env.{name}": array for name, array in self._env.state().items()},
            },
            facts={
                "n_updates": self.n_updates,
                "adam_steps": self._adam.n_steps,
                "ended_sum": self._returns.ended_sum,
                "n_ended": self._returns.n_ended,
                "streams": {name: stream_state(g) for name, g in self._streams.items()},
                "curve": list(self._curve),
            },
        )

    def restore(self, state: State) -> None:
        """Go to where *state* was taken."""
        facts = state.facts
        self._env.restore(
            {name[4:]: array for name, array in state.arrays.items() if name.startswith("env.")}
        )
        np.copyto(self._network.flat, state.arrays["flat"])
        np.copyto(self._adam.first, state.arrays["adam.first"])
        np.copyto(self._adam.second, state.arrays["adam.second"])
        np.copyto(self._returns.running, state.arrays["returns.running"])
        self._returns.ended_sum = cast("float", facts["ended_sum"])
        self._returns.n_ended = cast("int", facts["n_ended"])
        self._adam.n_steps = cast("int", facts["adam_steps"])
        self.n_updates = cast("int", facts["n_updates"])
        self._curve = list(cast("list[CurveRow]", facts["curve"]))
        for name, stream in cast("Mapping[str, JsonObject]", facts["streams"]).items():
            restore_stream(self._streams[name], stream)

    def result(self) -> TrainedPolicy:
        """Return what has been learnt so far."""
        policy = Policy(
            symbols=self._panel.symbols,
            hidden_sizes=self._training.hidden_sizes,
            normalizer=self._normalizer,
            parameters=self._network.parameters(),
        )
        meta: JsonObject = {
            "algorithm": "ppo",
            "seed": self._seed,
            "window": [self._window.start, self._window.stop],
            "first_session": int(self._panel.session[self._window.start]),
            "last_session": int(self._panel.session[self._window.stop - 1]),
            "episode_bars": self._env.episode_bars,
            "n_updates": self.n_updates,
            "total_timesteps": self.steps_done,
        }
        return TrainedPolicy(policy=policy, curve=tuple(self._curve), meta=meta)
