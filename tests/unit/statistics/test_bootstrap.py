"""Intervals over seeds, and the aggregate row of a metric."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from alphaswarm_assets.arrays import Float64Array
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.statistics.bootstrap import (
    Statistic,
    aggregate,
    exact_interval,
    percentile_interval,
)
from alphaswarm_assets.statistics.undefined import Undefined, defined
from alphaswarm_assets.streams import Streams

FIVE = np.array([0.1, 0.2, 0.3, 0.4, 1.0])


def stream(name: str = "bootstrap") -> np.random.Generator:
    return Streams(7).generator(name)


def interval(
    values: Float64Array = FIVE,
    statistic: Statistic = "mean",
    n_resamples: int = 1000,
    alpha: float = 0.05,
) -> Any:
    return percentile_interval(
        values,
        statistic=statistic,
        n_resamples=n_resamples,
        alpha=alpha,
        generator=stream(),
    )


@pytest.mark.parametrize(
    ("statistic", "expected"),
    # All 126 multisets of five seeds, weighted and counted: an enumeration independent of this one.
    [("mean", (0.18, 0.72)), ("iqm", (0.13333333333333333, 0.8))],
)
def test_the_exact_interval_of_five_seeds(statistic: Statistic, expected: float) -> None:
    exact = defined(exact_interval(FIVE, statistic=statistic, alpha=0.05))

    assert (exact.lo, exact.hi) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("statistic", ["mean", "iqm"])
def test_many_resamples_come_to_the_exact_interval(statistic: Statistic) -> None:
    exact = defined(exact_interval(FIVE, statistic=statistic, alpha=0.05))
    drawn = interval(statistic=statistic, n_resamples=200_000)

    assert (drawn.lo, drawn.hi) == pytest.approx((exact.lo, exact.hi), abs=0.021)


def test_the_interval_agrees_with_scipy_on_its_own_draws() -> None:
    from scipy import stats

    theirs = stats.bootstrap(
        (FIVE,),
        np.mean,
        n_resamples=50_000,
        method="percentile",
        rng=stream("scipy"),
    ).confidence_interval
    ours = interval(n_resamples=50_000)

    assert (ours.lo, ours.hi) == pytest.approx((theirs.low, theirs.high), abs=0.011)


def test_the_same_stream_gives_the_same_interval() -> None:
    assert interval() == interval()


def test_an_interval_says_how_it_was_made() -> None:
    assert interval().method == "mean, percentile bootstrap over seeds, 1000 resamples, alpha 0.05"
    assert interval().n == 5


def test_one_seed_has_no_interval() -> None:
    # rliable answers [x, x], which passes a lower bound above zero.
    one = np.array([0.7])

    assert interval(one) == Undefined("one seed has no interval")
    assert exact_interval(one, statistic="mean", alpha=0.05) == Undefined(
        "one seed has no interval"
    )


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, float("nan")])
def test_a_level_outside_zero_and_one_is_refused(alpha: float) -> None:
    with pytest.raises(InvalidInputError, match="alpha must lie in"):
        interval(alpha=alpha)


def test_no_resample_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="n_resamples must be at least 1, was 0"):
        interval(n_resamples=0)


def test_enumeration_stops_at_eight_seeds() -> None:
    with pytest.raises(InvalidInputError, match="at most 8 seeds, was 9"):
        exact_interval(np.arange(9.0), statistic="mean", alpha=0.05)


def test_the_bounds_of_an_aggregate_belong_to_its_mean() -> None:
    row = defined(aggregate(FIVE, n_resamples=1000, alpha=0.05, generator=stream()))
    of_the_mean = interval()

    assert row.point == pytest.approx(0.4)
    assert row.iqm == pytest.approx(0.3)
    assert (row.lo, row.hi, row.n) == (of_the_mean.lo, of_the_mean.hi, 5)
    assert row.method.startswith("mean, ")


def test_an_aggregate_of_one_seed_has_a_point_and_no_bounds() -> None:
    row = defined(aggregate([0.7], n_resamples=1000, alpha=0.05, generator=stream()))

    assert (row.point, row.iqm, row.n) == (0.7, 0.7, 1)
    assert row.lo == row.hi == Undefined("one seed has no interval")


def test_a_seed_without_a_value_leaves_the_metric_undefined() -> None:
    values = [0.5, Undefined("returns have no spread"), 0.7]

    row = aggregate(values, n_resamples=1000, alpha=0.05, generator=stream())

    assert row == Undefined("seed 1: returns have no spread")


def test_a_nan_among_the_seeds_is_an_input_error() -> None:
    with pytest.raises(InvalidInputError, match="was nan at seed 1"):
        aggregate([0.5, float("nan")], n_resamples=10, alpha=0.05, generator=stream())
