"""What correlated returns do to a Sharpe ratio: the root of time holds for uncorrelated ones only.

References
----------
.. [1] Lo (2002), "The Statistics of Sharpe Ratios", Financial Analysts Journal 58(4), equations 9,
   20 and 21.
"""

from __future__ import annotations

import math

from alphaswarm_assets.errors import InvalidInputError


def time_scale_ar1(correlation: float, n_periods: int) -> float:
    """Factor from a Sharpe ratio per period to one over *n_periods* of AR(1) returns [1]_.

    Parameters
    ----------
    correlation : float
        Of each return with the one before, in (-1, 1); 0 gives the root of *n_periods*.
    n_periods : int
        Periods in the longer span, at least one.

    Raises
    ------
    InvalidInputError
        If an argument is out of range.
    """
    if not -1.0 < correlation < 1.0:
        raise InvalidInputError(f"correlation must lie in (-1, 1), was {correlation!r}")
    if n_periods < 1:
        raise InvalidInputError(f"n_periods must be at least 1, was {n_periods!r}")
    rest = 1.0 - correlation
    decay = (1.0 - correlation**n_periods) / (n_periods * rest)
    return math.sqrt(n_periods / (1.0 + 2.0 * correlation / rest * (1.0 - decay)))


def sharpe_standard_error(sharpe_pp: float, n_obs: int) -> float:
    """Standard error of a Sharpe ratio of independent normal returns [1]_.

    Parameters
    ----------
    sharpe_pp : float
        Observed, per period; the error has the same unit.
    n_obs : int
        Periods, at least one.

    Raises
    ------
    InvalidInputError
        If *n_obs* is below one.
    """
    if n_obs < 1:
        raise InvalidInputError(f"n_obs must be at least 1, was {n_obs!r}")
    return math.sqrt((1.0 + sharpe_pp**2 / 2.0) / n_obs)
