"""How sure a Sharpe ratio is: its moments, the probability that it is real, the record it needs.

Every Sharpe ratio here is per period, never annualised, and says so (``sharpe_pp``): an annual ratio
with a daily row count gives a probability of 1 for anything. Kurtosis is Pearson's (normal = 3).

References
----------
.. [1] Bailey and Lopez de Prado (2012), "The Sharpe Ratio Efficient Frontier", J. of Risk 15(2).
.. [2] Lopez de Prado, Lipton and Zoonekynd (2025), "Sharpe Ratio Inference".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, Literal

from alphaswarm_assets.arrays import Float64Array
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.statistics.performance import sharpe_per_period
from alphaswarm_assets.statistics.returns import checked_returns
from alphaswarm_assets.statistics.undefined import Measured, Undefined

_NORMAL: Final = NormalDist()
# A sample of two values meets Pearson's inequality with equality, where rounding may fall short of it.
_PEARSON_SLACK: Final = 1e-9
# Where the estimator's variance should cancel to zero, this much rounding may be left of it.
_LEAST_VARIANCE: Final = 1e-9


@dataclass(frozen=True, kw_only=True, slots=True)
class Moments:
    """What the distribution of a Sharpe ratio's estimate depends on."""

    n_obs: int
    """Periods, T."""
    sharpe_pp: float
    """Mean over standard deviation (ddof 1), per period."""
    skew: float
    """m3 / m2**1.5, biased."""
    kurt_pearson: float
    """m4 / m2**2, biased; 3 for a normal."""


def moments(returns: Float64Array) -> Moments | Undefined:
    """Sharpe ratio per period with the biased skewness and Pearson kurtosis of *returns*.

    Parameters
    ----------
    returns : (T,) float64
        Simple returns per period; T >= 2, all finite.

    Returns
    -------
    Moments | Undefined
        Undefined where `sharpe_per_period` is.
    """
    series = checked_returns(returns)
    sharpe_pp = sharpe_per_period(series)
    if isinstance(sharpe_pp, Undefined):
        return sharpe_pp
    deviations = series - series.mean()
    # Unit scale first: the fourth power of a small return would leave the range of a float64.
    z = deviations / math.sqrt(float(deviations @ deviations) / len(series))
    return Moments(
        n_obs=len(series),
        sharpe_pp=sharpe_pp,
        skew=float((z**3).mean()),
        kurt_pearson=float((z**4).mean()),
    )


def psr(
    sharpe_pp: float,
    *,
    n_obs: int,
    skew: float,
    kurt_pearson: float,
    benchmark_pp: float = 0.0,
    variance_at: Literal["observed", "null"] = "observed",
) -> Measured:
    """Probability that the true Sharpe ratio is above *benchmark_pp* (probabilistic Sharpe ratio).

    Parameters
    ----------
    sharpe_pp : float
        Observed, per period, ddof 1.
    n_obs : int
        Periods it was observed over, T >= 2.
    skew : float
        Biased skewness of the returns.
    kurt_pearson : float
        Biased kurtosis, 3 for a normal.
    benchmark_pp : float
        Sharpe ratio to beat, per period.
    variance_at : {"observed", "null"}
        Where the estimator's variance is taken: at the observed ratio over T - 1 [1]_, the
        convention here; or at the benchmark over T [2]_. One record gives 0.913 or 0.987.

    Returns
    -------
    Measured
        In [0, 1]. Undefined where the estimator has no variance: a sample of two distinct values.

    Raises
    ------
    InvalidInputError
        If an argument is not finite, *n_obs* < 2, or the moments are impossible.
    """
    _check_moments(sharpe_pp, n_obs=n_obs, skew=skew, kurt_pearson=kurt_pearson)
    if not math.isfinite(benchmark_pp):
        raise InvalidInputError(f"benchmark_pp must be finite, was {benchmark_pp!r}")
    at_observed = variance_at == "observed"
    variance = _variance_term(sharpe_pp if at_observed else benchmark_pp, skew, kurt_pearson)
    if variance <= _LEAST_VARIANCE:
        return Undefined("the Sharpe ratio's estimator has no variance under these moments")
    root_n = math.sqrt(n_obs - 1 if at_observed else n_obs)
    return _NORMAL.cdf((sharpe_pp - benchmark_pp) * root_n / math.sqrt(variance))


def min_track_record_length(
    sharpe_pp: float,
    *,
    skew: float,
    kurt_pearson: float,
    benchmark_pp: float = 0.0,
    probability: float = 0.95,
) -> Measured:
    """Periods needed before PSR reaches *probability*, if the moments stay as they are [1]_.

    Parameters
    ----------
    sharpe_pp : float
        Observed, per period.
    skew : float
        Biased skewness of the returns.
    kurt_pearson : float
        Biased kurtosis, 3 for a normal.
    benchmark_pp : float
        Sharpe ratio to beat, per period.
    probability : float
        In (0, 1).

    Returns
    -------
    Measured
        Periods, not rounded. Undefined when the ratio does not beat the benchmark: no record will do.

    Raises
    ------
    InvalidInputError
        If an argument is not finite or out of range, or the moments are impossible.
    """
    _check_moments(sharpe_pp, n_obs=2, skew=skew, kurt_pearson=kurt_pearson)
    if not 0.0 < probability < 1.0:
        raise InvalidInputError(f"probability must lie in (0, 1), was {probability!r}")
    edge = sharpe_pp - benchmark_pp
    if not edge > 0.0:
        return Undefined(
            f"no record is long enough: sharpe {sharpe_pp:.6g} does not beat {benchmark_pp:.6g}"
        )
    variance = _variance_term(sharpe_pp, skew, kurt_pearson)
    return 1.0 + variance * (_NORMAL.inv_cdf(probability) / edge) ** 2


def _variance_term(sharpe_pp: float, skew: float, kurt_pearson: float) -> float:
    return 1.0 - skew * sharpe_pp + (kurt_pearson - 1.0) / 4.0 * sharpe_pp**2


def _check_moments(sharpe_pp: float, *, n_obs: int, skew: float, kurt_pearson: float) -> None:
    for name, value in (("sharpe_pp", sharpe_pp), ("skew", skew), ("kurt_pearson", kurt_pearson)):
        if not math.isfinite(value):
            raise InvalidInputError(f"{name} must be finite, was {value!r}")
    if n_obs < 2:
        raise InvalidInputError(f"n_obs must be at least 2, was {n_obs!r}")
    if kurt_pearson < 1.0 + skew**2 - _PEARSON_SLACK * (1.0 + skew**2):
        raise InvalidInputError(
            f"kurt_pearson must be at least 1 + skew**2 = {1.0 + skew**2:.6g}, was "
            f"{kurt_pearson!r}. Pass the kurtosis whose normal value is 3, not the excess."
        )
