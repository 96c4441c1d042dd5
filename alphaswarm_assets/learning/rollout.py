"""Rollouts: T steps of E environments under the current policy, as rows that minibatches are cut from."""

from __future__ import annotations

import numpy as np
import torch

from alphaswarm_assets.arrays import BoolArray, Float32Array, Float64Array
from alphaswarm_assets.learning.advantages import gae
from alphaswarm_assets.learning.environment import PortfolioVectorEnv
from alphaswarm_assets.learning.network import Network
from alphaswarm_assets.learning.objective import Minibatch, masked_log_prob, standardise
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
    """Preallocated samples: observations as rows, everything else as columns, cut into minibatches once.

    Parameters
    ----------
    env : PortfolioVectorEnv
        Restarting itself.
    n_steps, batch_size : int
        T, and the samples of a minibatch; the last one of an epoch takes what is left.
    gamma, lam : float
        Discount, and lambda of the advantages.

    Attributes
    ----------
    minibatches : list of Minibatch
        Views of the samples as they were last dealt.
    value, target : (T, E) float64
        What the critic said, and what it should have said.
    """

    def __init__(
        self, *, env: PortfolioVectorEnv, n_steps: int, batch_size: int, gamma: float, lam: float
    ) -> None:
        """Lay out the samples and cut the views."""
        t, e, d, a = n_steps, env.n_envs, env.observation_size, env.n_symbols + 1
        n = t * e
        self._env, self._gamma, self._lam, self._shape = env, gamma, lam, (t, e)
        self._observations, self._dealt_observations = torch.zeros(n, d), torch.zeros(n, d)
        self._columns: Float32Array = np.zeros((2 * a + 3, n), dtype=np.float32)
        self._dealt: Float32Array = np.zeros_like(self._columns)
        self._columns[2 * a - 1] = 1.0  # cash can always be held
        self._logits, self._mask = self._columns[:a], self._columns[a : 2 * a]
        self._log_prob, self._advantage, self._target = self._columns[2 * a :]
        self._step_observations = [self._observations[i : i + e] for i in range(0, n, e)]
        self._last = torch.zeros(e, d)
        self._reward = np.zeros((t, e))
        self._done, self._terminated = (
            np.zeros((t, e), dtype=np.bool_),
            np.zeros((t, e), dtype=np.bool_),
        )
        self.minibatches = [
            Minibatch(
                observation=self._dealt_observations[start : start + batch_size],
                logits=self._dealt[:a, start : start + batch_size],
                mask=self._dealt[a : 2 * a, start : start + batch_size],
                log_prob=self._dealt[2 * a, start : start + batch_size],
                advantage=self._dealt[2 * a + 1, start : start + batch_size],
                target=self._dealt[2 * a + 2, start : start + batch_size],
            )
            for start in range(0, n, batch_size)
        ]
        self.value: Float64Array = np.zeros((t, e))
        self.target: Float64Array = np.zeros((t, e))

    def collect(
        self, network: Network, noise: np.random.Generator, returns: EpisodeReturns
    ) -> None:
        """Act T steps, adding Gaussian *noise* to the mean logits, and work out advantages and value targets."""
        env, (n_steps, n_envs) = self._env, self._shape
        shape = (env.n_symbols + 1, n_steps, n_envs)
        drawn = noise.standard_normal(shape, dtype=np.float32)
        shift = drawn * np.exp(network.log_std)[:, None, None]
        logits, mask = self._logits.reshape(shape), self._mask.reshape(shape)
        observations = [o.numpy() for o in self._step_observations]
        ends: list[tuple[int, BoolArray, Float32Array]] = []
        for t, observation in enumerate(self._step_observations):
            known = env.known()
            np.copyto(observations[t], env.observation)
            mask[:-1, t] = known.T
            action = np.add(network.actor.forward(observation), shift[:, t], out=logits[:, t])
            result = env.step(weights_from_logits(action.T, known))
            self._reward[t], self._done[t], self._terminated[t] = (
                result.reward,
                result.done,
                result.terminated,
            )
            if n_done := len(result.final_observation):
                ends.append((t, result.done.copy(), result.final_observation))
            returns.add(result.reward, result.done, n_done)
        self._log_prob[:] = masked_log_prob(
            drawn.reshape(self._mask.shape), network.log_std, self._mask
        )
        self._estimate(network, ends)

    def deal(self, random: np.random.Generator) -> None:
        """Deal the samples to the minibatches anew."""
        order = random.permutation(len(self._observations))
        np.take(
            self._observations.numpy(),
            order,
            axis=0,
            out=self._dealt_observations.numpy(),
            mode="clip",
        )
        np.take(self._columns, order, axis=1, out=self._dealt, mode="clip")
        advantage, size = self._dealt[-2], len(self.minibatches[0].target)
        whole = len(advantage) // size * size
        standardise(advantage[:whole].reshape(-1, size))
        standardise(advantage[None, whole:])

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
        self._advantage[:] = advantage.ravel()
        self._target[:] = self.target.ravel()

    def _value_of(self, network: Network, observation: Float32Array) -> Float32Array:
        n = len(observation)
        self._last.numpy()[:n] = observation
        return network.critic.forward(self._last)[0, :n]
