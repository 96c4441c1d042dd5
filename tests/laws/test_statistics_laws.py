"""What always holds of the statistics, whatever the returns."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from alphaswarm_assets.arrays import Float64Array
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.statistics.bootstrap import Statistic, aggregate, percentile_interval
from alphaswarm_assets.statistics.deflation import deflated_sharpe, dsr, expected_max
from alphaswarm_assets.statistics.pbo import probability_of_backtest_overfitting
from alphaswarm_assets.statistics.performance import (
    calmar,
    hit_rate,
    max_drawdown,
    profit_factor,
    sharpe_annual,
    sharpe_per_period,
    sortino,
    total_return,
    volatility_annual,
)
from alphaswarm_assets.statistics.robust import interquartile_mean
from alphaswarm_assets.statistics.sharpe import min_track_record_length, moments, psr
from alphaswarm_assets.statistics.undefined import Measured, Undefined, defined
from alphaswarm_assets.streams import Streams

MEASURES = (
    total_return,
    sharpe_per_period,
    sharpe_annual,
    volatility_annual,
    max_drawdown,
    sortino,
    calmar,
    profit_factor,
    hit_rate,
)

# Whole basis points: ties, zeros and equal series come up often.
basis_points = st.integers(-15_000, 15_000).map(lambda bps: bps / 10_000)
any_floats = st.floats(allow_nan=False, allow_infinity=False)
series = st.lists(basis_points | any_floats, min_size=1, max_size=40).map(np.array)
scores = st.lists(st.integers(-1000, 1000), min_size=1, max_size=24).map(np.array)
seeds = st.integers(0, 2**32 - 1)


def trials(seed: int, n_rows: int = 64, n_columns: int = 5) -> Float64Array:
    return 0.01 * Streams(seed).generator("trials").standard_normal((n_rows, n_columns))


def pbo(matrix: Float64Array) -> Any:
    return probability_of_backtest_overfitting(matrix, n_blocks=8)


@pytest.mark.parametrize("measure", MEASURES)
@given(returns=series)
def test_a_measure_is_finite_or_says_why_not(
    measure: Callable[[Float64Array], Measured], returns: Float64Array
) -> None:
    answer = measure(returns)

    assert isinstance(answer, Undefined) or math.isfinite(answer)
    assert not isinstance(answer, Undefined) or answer.reason


@given(returns=series)
def test_a_drawdown_lies_between_zero_and_one(returns: Float64Array) -> None:
    fall = max_drawdown(returns)

    assert isinstance(fall, Undefined) or 0.0 <= fall <= 1.0


@given(returns=series)
def test_a_total_loss_is_at_least_covered_by_the_drawdown(returns: Float64Array) -> None:
    total, fall = total_return(returns), max_drawdown(returns)

    if not isinstance(total, Undefined) and not isinstance(fall, Undefined):
        assert fall >= -total - 1e-12


@given(seed=seeds, factor=st.floats(0.1, 5.0))
def test_leverage_changes_no_ratio(seed: int, factor: float) -> None:
    returns = trials(seed)[:, 0]

    for ratio in (sharpe_annual, sortino, profit_factor, hit_rate):
        assert ratio(factor * returns) == pytest.approx(ratio(returns), rel=1e-9)


@given(seed=seeds, factor=st.floats(0.1, 5.0))
def test_leverage_changes_no_probability(seed: int, factor: float) -> None:
    matrix = trials(seed)

    assert defined(deflated_sharpe(factor * matrix)).probability == pytest.approx(
        defined(deflated_sharpe(matrix)).probability, rel=1e-9
    )
    assert pbo(factor * matrix).value == pbo(matrix).value


@given(seed=seeds, data=st.data())
def test_the_order_of_columns_changes_no_probability(seed: int, data: st.DataObject) -> None:
    matrix = trials(seed)
    order = data.draw(st.permutations(range(matrix.shape[1])))

    moved = defined(deflated_sharpe(matrix[:, order]))

    assert moved.probability == pytest.approx(
        defined(deflated_sharpe(matrix)).probability, rel=1e-12
    )
    assert order[moved.best_column] == defined(deflated_sharpe(matrix)).best_column
    assert (pbo(matrix[:, order]).logits == pbo(matrix).logits).all()


@given(
    sharpe_pp=st.floats(-0.3, 0.3),
    n_trials=st.integers(2, 1000),
    more=st.integers(1, 1000),
    variance=st.floats(1e-6, 0.01),
)
def test_more_trials_never_raise_the_deflated_sharpe(
    sharpe_pp: float, n_trials: int, more: int, variance: float
) -> None:
    def deflated(n: int) -> Any:
        return dsr(
            sharpe_pp,
            n_obs=500,
            skew=-0.5,
            kurt_pearson=5.0,
            n_trials=n,
            variance_of_trials_pp=variance,
        )

    assert expected_max(n_trials + more) > expected_max(n_trials)
    assert deflated(n_trials + more) <= deflated(n_trials)


@given(sharpe_pp=st.floats(-0.5, 0.5), n_obs=st.integers(2, 5000), more=st.integers(1, 5000))
def test_a_longer_record_moves_psr_away_from_one_half(
    sharpe_pp: float, n_obs: int, more: int
) -> None:
    def away(n: int) -> float:
        return abs(defined(psr(sharpe_pp, n_obs=n, skew=-0.5, kurt_pearson=5.0)) - 0.5)

    assert away(n_obs + more) >= away(n_obs)


@given(sharpe_pp=st.floats(0.02, 0.5), probability=st.floats(0.55, 0.999))
def test_the_minimum_record_is_where_psr_reaches_the_probability(
    sharpe_pp: float, probability: float
) -> None:
    def reached(n_obs: int) -> float:
        return defined(psr(sharpe_pp, n_obs=n_obs, skew=-0.5, kurt_pearson=5.0))

    length = defined(
        min_track_record_length(sharpe_pp, skew=-0.5, kurt_pearson=5.0, probability=probability)
    )

    assert reached(max(2, math.ceil(length))) >= probability - 1e-9
    if math.floor(length) >= 3:
        assert reached(math.floor(length) - 1) < probability


@given(returns=series)
def test_no_sample_breaks_pearsons_inequality(returns: Float64Array) -> None:
    found = moments(returns)

    if not isinstance(found, Undefined):
        assert found.kurt_pearson >= (1 + found.skew**2) * (1 - 1e-9)


@given(
    seed=seeds,
    bad=st.sampled_from(["nan", "inf", "constant", "copy", "levered copy", "wiped out"]),
    place=st.integers(0, 5),
)
def test_a_bad_column_anywhere_leaves_nothing_to_conclude(seed: int, bad: str, place: int) -> None:
    matrix = trials(seed)
    column = matrix[:, 0].copy()
    match bad:
        case "nan":
            column[seed % 64] = math.nan
        case "inf":
            column[seed % 64] = math.inf
        case "constant":
            column[:] = 0.001
        case "levered copy":
            column *= 2.0
        case "wiped out":
            column[seed % 64] = -1.5
        case _:
            pass
    worse = np.insert(matrix, place, column, axis=1)

    assert isinstance(pbo(worse), Undefined)
    assert isinstance(deflated_sharpe(worse), Undefined)


@given(seed=seeds)
def test_the_logits_of_a_half_know_the_best_possible_rank(seed: int) -> None:
    logits = pbo(trials(seed)).logits

    assert np.abs(logits).max() <= math.log(5) + 1e-12
    assert len(logits) == 70


@given(values=scores, shift=st.integers(-1000, 1000))
def test_a_shift_of_the_scores_shifts_the_interquartile_mean(
    values: Float64Array, shift: int
) -> None:
    moved = interquartile_mean(values + shift)

    assert moved == pytest.approx(interquartile_mean(values) + shift, abs=1e-9)


@given(values=scores, data=st.data())
def test_the_interquartile_mean_knows_no_order(values: Float64Array, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(values))))

    assert interquartile_mean(values[order]) == interquartile_mean(values)


@given(values=scores)
def test_the_interquartile_mean_lies_between_the_extremes(values: Float64Array) -> None:
    assert values.min() <= interquartile_mean(values) <= values.max()


@given(
    values=scores, place=st.integers(0, 23), bad=st.sampled_from([math.nan, math.inf, -math.inf])
)
def test_one_missing_score_is_always_refused(values: Float64Array, place: int, bad: float) -> None:
    where = place % (len(values) + 1)
    with pytest.raises(InvalidInputError, match=f"at seed {where}"):
        interquartile_mean(np.insert(values.astype(float), where, bad))


@given(values=scores, seed=seeds, statistic=st.sampled_from(["mean", "iqm"]))
def test_an_interval_is_ordered_and_within_the_scores(
    values: Float64Array, seed: int, statistic: Statistic
) -> None:
    assume(len(values) >= 2)
    found = defined(
        percentile_interval(
            values,
            statistic=statistic,
            n_resamples=50,
            alpha=0.1,
            generator=Streams(seed).generator("interval"),
        )
    )

    assert values.min() - 1e-9 <= found.lo <= found.hi <= values.max() + 1e-9


@given(values=scores, data=st.data(), seed=seeds)
def test_the_point_of_an_aggregate_knows_no_order_of_seeds(
    values: Float64Array, data: st.DataObject, seed: int
) -> None:
    order = data.draw(st.permutations(range(len(values))))

    def row(of: Float64Array) -> Any:
        return aggregate(
            of / 7,
            n_resamples=20,
            alpha=0.1,
            generator=Streams(seed).generator("aggregate"),
        )

    assert row(values[order]).point == row(values).point
    assert row(values[order]).iqm == row(values).iqm
