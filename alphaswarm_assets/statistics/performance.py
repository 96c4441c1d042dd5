"""What a series of returns earned and risked: total return, Sharpe, drawdown, and the rest.

Every function takes simple returns per period, shape (T,), and counts equity from 1 before the
first of them. Not computable is an answer (`Undefined` with its reason), never NaN or infinity;
an empty or non-finite series is an error. Once equity is wiped out, later rows are ignored: total
return is -1, maximum drawdown 1, and every ratio is undefined.
"""

from __future__ import annotations

import math

import numpy as np

from alphaswarm_assets.arrays import Float64Array
from alphaswarm_assets.statistics.returns import (
    checked_returns,
    has_spread,
    rounding_of,
    row_of_ruin,
    why_no_ratio,
)
from alphaswarm_assets.statistics.undefined import Measured, Undefined, measured

NO_SPREAD = Undefined("returns have no spread")
"""A policy that never trades, or always earns the same."""


def total_return(returns: Float64Array) -> Measured:
    """Compounded return over all periods, as a fraction of starting equity; -1 when wiped out.

    Parameters
    ----------
    returns : (T,) float64
        Simple returns per period; T >= 1, all finite.
    """
    series = checked_returns(returns)
    if row_of_ruin(series) is not None:
        return -1.0
    with np.errstate(over="ignore"):
        return measured(float(np.prod(1.0 + series)) - 1.0, "total return")


def annual_growth(returns: Float64Array, periods_per_year: float = 252) -> Measured:
    """Compound annual growth rate, as a fraction of starting equity a year.

    Parameters
    ----------
    returns : (T,) float64
        Simple returns per period; T >= 2, all finite.
    periods_per_year : float
        Periods in a year of trading.
    """
    series = checked_returns(returns)
    undefined = why_no_ratio(series, least_rows=2)
    if undefined is not None:
        return undefined
    log_growth = float(np.log1p(series).sum()) * periods_per_year / len(series)
    try:
        return math.expm1(log_growth)
    except OverflowError:
        return Undefined("annual growth does not fit a float64")


def sharpe_per_period(returns: Float64Array) -> Measured:
    """Mean over standard deviation (ddof 1) of the returns, per period.

    Parameters
    ----------
    returns : (T,) float64
        Simple returns per period, in excess of whatever they are to be compared with; T >= 2.

    Returns
    -------
    Measured
        Undefined under two rows, after ruin, and where returns have no spread.
    """
    series = checked_returns(returns)
    undefined = why_no_ratio(series, least_rows=2)
    if undefined is not None:
        return undefined
    if not has_spread(series):
        return NO_SPREAD
    with np.errstate(over="ignore", invalid="ignore"):
        deviation = measured(float(series.std(ddof=1)), "standard deviation of returns")
        if isinstance(deviation, Undefined):
            return deviation
        return measured(float(series.mean()) / deviation, "sharpe")


def sharpe_annual(returns: Float64Array, periods_per_year: float = 252) -> Measured:
    """Sharpe ratio per period times the root of the periods in a year.

    Parameters
    ----------
    returns : (T,) float64
        As for `sharpe_per_period`.
    periods_per_year : float
        Periods in a year of trading. The root holds for uncorrelated returns only.
    """
    per_period = sharpe_per_period(returns)
    if isinstance(per_period, Undefined):
        return per_period
    return per_period * math.sqrt(periods_per_year)


def volatility_annual(returns: Float64Array, periods_per_year: float = 252) -> Measured:
    """Standard deviation (ddof 1) of the returns times the root of the periods in a year.

    Parameters
    ----------
    returns : (T,) float64
        Simple returns per period; T >= 2, all finite.
    periods_per_year : float
        Periods in a year of trading.
    """
    series = checked_returns(returns)
    undefined = why_no_ratio(series, least_rows=2)
    if undefined is not None:
        return undefined
    if not has_spread(series):
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        deviation = float(series.std(ddof=1))
    return measured(deviation * math.sqrt(periods_per_year), "volatility")


def max_drawdown(returns: Float64Array) -> Measured:
    """Largest fall of equity from its peak so far, as a positive fraction of that peak.

    The starting equity of 1 counts as a peak, so a first loss is not missed. Wiped out is exactly 1.

    Parameters
    ----------
    returns : (T,) float64
        Simple returns per period; T >= 1, all finite.
    """
    series = checked_returns(returns)
    if row_of_ruin(series) is not None:
        return 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        equity = np.concatenate(([1.0], np.cumprod(1.0 + series)))
        fall = 1.0 - equity / np.maximum.accumulate(equity)
    return measured(float(fall.max()), "maximum drawdown")


def sortino(returns: Float64Array, periods_per_year: float = 252) -> Measured:
    """Annualised mean return over downside deviation about zero.

    The downside deviation is the root of the second lower partial moment over all T periods, not
    over the losing ones alone.

    Parameters
    ----------
    returns : (T,) float64
        Simple returns per period; T >= 2, all finite.
    periods_per_year : float
        Periods in a year of trading.
    """
    series = checked_returns(returns)
    undefined = why_no_ratio(series, least_rows=2)
    if undefined is not None:
        return undefined
    losses = np.minimum(series, 0.0)
    if -float(losses.min()) <= rounding_of(series):
        return Undefined("no losing period")
    downside = math.sqrt(float(losses @ losses) / len(series))
    with np.errstate(over="ignore"):
        mean = float(series.mean())
    return measured(mean / downside * math.sqrt(periods_per_year), "sortino")


def calmar(returns: Float64Array, periods_per_year: float = 252) -> Measured:
    """Compound annual growth over maximum drawdown.

    Parameters
    ----------
    returns : (T,) float64
        Simple returns per period; T >= 2, all finite.
    periods_per_year : float
        Periods in a year of trading.
    """
    growth = annual_growth(returns, periods_per_year)
    if isinstance(growth, Undefined):
        return growth
    fall = max_drawdown(returns)
    if isinstance(fall, Undefined):
        return fall
    if fall <= rounding_of(np.asarray(returns, dtype=np.float64)):
        return Undefined("no drawdown")
    return measured(growth / fall, "calmar")


def profit_factor(returns: Float64Array) -> Measured:
    """Sum of the gaining periods' returns over the sum of the losing periods' losses.

    Parameters
    ----------
    returns : (T,) float64
        Simple returns per period; T >= 1, all finite.
    """
    series = checked_returns(returns)
    undefined = why_no_ratio(series, least_rows=1)
    if undefined is not None:
        return undefined
    losses = -float(np.minimum(series, 0.0).sum())
    if losses <= rounding_of(series):
        return Undefined("no losing period")
    with np.errstate(over="ignore"):
        gains = float(np.maximum(series, 0.0).sum())
    return measured(gains / losses, "profit factor")


def hit_rate(returns: Float64Array) -> Measured:
    """Share of all periods whose return is above zero; a flat period is no hit.

    Parameters
    ----------
    returns : (T,) float64
        Simple returns per period; T >= 1, all finite.
    """
    series = checked_returns(returns)
    undefined = why_no_ratio(series, least_rows=1)
    if undefined is not None:
        return undefined
    return float(np.count_nonzero(series > 0.0)) / len(series)
