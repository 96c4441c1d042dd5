"""Estimators that one lucky seed cannot move far."""

from __future__ import annotations

import numpy as np

from alphaswarm_assets.arrays import Float64Array
from alphaswarm_assets.errors import InvalidInputError


def checked_scores(scores: Float64Array) -> Float64Array:
    """Return *scores* as float64 after refusing a missing one.

    Parameters
    ----------
    scores : (S,) float64
        One score per seed, any unit; S >= 1, all finite.

    Raises
    ------
    InvalidInputError
        If the shape is not (S,), there is no seed, or a score is not finite (its seed is named).
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1:
        raise InvalidInputError(f"scores must have shape (S,), was {values.shape}")
    if values.size == 0:
        raise InvalidInputError("scores must hold at least one seed, was empty")
    finite = np.isfinite(values)
    if not finite.all():
        seed = int(np.argmin(finite))
        raise InvalidInputError(f"scores must be finite, was {values[seed]} at seed {seed}")
    return values


def interquartile_means(scores: Float64Array) -> Float64Array:
    """Mean of the middle half along the last axis.

    Parameters
    ----------
    scores : (..., S) float64
        One score per seed in the last axis, any unit; S >= 1, all finite (not checked here).

    Returns
    -------
    (...) float64
        In the unit of *scores*. int(S / 4) scores are cut from either end, so S < 4 cuts none.
    """
    n_seeds = scores.shape[-1]
    n_cut = n_seeds // 4
    kept = np.sort(scores, axis=-1)[..., n_cut : n_seeds - n_cut]
    means: Float64Array = kept.mean(axis=-1)
    return means


def interquartile_mean(scores: Float64Array) -> float:
    """Mean of the middle half of *scores*: the 25 % trimmed mean.

    Parameters
    ----------
    scores : (S,) float64
        One score per seed, any unit; S >= 1, all finite.

    Returns
    -------
    float
        In the unit of *scores*. int(S / 4) scores are cut from either end, so S < 4 cuts none and
        S = 5 cuts 20 %.

    References
    ----------
    .. [1] Agarwal et al. (2021), "Deep Reinforcement Learning at the Edge of the Statistical
       Precipice", NeurIPS 34, section 4.3.
    """
    return float(interquartile_means(checked_scores(scores)))
