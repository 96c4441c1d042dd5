from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch

from alphaswarm_assets.arrays import BoolArray, Float32Array, Float64Array
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.learning.network import Network, one_thread
from alphaswarm_assets.learning.normalizer import no_normalizer
from alphaswarm_assets.learning.policy import (
    Ensemble,
    Policy,
    act_mean,
    initial_parameters,
    parameter_shapes,
    weights_from_logits,
)
from alphaswarm_assets.streams import Streams

SHAPES = parameter_shapes(13, (32, 16), 4)


def _parameters(
    shapes: Mapping[str, tuple[int, ...]] = SHAPES, name: str = "init", scale: float = 1.0
) -> dict[str, Float32Array]:
    parameters = initial_parameters(shapes, initial_log_std=-0.5, random=Streams(3).generator(name))
    return {key: (array * np.float32(scale)) for key, array in parameters.items()}


def _policy(name: str = "init", symbols: tuple[str, ...] = ("A", "B", "C")) -> Policy:
    normalizer = no_normalizer(("f", "g"))
    shapes = parameter_shapes(len(symbols) * 2 + 2 * len(symbols) + 1, (8,), len(symbols))
    return Policy(
        symbols=symbols,
        hidden_sizes=(8,),
        normalizer=normalizer,
        parameters=_parameters(shapes, name, scale=30.0),
    )


def _inputs(n: int = 5) -> tuple[Float64Array, BoolArray, Float64Array]:
    random = Streams(4).generator("inputs")
    known = random.random((n, 3)) < 0.7
    return random.normal(size=(n, 3, 2)), known, random.dirichlet(np.ones(4), size=n)[:, :3]


def test_weights_are_a_softmax_over_symbols_and_cash() -> None:
    logits = np.log(np.array([[1.0, 2.0, 5.0], [1.0, 1.0, 2.0]]))
    known = np.ones((2, 2), dtype=np.bool_)
    np.testing.assert_allclose(
        weights_from_logits(logits, known), [[0.125, 0.25], [0.25, 0.25]], rtol=1e-15
    )


def test_an_unknown_symbol_gets_exactly_nothing_and_cash_takes_all_if_need_be() -> None:
    logits = np.array([[50.0, 1.0, 1.0], [50.0, 50.0, -50.0]])
    known = np.array([[False, True], [False, False]])
    np.testing.assert_array_equal(weights_from_logits(logits, known), [[0.0, 0.5], [0.0, 0.0]])


def test_logits_far_apart_do_not_overflow_and_are_left_as_they_were() -> None:
    logits = np.array([[1e4, -1e4, 0.0]], dtype=np.float32)
    known = np.ones((1, 2), dtype=np.bool_)
    assert weights_from_logits(logits, known).tolist() == [[1.0, 0.0]]
    assert logits.tolist() == [[1e4, -1e4, 0.0]]


def test_first_weights_are_orthogonal_with_the_gain_of_their_layer() -> None:
    parameters = _parameters()
    first = parameters["actor.0.weight"]  # (32, 13): its columns are orthonormal times the gain
    np.testing.assert_allclose(first.T @ first, 2.0 * np.eye(13), atol=1e-6)
    head = parameters["actor.2.weight"]
    np.testing.assert_allclose(head @ head.T, 1e-4 * np.eye(5), atol=1e-9)
    assert set(parameters["log_std"].tolist()) == {-0.5}
    assert not parameters["critic.1.bias"].any()


def test_the_mean_is_what_torch_computes() -> None:
    parameters = _parameters(scale=2.0)
    observation = Streams(1).generator("x").normal(size=(9, 13)).astype(np.float32)
    x = torch.from_numpy(observation)
    for i in range(3):
        weight, bias = (torch.from_numpy(parameters[f"actor.{i}.{p}"]) for p in ("weight", "bias"))
        x = torch.nn.functional.linear(x, weight, bias)
        x = torch.tanh(x) if i < 2 else x
    np.testing.assert_allclose(act_mean(parameters, observation), x.numpy(), atol=1e-6)


def test_the_trainers_forward_agrees_with_the_mean_a_policy_acts_by() -> None:
    parameters = _parameters(scale=2.0)
    observation = Streams(1).generator("x").normal(size=(9, 13)).astype(np.float32)
    with one_thread():
        trained = Network(parameters).actor.forward(torch.from_numpy(observation))
    np.testing.assert_allclose(trained.T, act_mean(parameters, observation), atol=1e-6)


def test_a_rows_bits_do_not_depend_on_the_rows_beside_it() -> None:
    policy = _policy()
    features, known, weights = _inputs(50)
    together = policy.target_weights(features, known, weights)
    for i in range(50):
        one = slice(i, i + 1)
        alone = policy.target_weights(features[one], known[one], weights[one])
        assert (alone[0] == together[i]).all()


def test_an_ensemble_is_the_mean_of_its_members_targets() -> None:
    members = tuple(_policy(name) for name in ("one", "two", "three"))
    inputs = _inputs()
    by_hand = sum(member.target_weights(*inputs) for member in members) / 3
    np.testing.assert_array_equal(Ensemble(members=members).target_weights(*inputs), by_hand)
    assert np.ptp(members[0].target_weights(*inputs) - members[1].target_weights(*inputs)) > 0.1


def test_an_ensemble_of_strangers_or_of_nobody_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="share symbols and features"):
        Ensemble(members=(_policy(), _policy(symbols=("A", "B", "D"))))
    with pytest.raises(InvalidInputError, match="share symbols"):
        Ensemble(members=())


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p.pop("log_std"),
        lambda p: p.update(stranger=np.zeros(1, dtype=np.float32)),
        lambda p: p.update({"actor.0.bias": np.zeros(3, dtype=np.float32)}),
        lambda p: p.update({"actor.0.bias": p["actor.0.bias"].astype(np.float64)}),
        lambda p: p.update({"actor.0.bias": p["actor.0.bias"] * np.float32(np.nan)}),
    ],
    ids=["missing", "foreign", "wrong shape", "wrong type", "not finite"],
)
def test_parameters_that_are_not_the_policys_are_refused(change: Any) -> None:
    policy = _policy()
    parameters = dict(policy.parameters)
    change(parameters)
    with pytest.raises(InvalidInputError, match="parameter"):
        Policy(
            symbols=policy.symbols,
            hidden_sizes=policy.hidden_sizes,
            normalizer=policy.normalizer,
            parameters=parameters,
        )
