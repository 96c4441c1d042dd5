"""Generalised advantage estimation over E environments, right at every kind of episode end.

References
----------
.. [1] Schulman, Moritz, Levine, Jordan and Abbeel (2016), "High-Dimensional Continuous Control Using Generalized
   Advantage Estimation", ICLR, equation 16.
"""

from __future__ import annotations

import numpy as np

from alphaswarm_assets.arrays import BoolArray, Float64Array
from alphaswarm_assets.errors import InvalidInputError


def gae(
    *,
    rewards: Float64Array,
    values: Float64Array,
    next_values: Float64Array,
    terminated: BoolArray,
    done: BoolArray,
    gamma: float,
    lam: float,
) -> Float64Array:
    """Return the advantages (T, E): discounted sums of one-step errors, cut at episode ends.

    Parameters
    ----------
    rewards : (T, E) float64
        Of each step.
    values : (T, E) float64
        Value of the state a step starts from.
    next_values : (T, E) float64
        Value of the state it leads to *in the same episode*: at a time limit, of the episode's last state, not of the
        first one of the next.
    terminated : (T, E) bool
        The episode ended with nothing to come; the next value counts for nothing.
    done : (T, E) bool
        The episode ended, for whatever reason: no later error is this step's.
    gamma, lam : float
        Discount and lambda.

    Raises
    ------
    InvalidInputError
        If the shapes differ.
    """
    shapes = {a.shape for a in (rewards, values, next_values, terminated, done)}
    if len(shapes) != 1 or rewards.ndim != 2:
        raise InvalidInputError(
            f"rewards, values and ends must share one shape (T, E), were {sorted(shapes)}"
        )
    errors = rewards + gamma * np.where(terminated, 0.0, next_values) - values
    carried = np.where(done, 0.0, gamma * lam)
    for t in range(len(errors) - 2, -1, -1):
        errors[t] += carried[t] * errors[t + 1]
    return errors
