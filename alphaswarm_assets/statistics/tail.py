"""What the worst periods cost."""

from __future__ import annotations

import math

import numpy as np

from alphaswarm_assets.arrays import Float64Array
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.statistics.returns import checked_returns


def expected_shortfall(returns: Float64Array, level: float = 0.95) -> float:
    """Mean loss over the worst 1 - level of the periods, as a positive fraction.

    The tail is exact: where (1 - level) T is no whole number, the last period counts by its fraction.

    Parameters
    ----------
    returns : (T,) float64
        Simple returns per period; T >= 1, all finite.
    level : float
        In (0, 1).

    Raises
    ------
    InvalidInputError
        If *level* is not in (0, 1), or *returns* is empty or not finite.

    References
    ----------
    .. [1] Rockafellar and Uryasev (2002), "Conditional Value-at-Risk for General Loss
       Distributions", J. Banking and Finance 26(7), section 4.
    """
    series = checked_returns(returns)
    if not 0.0 < level < 1.0:
        raise InvalidInputError(f"level must lie in (0, 1), was {level!r}")
    worst = np.sort(series)
    n_tail = len(worst) * (1.0 - level)
    # (1 - 0.95) * 20 is a little above 1: a whole number of periods must be found whole.
    n_whole = math.floor(n_tail + 1e-9)
    part = max(0.0, n_tail - n_whole)
    total = float(worst[:n_whole].sum())
    if part > 0.0:
        total += part * float(worst[n_whole])
    return -total / n_tail
