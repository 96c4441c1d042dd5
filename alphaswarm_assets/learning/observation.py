"""What a policy sees at a close: one float32 row of fixed length, whatever trades that day.

Layout of the D = N F + N + N + 1 numbers: standardised features, symbol after symbol · 1 where the symbol is known,
0 where it is not · weights held · cash.
"""

from __future__ import annotations

import numpy as np

from alphaswarm_assets.arrays import BoolArray, Float32Array, Float64Array
from alphaswarm_assets.learning.normalizer import Normalizer


def observation_size(n_symbols: int, n_features: int) -> int:
    """Return D."""
    return n_symbols * n_features + 2 * n_symbols + 1


def market_part(features: Float64Array, known: BoolArray, normalizer: Normalizer) -> Float32Array:
    """Return the part of the observation that no action changes.

    Parameters
    ----------
    features : (B, N, F) float64
        As in the panel.
    known : (B, N) bool
        Symbols offered to the policy.
    normalizer : Normalizer
        Of the training window.

    Returns
    -------
    (B, N F + N) float32
    """
    scaled = normalizer.apply(features, known).reshape(len(known), -1)
    return np.concatenate([scaled, known], axis=1, dtype=np.float32)


def observe(
    features: Float64Array, known: BoolArray, weights: Float64Array, normalizer: Normalizer
) -> Float32Array:
    """Return the observations (E, D) of E portfolios that hold *weights* (E, N)."""
    cash = 1.0 - weights.sum(axis=1, keepdims=True)
    market = market_part(features, known, normalizer)
    return np.concatenate([market, weights, cash], axis=1, dtype=np.float32, casting="same_kind")
