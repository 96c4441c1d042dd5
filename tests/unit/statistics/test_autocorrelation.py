"""Time scaling of a Sharpe ratio under AR(1) returns, against Lo's table and his general formula."""

from __future__ import annotations

import math

import pytest

from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.statistics.autocorrelation import sharpe_standard_error, time_scale_ar1


def by_the_general_formula(correlation: float, n_periods: int) -> float:
    # Lo (2002), equation 20, with the autocorrelations of an AR(1): rho**k.
    q = n_periods
    return q / math.sqrt(q + 2 * sum((q - k) * correlation**k for k in range(1, q)))


@pytest.mark.parametrize(
    ("correlation", "expected"), [(-0.2, 4.17), (0.0, 3.46), (0.2, 2.88), (0.5, 2.12)]
)
def test_monthly_to_annual_as_in_the_table_of_2002(correlation: float, expected: float) -> None:
    assert time_scale_ar1(correlation, 12) == pytest.approx(expected, abs=5e-3)


@pytest.mark.parametrize("correlation", [-0.9, -0.2, 0.0, 0.1, 0.9])
@pytest.mark.parametrize("n_periods", [1, 2, 12, 252])
def test_the_closed_form_is_the_sum(correlation: float, n_periods: int) -> None:
    expected = by_the_general_formula(correlation, n_periods)

    assert time_scale_ar1(correlation, n_periods) == pytest.approx(expected, rel=1e-12)


def test_standard_error_as_in_the_table_of_2002() -> None:
    assert sharpe_standard_error(1.0, 60) == pytest.approx(0.158, abs=5e-4)


def test_arguments_out_of_range_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"correlation must lie in \(-1, 1\), was 1\.0"):
        time_scale_ar1(1.0, 12)
    with pytest.raises(InvalidInputError, match="n_periods must be at least 1, was 0"):
        time_scale_ar1(0.1, 0)
    with pytest.raises(InvalidInputError, match="n_obs must be at least 1, was 0"):
        sharpe_standard_error(1.0, 0)
