"""The best of many trials, judged against the best that luck alone would have given.

Every Sharpe ratio here is per period, never annualised, and says so (``sharpe_pp``).

References
----------
.. [1] Bailey and Lopez de Prado (2014), "The Deflated Sharpe Ratio", J. Portfolio Management 40(5).
.. [2] Bailey, Borwein, Lopez de Prado and Zhu (2014), "Pseudo-Mathematics and Financial
   Charlatanism", Notices of the AMS 61(5), theorem 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

from alphaswarm_assets.arrays import Float64Array
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.statistics.duplicates import describe, duplicate_columns
from alphaswarm_assets.statistics.returns import why_not_evidence
from alphaswarm_assets.statistics.sharpe import Moments, moments, psr
from alphaswarm_assets.statistics.undefined import Measured, Undefined

EULER_GAMMA: Final = 0.5772156649015329
_NORMAL: Final = NormalDist()
# Trials whose Sharpe ratios differ by less than this share of the largest differ by rounding only.
_LEAST_DIFFERENCE: Final = 1e-9


def expected_max(n_trials: int) -> float:
    """Approximate expected maximum of *n_trials* independent standard normals [1]_; 0 for one.

    Parameters
    ----------
    n_trials : int
        Independent trials, at least one.

    Raises
    ------
    InvalidInputError
        If *n_trials* is below one.
    """
    if n_trials < 1:
        raise InvalidInputError(f"n_trials must be at least 1, was {n_trials!r}")
    if n_trials == 1:
        return 0.0
    # By symmetry -ppf(p) is ppf(1 - p), and 1 - p would round to 1 for very many trials.
    return (EULER_GAMMA - 1.0) * _NORMAL.inv_cdf(1.0 / n_trials) - EULER_GAMMA * _NORMAL.inv_cdf(
        1.0 / (n_trials * math.e)
    )


def dsr(
    sharpe_pp: float,
    *,
    n_obs: int,
    skew: float,
    kurt_pearson: float,
    n_trials: int,
    variance_of_trials_pp: float,
) -> Measured:
    """Probability that the true Sharpe ratio beats the best of *n_trials* without skill [1]_.

    Parameters
    ----------
    sharpe_pp : float
        Of the trial that was chosen, per period.
    n_obs : int
        Periods, T >= 2.
    skew : float
        Biased skewness of the chosen trial's returns.
    kurt_pearson : float
        Their biased kurtosis, 3 for a normal.
    n_trials : int
        Trials the chosen one was chosen from, itself among them.
    variance_of_trials_pp : float
        Variance (ddof 1) of the trials' Sharpe ratios per period; the square of the unit of
        *sharpe_pp*.

    Returns
    -------
    Measured
        In [0, 1]. Undefined for one trial, and for trials that do not differ.

    Raises
    ------
    InvalidInputError
        If an argument is not finite or out of range, or the moments are impossible.
    """
    if not (math.isfinite(variance_of_trials_pp) and variance_of_trials_pp >= 0.0):
        raise InvalidInputError(
            f"variance_of_trials_pp must be finite and not negative, was {variance_of_trials_pp!r}"
        )
    benchmark_pp = math.sqrt(variance_of_trials_pp) * expected_max(n_trials)
    if n_trials == 1:
        return Undefined("one trial: nothing to deflate, report PSR")
    if variance_of_trials_pp == 0.0:
        return Undefined("no variance between trials: copies of one trial deflate nothing")
    return psr(
        sharpe_pp, n_obs=n_obs, skew=skew, kurt_pearson=kurt_pearson, benchmark_pp=benchmark_pp
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class DeflatedSharpe:
    """The deflated Sharpe ratio of the best trial, and what it was made from."""

    probability: float
    """Chance that its true Sharpe ratio beats `benchmark_pp`; variance at the observed ratio, T - 1."""
    best_column: int
    """The trial with the highest Sharpe ratio; the first of equals."""
    best: Moments
    """Its record."""
    benchmark_pp: float
    """Expected best Sharpe ratio, per period, of as many trials without skill."""
    n_trials: int
    """Trials, one a column."""
    variance_of_trials_pp: float
    """Variance (ddof 1) of their Sharpe ratios per period."""


def deflated_sharpe(matrix: Float64Array) -> DeflatedSharpe | Undefined:
    """Deflate the best column of *matrix* by the number and the variance of all its columns.

    Over the seeds of one configuration this knows nothing of the configurations tried before it.

    Parameters
    ----------
    matrix : (T, S) float64
        Simple returns per period, one column a trial; T >= 2.

    Returns
    -------
    DeflatedSharpe | Undefined
        Undefined for one trial, copies among the trials, trials whose Sharpe ratios do not differ,
        and where one of them has no Sharpe ratio.

    Raises
    ------
    InvalidInputError
        If *matrix* is not two-dimensional or has no row or no column.
    """
    returns = np.asarray(matrix, dtype=np.float64)
    if returns.ndim != 2 or 0 in returns.shape:
        raise InvalidInputError(
            f"matrix must have shape (T, S) with T and S >= 1, was {returns.shape}"
        )
    undefined = why_not_evidence(returns)
    if undefined is not None:
        return undefined
    records: list[Moments] = []
    for column in range(returns.shape[1]):
        record = moments(returns[:, column])
        if isinstance(record, Undefined):
            return Undefined(f"column {column}: {record.reason}")
        records.append(record)
    copies = duplicate_columns(returns)
    if copies:
        return Undefined(describe(copies))
    return _deflate(records)


def _deflate(records: list[Moments]) -> DeflatedSharpe | Undefined:
    sharpes = np.array([record.sharpe_pp for record in records])
    best_column = int(sharpes.argmax())
    best = records[best_column]
    n_trials = len(records)
    differ = float(np.ptp(sharpes)) > _LEAST_DIFFERENCE * float(np.abs(sharpes).max())
    variance = float(sharpes.var(ddof=1)) if differ else 0.0
    probability = dsr(
        best.sharpe_pp,
        n_obs=best.n_obs,
        skew=best.skew,
        kurt_pearson=best.kurt_pearson,
        n_trials=n_trials,
        variance_of_trials_pp=variance,
    )
    if isinstance(probability, Undefined):
        return probability
    return DeflatedSharpe(
        probability=probability,
        best_column=best_column,
        best=best,
        benchmark_pp=float(np.sqrt(variance)) * expected_max(n_trials),
        n_trials=n_trials,
        variance_of_trials_pp=variance,
    )


def effective_trials(n_trials: int, mean_correlation: float) -> float:
    """Independent trials that *n_trials* correlated ones amount to ([1]_, appendix 3).

    Parameters
    ----------
    n_trials : int
        Trials, at least one.
    mean_correlation : float
        Mean correlation between them, in [0, 1].

    Raises
    ------
    InvalidInputError
        If an argument is out of range.

    """
    if n_trials < 1:
        raise InvalidInputError(f"n_trials must be at least 1, was {n_trials!r}")
    if not 0.0 <= mean_correlation <= 1.0:
        raise InvalidInputError(f"mean_correlation must lie in [0, 1], was {mean_correlation!r}")
    return mean_correlation + (1.0 - mean_correlation) * n_trials


def min_backtest_years(n_trials: int, sharpe_annual: float = 1.0) -> float:
    """Years of record below which *n_trials* without skill are expected to show *sharpe_annual* [2]_.

    Parameters
    ----------
    n_trials : int
        Independent trials, at least one.
    sharpe_annual : float
        Best annual Sharpe ratio that is not to come from luck; above zero.

    Raises
    ------
    InvalidInputError
        If an argument is out of range.

    """
    if not sharpe_annual > 0.0:
        raise InvalidInputError(f"sharpe_annual must be above zero, was {sharpe_annual!r}")
    return (expected_max(n_trials) / sharpe_annual) ** 2
