"""The gradients derived by hand against torch's autograd, and Adam against torch's."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from alphaswarm_assets.arrays import Float32Array, Float64Array
from alphaswarm_assets.learning.adam import Adam
from alphaswarm_assets.learning.network import Network, one_thread
from alphaswarm_assets.learning.objective import (
    Coefficients,
    Minibatch,
    Objective,
    masked_log_prob,
    standardise,
)
from alphaswarm_assets.learning.policy import initial_parameters, parameter_shapes
from alphaswarm_assets.streams import Streams

COEFFICIENTS = Coefficients(clip_range=0.2, value_coef=0.7, entropy_coef=0.03)
N_INPUTS, N_SYMBOLS = 11, 4


def _setting(
    hidden_sizes: tuple[int, ...], n: int = 40, old_noise: float = 0.3
) -> tuple[dict[str, Float32Array], Minibatch]:
    random = Streams(21).generator("gradients")
    shapes = parameter_shapes(N_INPUTS, hidden_sizes, N_SYMBOLS)
    parameters = {
        name: (array + 0.1 * random.normal(size=array.shape)).astype(np.float32)
        for name, array in initial_parameters(shapes, initial_log_std=-0.5, random=random).items()
    }

    def draw(*shape: int) -> Float32Array:
        return random.normal(size=shape).astype(np.float32)

    mask = (random.random((N_SYMBOLS + 1, n)) < 0.8).astype(np.float32)
    mask[-1] = 1.0
    advantage = draw(1, n)
    standardise(advantage)
    batch = Minibatch(
        observation=torch.from_numpy(draw(n, N_INPUTS)),
        logits=draw(N_SYMBOLS + 1, n),
        mask=mask,
        log_prob=draw(n),
        advantage=advantage[0],
        target=draw(n),
    )
    # Probabilities of then near those of now, so that the ratios lie on both sides of both clips.
    network = Network(parameters)
    with one_thread():
        mean = network.actor.forward(batch.observation)
    noise = (batch.logits - mean) * np.exp(-network.log_std)[:, None]
    np.copyto(batch.log_prob, masked_log_prob(noise, network.log_std, mask) + old_noise * draw(n))
    return parameters, batch


def _by_autograd(
    parameters: dict[str, Float32Array], batch: Minibatch
) -> tuple[dict[str, Float64Array], dict[str, float]]:
    leaves = {
        k: torch.from_numpy(v.copy()).double().requires_grad_() for k, v in parameters.items()
    }

    def as_double(array: Float32Array) -> torch.Tensor:
        return torch.from_numpy(np.array(array)).double()

    def forward(network: str) -> torch.Tensor:
        x = batch.observation.double()
        depth = sum(k.startswith(network) for k in leaves) // 2
        for i in range(depth):
            x = torch.nn.functional.linear(
                x, leaves[f"{network}.{i}.weight"], leaves[f"{network}.{i}.bias"]
            )
            x = torch.tanh(x) if i < depth - 1 else x
        return x

    mask, advantage = as_double(batch.mask.T), as_double(batch.advantage)
    policy = torch.distributions.Normal(forward("actor"), leaves["log_std"].exp())
    constant = 0.5 * math.log(2 * math.pi)
    log_prob = (mask * (policy.log_prob(as_double(batch.logits.T)) + constant)).sum(dim=1)
    ratio = (log_prob - as_double(batch.log_prob)).exp()
    clip = COEFFICIENTS.clip_range
    surrogate = torch.min(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage).mean()
    value_loss = torch.nn.functional.mse_loss(forward("critic")[:, 0], as_double(batch.target))
    entropy = (mask * policy.entropy()).sum(dim=1).mean()
    loss = -surrogate + COEFFICIENTS.value_coef * value_loss - COEFFICIENTS.entropy_coef * entropy
    loss.backward()
    clipped = ((ratio - 1).abs() > clip).double().mean()
    parts = {
        "policy_loss": -surrogate,
        "value_loss": value_loss,
        "entropy": entropy,
        "approx_kl": (ratio - 1 - ratio.log()).mean(),
        "clip_fraction": clipped,
    }
    gradients = {k: v.grad.numpy() for k, v in leaves.items() if v.grad is not None}
    return gradients, {k: v.item() for k, v in parts.items()}


@pytest.mark.parametrize("hidden_sizes", [(16,), (16, 16), (24, 8, 12)], ids=str)
def test_every_gradient_is_autograds(hidden_sizes: tuple[int, ...]) -> None:
    parameters, batch = _setting(hidden_sizes)
    expected, parts = _by_autograd(parameters, batch)
    network, objective, n = Network(parameters), Objective(COEFFICIENTS), len(batch.target)
    with one_thread():
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
        measures = objective.measure(batch=batch, mean=mean, log_std=network.log_std, value=value)
        norm = network.gradient_norm()
    found = network.gradients()
    assert set(found) == set(expected)
    for name, gradient in expected.items():
        np.testing.assert_allclose(found[name], gradient, rtol=2e-4, atol=2e-6, err_msg=name)
    assert norm == pytest.approx(math.sqrt(sum((g**2).sum() for g in expected.values())), rel=1e-5)
    for name, part in parts.items():
        assert getattr(measures, name) == pytest.approx(part, rel=1e-5, abs=1e-7), name
    assert 0.0 < parts["clip_fraction"] < 1.0


def test_gradients_do_not_flow_where_the_clip_holds() -> None:
    parameters, batch = _setting((16,))
    # Ratios of e^3 with advantages above 0, and of e^-3 with advantages below it: all clipped.
    network = Network(parameters)
    with one_thread():
        mean = network.actor.forward(batch.observation)
        noise = (batch.logits - mean) * np.exp(-network.log_std)[:, None]
        now = masked_log_prob(noise, network.log_std, batch.mask)
        np.copyto(batch.log_prob, now - np.where(batch.advantage > 0, 3.0, -3.0).astype(np.float32))
        d_mean = np.ones_like(mean)
        Objective(Coefficients(clip_range=0.2, value_coef=0.0, entropy_coef=0.0)).policy_gradient(
            batch=batch,
            mean=mean,
            log_std=network.log_std,
            d_mean=d_mean,
            d_log_std=network.d_log_std,
        )
    assert not d_mean.any()
    assert not network.d_log_std.any()


def test_advantages_are_standardised_row_by_row_and_a_lone_one_is_left() -> None:
    random = Streams(2).generator("advantages")
    rows = random.normal(3.0, 5.0, size=(3, 50)).astype(np.float32)
    expected = (rows - rows.mean(axis=1, keepdims=True)) / rows.std(axis=1, ddof=1, keepdims=True)
    standardise(rows)
    np.testing.assert_allclose(rows, expected, atol=1e-5)
    lone = np.array([[4.0]], dtype=np.float32)
    standardise(lone)
    assert lone[0, 0] == 4.0


def test_adam_with_clipping_is_torchs() -> None:
    random = Streams(8).generator("adam")
    start = random.normal(size=50).astype(np.float32)
    ours = start.copy()
    theirs = torch.nn.Parameter(torch.from_numpy(start.copy()))
    adam = Adam(50, learning_rate=3e-3, max_grad_norm=0.5)
    optimiser = torch.optim.Adam([theirs], lr=3e-3, eps=1e-5)
    for step in range(30):
        gradient = torch.from_numpy((random.normal(size=50) * 0.02 * step).astype(np.float32))
        theirs.grad = gradient.clone()
        torch.nn.utils.clip_grad_norm_([theirs], 0.5)
        optimiser.step()
        with one_thread():
            adam.step(ours, gradient.numpy(), float(gradient.norm()))
    np.testing.assert_allclose(ours, theirs.detach().numpy(), atol=2e-6)


def test_the_thread_count_and_autograd_come_back_as_they_were() -> None:
    before = torch.get_num_threads()
    inside: list[object] = []

    def interrupted() -> None:
        with one_thread():
            inside.extend((torch.get_num_threads(), torch.is_grad_enabled()))
            raise KeyError

    with pytest.raises(KeyError):
        interrupted()
    assert inside == [1, False]
    assert torch.get_num_threads() == before
    assert torch.is_grad_enabled()
