"""How much of a portfolio changed hands: one-way turnover, so that a full rotation counts once."""

from __future__ import annotations

import numpy as np

from alphaswarm_assets.arrays import Float64Array
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.statistics.returns import checked_series


def one_way_turnover(held: Float64Array, target: Float64Array) -> Float64Array:
    """Half the absolute change of weights at each bar.

    Parameters
    ----------
    held : (T, N) float64
        Weights just before the trade. Drifted weights give the turnover that is paid for; the
        targets of the bar before give the turnover that was asked for.
    target : (T, N) float64
        Weights just after it. A change against cash counts by half like any other, so give cash a
        column of its own.

    Returns
    -------
    (T,) float64
        Fraction of equity; 1 is a full rotation.

    Raises
    ------
    InvalidInputError
        If the shapes differ or are not (T, N), or a weight is not finite.
    """
    before = np.asarray(held, dtype=np.float64)
    after = np.asarray(target, dtype=np.float64)
    if before.ndim != 2 or before.shape != after.shape:
        raise InvalidInputError(
            f"held and target must both have shape (T, N), were {before.shape} and {after.shape}"
        )
    for name, weights in (("held", before), ("target", after)):
        finite = np.isfinite(weights)
        if not finite.all():
            row, column = (int(i) for i in np.unravel_index(np.argmin(finite), weights.shape))
            raise InvalidInputError(
                f"{name} must be finite, was {weights[row, column]} at row {row}, column {column}"
            )
    return np.abs(after - before).sum(axis=1) / 2


def mean_turnover(one_way: Float64Array) -> float:
    """Mean one-way turnover per bar, as a fraction of equity; bars without a trade count as zero.

    Parameters
    ----------
    one_way : (T,) float64
        One-way turnover of each bar; T >= 1, finite and not negative.

    Raises
    ------
    InvalidInputError
        If there is no bar, or a turnover is negative or not finite; the index is named.
    """
    series = checked_series(one_way, "turnover")
    if float(series.min()) < 0.0:
        index = int(np.argmin(series >= 0.0))
        raise InvalidInputError(
            f"turnover must not be negative, was {float(series[index])!r} at index {index}"
        )
    return float(series.mean())
