from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from alphaswarm_assets.arrays import BoolArray, Float64Array
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.learning.advantages import gae
from alphaswarm_assets.streams import Streams

GAMMA, LAM = 0.97, 0.9


def _random(n_steps: int = 40, n_envs: int = 7, p_end: float = 0.15) -> dict[str, Any]:
    random = Streams(11).generator("gae")
    shape = (n_steps, n_envs)
    done = random.random(shape) < p_end
    return {
        "rewards": random.normal(size=shape),
        "values": random.normal(size=shape),
        "next_values": random.normal(size=shape),
        "terminated": done & (random.random(shape) < 0.5),
        "done": done,
    }


def _one_by_one(
    *,
    rewards: Float64Array,
    values: Float64Array,
    next_values: Float64Array,
    terminated: BoolArray,
    done: BoolArray,
    gamma: float,
    lam: float,
) -> Float64Array:
    """Equation 16 as it is written: a sum over the errors that follow, up to the end of the episode."""
    out = np.zeros_like(rewards)
    for t, e in np.ndindex(*rewards.shape):
        for k in range(t, len(rewards)):
            future = 0.0 if terminated[k, e] else gamma * next_values[k, e]
            out[t, e] += (gamma * lam) ** (k - t) * (rewards[k, e] + future - values[k, e])
            if done[k, e]:
                break
    return out


def test_advantages_are_the_sums_of_equation_16_with_ends_of_both_kinds() -> None:
    case = _random()
    np.testing.assert_allclose(
        gae(**case, gamma=GAMMA, lam=LAM), _one_by_one(**case, gamma=GAMMA, lam=LAM), rtol=1e-12
    )


def test_a_constant_reward_without_values_is_a_geometric_series() -> None:
    shape = (30, 2)
    none = np.zeros(shape)
    never = np.zeros(shape, dtype=np.bool_)
    advantage = gae(
        rewards=np.ones(shape),
        values=none,
        next_values=none,
        terminated=never,
        done=never,
        gamma=GAMMA,
        lam=LAM,
    )
    ratio = GAMMA * LAM
    np.testing.assert_allclose(advantage[0], (1 - ratio**30) / (1 - ratio), rtol=1e-12)


def test_lambda_one_is_the_discounted_return_less_the_value() -> None:
    case = _random(p_end=0.0)
    case["next_values"][:-1] = case["values"][1:]
    discounts = GAMMA ** np.arange(40)[:, None]
    returns = (discounts * case["rewards"]).sum(axis=0) + GAMMA**40 * case["next_values"][-1]
    advantage = gae(**case, gamma=GAMMA, lam=1.0)
    np.testing.assert_allclose(advantage[0], returns - case["values"][0], rtol=1e-12)


def test_a_time_limit_is_bootstrapped_and_an_end_is_not() -> None:
    def last(*, terminated: bool) -> float:
        one = np.ones((1, 1))
        advantage = gae(
            rewards=one,
            values=one * 2.0,
            next_values=one * 10.0,
            terminated=np.array([[terminated]]),
            done=np.array([[True]]),
            gamma=0.5,
            lam=LAM,
        )
        return float(advantage[0, 0])

    assert last(terminated=False) == 1.0 + 0.5 * 10.0 - 2.0
    assert last(terminated=True) == 1.0 - 2.0


def test_inputs_are_left_as_they_were() -> None:
    case = _random()
    before = {name: array.copy() for name, array in case.items()}
    gae(**case, gamma=GAMMA, lam=LAM)
    assert all((case[name] == before[name]).all() for name in case)


def test_shapes_that_would_broadcast_are_refused() -> None:
    case = _random()
    case["values"] = case["values"][:, :1]
    with pytest.raises(InvalidInputError, match=r"one shape \(T, E\)"):
        gae(**case, gamma=GAMMA, lam=LAM)
