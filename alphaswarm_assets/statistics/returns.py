"""What a series of returns must be before anything is measured on it, and when it has no spread.

A return is simple and per period: 0.01 is one percent gained since the bar before. Equity starts at
1, before the first return, and is wiped out by a return of -1 or less.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from alphaswarm_assets.arrays import Float64Array
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.statistics.undefined import Undefined

RETURN_RESOLUTION: Final = 8 * float(np.finfo(np.float64).eps)
"""Largest difference between returns near zero that is only rounding.

A return is the ratio of two prices less one, so it carries the rounding of 1.0 however small it is.
"""

# The square of a larger one leaves the range of a float64.
_LARGEST_RETURN: Final = 1e100


def checked_series(values: Float64Array, name: str) -> Float64Array:
    """Return *values* as float64 after refusing what no statistic can be taken of.

    Parameters
    ----------
    values : (T,) float64
        One value per period, any unit; T >= 1, all finite.
    name : str
        What the values are, for the message.

    Raises
    ------
    InvalidInputError
        If the shape is not (T,), there is no row, or a value is not finite (the first is named).
    """
    series = np.asarray(values, dtype=np.float64)
    if series.ndim != 1:
        raise InvalidInputError(f"{name} must have shape (T,), was {series.shape}")
    if series.size == 0:
        raise InvalidInputError(f"{name} must have at least one row, was empty")
    finite = np.isfinite(series)
    if not finite.all():
        index = int(np.argmin(finite))
        raise InvalidInputError(f"{name} must be finite, was {series[index]} at index {index}")
    return series


def checked_returns(returns: Float64Array) -> Float64Array:
    """Return *returns* as `checked_series` does, under the name the messages use.

    Raises
    ------
    InvalidInputError
        If the shape is not (T,), there is no row, or a return is not finite (the first is named).
    """
    return checked_series(returns, "returns")


def returns_from_equity(equity: Float64Array, start: float) -> Float64Array:
    """Turn an equity curve into simple returns, up to and including the bar that wipes it out.

    Parameters
    ----------
    equity : (T,) float64
        Equity after each bar, in currency; T >= 1, all finite.
    start : float
        Equity before the first bar, in the same currency; above zero.

    Returns
    -------
    (R,) float64
        Simple return of each bar. R = T, or less after ruin: the rows that follow it are dropped,
        for a return on nothing has no meaning.

    Raises
    ------
    InvalidInputError
        If there is no row, a value is not finite, or *start* is not a positive number.
    """
    series = checked_series(equity, "equity")
    if not (np.isfinite(start) and start > 0.0):
        raise InvalidInputError(f"start equity must be finite and above zero, was {start!r}")
    wiped_out = series <= 0.0
    if wiped_out.any():
        series = series[: int(np.argmax(wiped_out)) + 1]
    before = np.concatenate(([start], series[:-1]))
    return series / before - 1.0


def rounding_of(returns: Float64Array) -> float:
    """Return the largest difference within *returns* (any shape) that is only rounding."""
    return RETURN_RESOLUTION * max(1.0, float(np.abs(returns).max()))


def row_of_ruin(returns: Float64Array) -> int | None:
    """Return the first row at which equity is zero or below, or None."""
    ruined = returns <= -1.0
    return int(np.argmax(ruined)) if ruined.any() else None


def why_no_ratio(returns: Float64Array, *, least_rows: int) -> Undefined | None:
    """Return why no ratio can be taken of checked *returns*, or None when one can.

    Parameters
    ----------
    returns : (T,) float64
        Simple returns per period, all finite.
    least_rows : int
        Rows the ratio needs.
    """
    if len(returns) < least_rows:
        rows = "1 row" if len(returns) == 1 else f"{len(returns)} rows"
        return Undefined(f"needs at least {least_rows} rows of returns, was {rows}")
    ruin = row_of_ruin(returns)
    if ruin is not None:
        return Undefined(
            f"equity is wiped out at row {ruin} by a return of {float(returns[ruin])!r}"
        )
    return None


def has_spread(returns: Float64Array) -> bool:
    """Return whether *returns* differ by more than rounding.

    The range is tested, not the deviation: 756 equal returns have a deviation of 2e-19, and a Sharpe
    ratio over it of 4.6e15.
    """
    return float(np.ptp(returns)) > rounding_of(returns)


def why_not_evidence(matrix: Float64Array) -> Undefined | None:
    """Return why the columns of *matrix* cannot be compared, or None when they can.

    Parameters
    ----------
    matrix : (T, N) float64
        Simple returns per period, one column a trial.

    Returns
    -------
    Undefined | None
        Names the first row and column that is not finite, or at which a column is wiped out.
    """
    finite = np.isfinite(matrix)
    if not finite.all():
        row, column = np.unravel_index(int(np.argmin(finite)), matrix.shape)
        return Undefined(f"column {column} is not finite at row {row}: was {matrix[row, column]}")
    if matrix.size and float(np.abs(matrix).max()) > _LARGEST_RETURN:
        row, column = np.unravel_index(int(np.abs(matrix).argmax()), matrix.shape)
        return Undefined(f"column {column} holds no return at row {row}: was {matrix[row, column]}")
    ruined = matrix <= -1.0
    if ruined.any():
        row, column = np.unravel_index(int(np.argmax(ruined)), matrix.shape)
        return Undefined(f"column {column} is wiped out at row {row}")
    return None
