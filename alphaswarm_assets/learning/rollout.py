"""Rollouts: T steps of E environments under the current policy, as rows that minibatches are cut from."""

from __future__ import annotations

from typing import cast

import numpy as np
import torch  # noqa: TID253 -- only learning's trainer imports this module

from alphaswarm_assets.arrays import BoolArray, Float32Array, Float64Array
from alphaswarm_assets.learning.advantages import gae
from alphaswarm_assets.learning.environment import PortfolioVectorEnv
from alphaswarm_assets.learning.network import Network
from alphaswarm_assets.learning.objective import Minibatch, masked_log_prob
from alphaswarm_assets.learning.policy import weights_from_logits


class EpisodeReturns:
    """Sums of rewards, episode by episode, averaged over those that ended since the last row of the curve."""

    def __init__(self, n_envs: int) -> None:
        """Start with nothing summed."""
        self.running: Float64Array = np.zeros(n_envs)
        self.ended_sum, self.n_ended = 0.0, 0

    def add(self, reward: Float64Array, done: BoolArray, n_done: int) -> None:
        """Add one step's rewards (E,)."""
        self.running += reward
        if n_done:
            self.ended_sum += float(np.add.reduce(self.running[done]))
            self.n_ended += n_done
            self.running[done] = 0.0

    def take_mean(self) -> float | None:
        """Return the mean of the episodes that ended since the last call, None if none did, and start anew."""
        mean = self.ended_sum / self.n_ended if self.n_ended else None
        self.ended_sum, self.n_ended = 0.0, 0
        return mean


class Rollouts:
    """Preallocated rows, one a sample: observation, action, mask, log probability, advantage, value target.

    Parameters
    ----------
    env : PortfolioVectorEnv
        Restarting itself.
    n_steps, batch_size : int
        T, and the rows of a minibatch; the last one of an epoch takes what is left.
    gamma, lam : float
        Discount, and lambda of the advantages.
    """

    def __init__(
        self, *, env: PortfolioVectorEnv, n_steps: int, batch_size: int, gamma: float, lam: float
    ) -> None:
        """Lay out the rows and cut the views once."""
        t, e, d, a = n_steps, env.n_envs, env.observation_size, env.n_symbols + 1
        self._env, self._gamma, self._lam = env, gamma, lam
        self._shape = (t, e)
        self._columns = {
            "observation": slice(0, d),
            "logits": slice(d, d + a),
            "known": slice(d + a, d + 2 * a - 1),
            "mask": slice(d + a, d + 2 * a),
        }
        self._rows = torch.zeros(t * e, d + 2 * a + 3)
        self._shuffled = torch.zeros_like(self._rows)
        self._rows_np: Float32Array = self._rows.numpy()
        self._rows_np[:, d + 2 * a - 1] = 1.0  # cash can always be held
        self._steps = self._rows_np.reshape(t, e, -1)
        self._observations = self._rows[:, :d]
        self._step_observations = [self._rows[i * e : (i + 1) * e, :d] for i in range(t)]
        self._last = torch.zeros(e, d)
        self._reward = np.zeros((t, e))
        self._done, self._terminated = np.zeros((t, e), dtype=np.bool_), np.zeros((t, e), dtype=np.bool_)
        self.minibatches = [
            self._minibatch(slice(i, min(i + batch_size, t * e))) for i in range(0, t * e, batch_size)
        ]
        self.value: Float64Array = np.zeros((t, e))
        self.target: Float64Array = np.zeros((t, e))

    def collect(self, network: Network, noise: np.random.Generator, returns: EpisodeReturns) -> None:
        """Act T steps, adding Gaussian *noise* to the mean logits, and work out advantages and value targets."""
        env, steps, columns = self._env, self._steps, self._columns
        deviation = np.exp(network.log_std)
        drawn = noise.standard_normal((*self._shape, env.n_symbols + 1), dtype=np.float32)
        ends: list[tuple[int, BoolArray, Float32Array]] = []
        for t, observation in enumerate(self._step_observations):
            row, known = steps[t], env.known()
            row[:, columns["observation"]] = env.observation
            row[:, columns["known"]] = known
            logits = network.actor.forward(observation) + deviation * drawn[t]
            row[:, columns["logits"]] = logits
            result = env.step(weights_from_logits(logits, known))
            self._reward[t], self._done[t], self._terminated[t] = result.reward, result.done, result.terminated
            if n_done := len(result.final_observation):
                ends.append((t, result.done.copy(), result.final_observation))
            returns.add(result.reward, result.done, n_done)
        steps[:, :, -3] = masked_log_prob(
            drawn.reshape(len(self._rows), -1), network.log_std, self._rows_np[:, columns["mask"]]
        ).reshape(self._shape)
        self._estimate(network, ends)

    def shuffle(self, random: np.random.Generator) -> None:
        """Deal the rows to the minibatches anew."""
        order = random.permutation(len(self._rows))
        np.take(self._rows_np, order, axis=0, out=self._shuffled.numpy(), mode="clip")

    def explained_variance(self) -> float | None:
        """Return the share of the value targets' variance that the values had explained, None if there is none."""
        spread = float(self.target.var())
        return 1.0 - float((self.target - self.value).var()) / spread if spread > 0.0 else None

    def _estimate(self, network: Network, ends: list[tuple[int, BoolArray, Float32Array]]) -> None:
        self.value[...] = network.critic.forward(self._observations).reshape(self._shape)
        following = np.empty_like(self.value)
        following[:-1] = self.value[1:]
        following[-1] = self._value_of(network, self._env.observation)
        # After a time limit the row below belongs to another episode.
        for t, done, final_observation in ends:
            following[t, done] = self._value_of(network, final_observation)
        advantage = gae(
            rewards=self._reward,
            values=self.value,
            next_values=following,
            terminated=self._terminated,
            done=self._done,
            gamma=self._gamma,
            lam=self._lam,
        )
        np.add(advantage, self.value, out=self.target)
        self._steps[:, :, -2] = advantage
        self._steps[:, :, -1] = self.target

    def _value_of(self, network: Network, observation: Float32Array) -> Float32Array:
        n = len(observation)
        self._last.numpy()[:n] = observation
        return network.critic.forward(self._last)[:n, 0]

    def _minibatch(self, rows: slice) -> Minibatch:
        view = cast("Float32Array", self._shuffled.numpy()[rows])
        return Minibatch(
            observation=self._shuffled[rows, self._columns["observation"]],
            logits=view[:, self._columns["logits"]],
            mask=view[:, self._columns["mask"]],
            log_prob=view[:, -3],
            advantage=view[:, -2],
            target=view[:, -1],
        )
