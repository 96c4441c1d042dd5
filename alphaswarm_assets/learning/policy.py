"""A policy: float32 parameters by name, the normaliser they were trained with, and target weights out of them.

The actor gives one logit a symbol and one for cash; a masked softmax makes target weights of them. A policy in use
acts by the mean, computed here in NumPy, in float64 and row by row, so that a row's bits depend on nothing but the row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from alphaswarm_assets.arrays import BoolArray, Float32Array, Float64Array
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.learning.normalizer import Normalizer
from alphaswarm_assets.learning.observation import observation_size, observe

ACTOR, CRITIC, LOG_STD = "actor", "critic", "log_std"
HIDDEN_GAIN = float(np.sqrt(2.0))
HEAD_GAINS = {ACTOR: 0.01, CRITIC: 0.01}
"""Small heads: the first policy spreads evenly, the first values are near zero as one bar's log growth is."""


def parameter_shapes(
    n_inputs: int, hidden_sizes: Sequence[int], n_symbols: int
) -> dict[str, tuple[int, ...]]:
    """Return the shape of every parameter by name, in storage order; a weight is (outputs, inputs)."""
    shapes: dict[str, tuple[int, ...]] = {}
    for network, n_outputs in ((ACTOR, n_symbols + 1), (CRITIC, 1)):
        widths = (n_inputs, *hidden_sizes, n_outputs)
        for i, (a, b) in enumerate(pairwise(widths)):
            shapes[f"{network}.{i}.weight"] = (b, a)
            shapes[f"{network}.{i}.bias"] = (b,)
    shapes[LOG_STD] = (n_symbols + 1,)
    return shapes


def initial_parameters(
    shapes: Mapping[str, tuple[int, ...]], *, initial_log_std: float, random: np.random.Generator
) -> dict[str, Float32Array]:
    """Return orthogonal weights, zero biases and a constant log standard deviation."""
    depth = 1 + max(int(name.split(".")[1]) for name in shapes if name != LOG_STD)
    parameters: dict[str, Float32Array] = {}
    for name, shape in shapes.items():
        if name == LOG_STD:
            parameters[name] = np.full(shape, initial_log_std, dtype=np.float32)
        elif name.endswith("bias"):
            parameters[name] = np.zeros(shape, dtype=np.float32)
        else:
            network, layer, _ = name.split(".")
            gain = HEAD_GAINS[network] if int(layer) == depth - 1 else HIDDEN_GAIN
            parameters[name] = (gain * _orthogonal((shape[0], shape[1]), random)).astype(np.float32)
    return parameters


def _orthogonal(shape: tuple[int, int], random: np.random.Generator) -> Float64Array:
    tall = random.standard_normal((max(shape), min(shape)))
    q, r = np.linalg.qr(tall)
    q *= np.sign(np.diag(r))  # without it the signs would be LAPACK's choice, not the stream's
    return q if shape[0] >= shape[1] else np.ascontiguousarray(q.T)


def weights_from_logits(logits: Float64Array | Float32Array, known: BoolArray) -> Float64Array:
    """Return target weights: a softmax over the known symbols and cash.

    Parameters
    ----------
    logits : (E, N + 1)
        One a symbol, cash last.
    known : (E, N) bool
        Symbols that may be held.

    Returns
    -------
    (E, N) float64
        Exactly 0 where a symbol is not known; what is missing from 1 is cash.
    """
    masked = np.array(logits, dtype=np.float64, order="C")
    np.copyto(masked[:, :-1], -np.inf, where=~known)
    masked -= np.maximum.reduce(masked, axis=1)[:, None]
    np.exp(masked, out=masked)
    masked /= np.add.reduce(masked, axis=1)[:, None]
    return masked[:, :-1]


def act_mean(parameters: Mapping[str, Float32Array], observation: Float32Array) -> Float64Array:
    """Return the mean logits (E, N + 1) of the actor for observations (E, D)."""
    depth = sum(name.startswith(f"{ACTOR}.") for name in parameters) // 2
    x = observation.astype(np.float64)
    for i in range(depth):
        weight = parameters[f"{ACTOR}.{i}.weight"].astype(np.float64)
        # Plain sums, row by row: the bits of a matrix product depend on its shape and its library.
        x = np.add.reduce(x[:, None, :] * weight, axis=2) + parameters[f"{ACTOR}.{i}.bias"]
        if i < depth - 1:
            np.tanh(x, out=x)
    return x


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Policy:
    """What was learnt, and all that is needed to act by it."""

    symbols: tuple[str, ...]
    hidden_sizes: tuple[int, ...]
    normalizer: Normalizer
    parameters: Mapping[str, Float32Array]
    """By the names and shapes of `parameter_shapes`."""

    def __post_init__(self) -> None:
        """Refuse parameters that are not this policy's.

        Raises
        ------
        InvalidInputError
            If a name is missing or foreign, or an array has another shape or type, or is not finite.
        """
        shapes = self.shapes
        if set(self.parameters) != set(shapes):
            odd = sorted(set(self.parameters) ^ set(shapes))
            raise InvalidInputError(
                f"a policy's parameters must be {sorted(shapes)}; missing or foreign: {odd}"
            )
        for name, shape in shapes.items():
            array = self.parameters[name]
            if array.shape != shape or array.dtype != np.float32 or not np.isfinite(array).all():
                raise InvalidInputError(
                    f"parameter {name} must be finite float32 of shape {shape}, was {array.dtype} {array.shape}"
                )

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of every parameter."""
        n_inputs = observation_size(len(self.symbols), len(self.normalizer.feature_names))
        return parameter_shapes(n_inputs, self.hidden_sizes, len(self.symbols))

    def target_weights(
        self, features: Float64Array, known: BoolArray, weights: Float64Array
    ) -> Float64Array:
        """Return the target weights (E, N) the policy asks for, by its mean.

        Parameters
        ----------
        features : (E, N, F) float64
            As in the panel, not yet standardised.
        known : (E, N) bool
            Symbols that may be held.
        weights : (E, N) float64
            Weights held now.
        """
        observation = observe(features, known, weights, self.normalizer)
        return weights_from_logits(act_mean(self.parameters, observation), known)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Ensemble:
    """Several policies as one: the mean of their target weights."""

    members: tuple[Policy, ...]

    def __post_init__(self) -> None:
        """Refuse members that do not belong together.

        Raises
        ------
        InvalidInputError
            If there is none, or they trade different symbols or read different features.
        """
        worlds = {(m.symbols, m.normalizer.feature_names) for m in self.members}
        if len(worlds) != 1:
            raise InvalidInputError(
                f"an ensemble's members must share symbols and features, were {sorted(worlds)}"
            )

    def target_weights(
        self, features: Float64Array, known: BoolArray, weights: Float64Array
    ) -> Float64Array:
        """Return the mean of the members' target weights (E, N); arguments as for `Policy.target_weights`."""
        total = np.zeros(weights.shape)
        for member in self.members:
            total += member.target_weights(features, known, weights)
        return total / len(self.members)
