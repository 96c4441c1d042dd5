"""PSR and the minimum track record, against the numbers their papers print."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.statistics.sharpe import min_track_record_length, moments, psr
from alphaswarm_assets.statistics.undefined import Undefined, defined

# Bailey and Lopez de Prado (2012), the hedge fund of their first example; monthly.
FUND = {"n_obs": 24, "skew": -2.448, "kurt_pearson": 10.164}


def test_moments_are_biased_and_kurtosis_is_not_in_excess() -> None:
    # 1, 2, 6: deviations -2, -1, 3; m2 14/3, m3 6, m4 98/3.
    found = defined(moments(np.array([0.1, 0.2, 0.6])))

    assert found.n_obs == 3
    assert found.sharpe_pp == pytest.approx(3 / math.sqrt(7))
    assert found.skew == pytest.approx(6 / (14 / 3) ** 1.5)
    assert found.kurt_pearson == pytest.approx((98 / 3) / (14 / 3) ** 2)


def test_moments_of_equal_returns_are_undefined() -> None:
    assert moments(np.full(10, 0.001)) == Undefined("returns have no spread")


@pytest.mark.parametrize(
    ("sharpe_pp", "kwargs", "expected"),
    [
        (0.458, {"n_obs": 24, "skew": 0, "kurt_pearson": 3}, 0.982),
        (0.458, FUND, 0.913),
        (0.036 / 0.079, FUND | {"variance_at": "null"}, 0.987),
        (0.036 / 0.079, FUND | {"variance_at": "null", "benchmark_pp": 0.1}, 0.939),
    ],
    ids=["2012, normal", "2012, real moments", "2025, null", "2025, null, benchmark 0.1"],
)
def test_psr_as_printed(sharpe_pp: float, kwargs: dict[str, Any], expected: float) -> None:
    assert psr(sharpe_pp, **kwargs) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize(
    ("periods", "skew", "kurt_pearson", "years"),
    [(252, 0, 3, 2.73), (52, 0, 3, 2.83), (12, 0, 3, 3.24), (12, -0.72, 5.78, 4.99)],
    ids=["daily", "weekly", "monthly", "monthly, hedge fund moments"],
)
def test_years_to_tell_an_annual_two_from_a_one(
    periods: float, skew: float, kurt_pearson: float, years: float
) -> None:
    length = min_track_record_length(
        2 / math.sqrt(periods),
        skew=skew,
        kurt_pearson=kurt_pearson,
        benchmark_pp=1 / math.sqrt(periods),
    )

    assert defined(length) / periods == pytest.approx(years, abs=5e-3)


def test_a_record_is_asked_for_with_a_probability_and_no_percentage() -> None:
    with pytest.raises(InvalidInputError, match=r"probability must lie in \(0, 1\), was 95"):
        min_track_record_length(0.1, skew=0, kurt_pearson=3, probability=95)


def test_no_record_is_long_enough_for_what_does_not_beat_its_benchmark() -> None:
    answer = min_track_record_length(0.1, skew=0, kurt_pearson=3, benchmark_pp=0.1)

    assert isinstance(answer, Undefined)
    assert "does not beat" in answer.reason


def test_an_excess_kurtosis_is_refused_where_no_sample_could_have_it() -> None:
    with pytest.raises(InvalidInputError, match=r"at least 1 \+ skew\*\*2.*not the excess"):
        psr(0.458, n_obs=24, skew=-2.448, kurt_pearson=10.164 - 6)


def test_the_moments_of_a_two_point_sample_are_accepted() -> None:
    found = defined(moments(np.array([0.01, -0.02] * 10 + [0.01])))

    answer = psr(found.sharpe_pp, n_obs=21, skew=found.skew, kurt_pearson=found.kurt_pearson)

    assert 0 < defined(answer) < 1


def test_an_estimator_without_variance_has_no_psr() -> None:
    # kurt = 1 + skew**2 and skew * SR = 2 make 1 - g3 SR + (g4 - 1)/4 SR**2 zero.
    assert isinstance(psr(1.0, n_obs=10, skew=2.0, kurt_pearson=5.0), Undefined)


@pytest.mark.parametrize("name", ["sharpe_pp", "skew", "kurt_pearson", "benchmark_pp"])
def test_a_nan_argument_is_refused_by_name(name: str) -> None:
    arguments: dict[str, Any] = {"sharpe_pp": 0.1, "skew": 0.0, "kurt_pearson": 3.0, name: math.nan}

    with pytest.raises(InvalidInputError, match=f"{name} must be finite"):
        psr(n_obs=100, **arguments)


def test_one_period_is_no_record() -> None:
    with pytest.raises(InvalidInputError, match="n_obs must be at least 2, was 1"):
        psr(0.1, n_obs=1, skew=0, kurt_pearson=3)
