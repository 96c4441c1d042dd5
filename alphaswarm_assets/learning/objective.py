"""PPO's clipped objective and its gradient with respect to what the networks put out.

References
----------
.. [1] Schulman, Wolski, Dhariwal, Radford and Klimov (2017), "Proximal Policy Optimization Algorithms",
   arXiv 1707.06347, equations 7 and 9.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

from alphaswarm_assets.arrays import Float32Array

ENTROPY_CONSTANT = 0.5 * math.log(2.0 * math.pi * math.e)
"""Entropy of a unit Gaussian in one dimension."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Coefficients:
    """Weights of the loss's parts."""

    clip_range: float
    value_coef: float
    entropy_coef: float


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Minibatch:
    """B samples of a rollout; all but the observations are columns."""

    observation: torch.Tensor
    """(B, D)."""
    logits: Float32Array
    """(A, B) the action that was drawn."""
    mask: Float32Array
    """(A, B) 1 for cash and for each symbol that was known, else 0: a masked logit changed nothing, so it is no
    part of the action's probability."""
    log_prob: Float32Array
    """(B,) of the drawn action then, without the constant of the Gaussian."""
    advantage: Float32Array
    """(B,) standardised over the minibatch."""
    target: Float32Array
    """(B,) what the value is fitted to."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Measures:
    """What an update did, for the learning curve."""

    policy_loss: float
    value_loss: float
    entropy: float
    approx_kl: float
    clip_fraction: float


def masked_log_prob(noise: Float32Array, log_std: Float32Array, mask: Float32Array) -> Float32Array:
    """Return the log density (B,) of actions *noise* (A, B) deviations off their mean, without the constant."""
    density = noise * noise
    density *= np.float32(-0.5)
    density -= log_std[:, None]
    density *= mask
    return np.add.reduce(density, axis=0)


class Objective:
    """The loss over minibatches of one size or another.

    ``-mean(min(r A, clip(r) A)) + value_coef mean((v - R)^2) - entropy_coef H``.
    """

    def __init__(self, coefficients: Coefficients) -> None:
        """Fix the weights of the parts."""
        self._c = coefficients

    def policy_gradient(
        self,
        *,
        batch: Minibatch,
        mean: Float32Array,
        log_std: Float32Array,
        d_mean: Float32Array,
        d_log_std: Float32Array,
    ) -> None:
        """Write the loss's gradient with respect to mean (A, B) and log_std (A,)."""
        n = np.float32(len(batch.target))
        low, high = np.float32(1.0 - self._c.clip_range), np.float32(1.0 + self._c.clip_range)
        advantage = batch.advantage
        precision = np.exp(-log_std)[:, None]
        noise = batch.logits - mean
        noise *= precision
        ratio = np.exp(masked_log_prob(noise, log_std, batch.mask) - batch.log_prob)
        # Where the clipped branch is the smaller one it is a constant, and nothing flows.
        flows = np.where(advantage > 0.0, ratio <= high, ratio >= low)
        ratio *= advantage
        ratio *= flows
        ratio /= -n
        pull = ratio * batch.mask
        pull *= noise
        np.multiply(pull, precision, out=d_mean)
        pull *= noise
        pull -= (ratio + np.float32(self._c.entropy_coef) / n) * batch.mask
        np.add.reduce(pull, axis=1, out=d_log_std)

    def value_gradient(
        self, *, batch: Minibatch, value: Float32Array, d_value: Float32Array
    ) -> None:
        """Write the loss's gradient with respect to value (1, B)."""
        np.subtract(value[0], batch.target, out=d_value[0])
        d_value *= np.float32(2.0 * self._c.value_coef / len(batch.target))

    def measure(
        self, *, batch: Minibatch, mean: Float32Array, log_std: Float32Array, value: Float32Array
    ) -> Measures:
        """Return the parts of the loss, in float64."""
        advantage = batch.advantage.astype(np.float64)
        noise = (batch.logits - mean) * np.exp(-log_std)[:, None]
        log_ratio = (masked_log_prob(noise, log_std, batch.mask) - batch.log_prob).astype(
            np.float64
        )
        ratio = np.exp(log_ratio)
        clipped = np.clip(ratio, 1.0 - self._c.clip_range, 1.0 + self._c.clip_range)
        miss = value[0].astype(np.float64) - batch.target
        entropy = (batch.mask * (log_std.astype(np.float64) + ENTROPY_CONSTANT)[:, None]).sum(
            axis=0
        )
        return Measures(
            policy_loss=-float(np.minimum(ratio * advantage, clipped * advantage).mean()),
            value_loss=float((miss * miss).mean()),
            entropy=float(entropy.mean()),
            approx_kl=float((ratio - 1.0 - log_ratio).mean()),
            clip_fraction=float((np.abs(ratio - 1.0) > self._c.clip_range).mean()),
        )


def standardise(advantage: Float32Array) -> None:
    """Give each row of *advantage* (M, B) mean 0 and sample deviation 1, in place; a row of one is left as it is."""
    n = advantage.shape[1]
    if n < 2:
        return
    advantage -= np.add.reduce(advantage, axis=1, keepdims=True) / np.float32(n)
    variance = np.add.reduce(advantage * advantage, axis=1, keepdims=True) / np.float32(n - 1)
    advantage /= np.sqrt(variance) + np.float32(1e-8)
