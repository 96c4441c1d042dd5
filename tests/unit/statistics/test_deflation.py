"""The deflated Sharpe ratio, against the numbers its paper prints and the ways it is got wrong."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from alphaswarm_assets.arrays import Float64Array
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.statistics.deflation import (
    deflated_sharpe,
    dsr,
    effective_trials,
    expected_max,
    min_backtest_years,
)
from alphaswarm_assets.statistics.sharpe import moments, psr
from alphaswarm_assets.statistics.undefined import Measured, Undefined, defined
from alphaswarm_assets.streams import Streams

DAILY = 2.5 / math.sqrt(250)
VARIANCE = 0.5 / 250


def paper(
    n_trials: int,
    sharpe_pp: float = DAILY,
    variance: float = VARIANCE,
    skew: float = -3,
    kurt: float = 10,
) -> Measured:
    return dsr(
        sharpe_pp,
        n_obs=1250,
        skew=skew,
        kurt_pearson=kurt,
        n_trials=n_trials,
        variance_of_trials_pp=variance,
    )


def noise(n_rows: int = 500, n_columns: int = 8, seed: int = 1) -> Float64Array:
    return 0.01 * Streams(seed).generator("noise").standard_normal((n_rows, n_columns))


@pytest.mark.parametrize(
    ("n_trials", "skew", "kurt", "expected"),
    [(100, -3, 10, 0.9004), (46, -3, 10, 0.9505), (88, 0, 3, 0.9505)],
)
def test_dsr_as_printed_in_2014(n_trials: int, skew: float, kurt: float, expected: float) -> None:
    assert paper(n_trials, skew=skew, kurt=kurt) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("mistake", "value"),
    [
        ({"sharpe_pp": 2.5, "variance": 0.5}, 0.99999994),
        ({"variance": 0.5}, 0.0),
        ({"variance": VARIANCE**2}, 0.999994),
        ({"kurt": 10 - 3 + 3.0001}, 0.9004),
    ],
    ids=["everything annual", "annual variance", "variance for a deviation", "the right way"],
)
def test_a_wrong_unit_does_not_give_the_right_number(
    mistake: dict[str, float], value: float
) -> None:
    found = defined(paper(100, **mistake))

    assert found == pytest.approx(value, abs=6e-5 if value == 0.9004 else 1e-3)
    assert (abs(found - 0.9004) < 1e-3) == (value == 0.9004)


def test_one_trial_has_nothing_to_deflate() -> None:
    assert paper(1) == Undefined("one trial: nothing to deflate, report PSR")


def test_trials_that_do_not_differ_deflate_nothing() -> None:
    answer = paper(10, variance=0.0)

    assert isinstance(answer, Undefined)
    assert "no variance between trials" in answer.reason


@pytest.mark.parametrize(
    ("n", "expected"),
    [(1, 0.0), (2, 0.5197553), (10, 1.5745983), (100, 2.5306029), (1000, 3.2551215)],
)
def test_expected_maximum_of_normals(n: int, expected: float) -> None:
    # 2.53060289 for 100 is pinned by pypbo's tests from the paper.
    assert expected_max(n) == pytest.approx(expected, abs=5e-8)


def test_expected_maximum_of_very_many_normals_is_finite() -> None:
    assert 9 < expected_max(10**20) < 10


def test_forty_five_trials_need_five_years() -> None:
    assert min_backtest_years(45) == pytest.approx(5.0, abs=2e-3)


def test_a_hundred_trials_with_correlation_one_half_are_fifty() -> None:
    assert effective_trials(100, 0.5) == 50.5


def test_the_best_column_is_deflated_by_all() -> None:
    matrix = noise()
    matrix[:, 3] += 0.001
    sharpes = matrix.mean(axis=0) / matrix.std(axis=0, ddof=1)

    found = defined(deflated_sharpe(matrix))

    record = defined(moments(matrix[:, 3]))
    assert found.best_column == 3
    assert found.n_trials == 8
    assert found.variance_of_trials_pp == pytest.approx(sharpes.var(ddof=1))
    assert found.probability == pytest.approx(
        psr(
            sharpes[3],
            n_obs=500,
            skew=record.skew,
            kurt_pearson=record.kurt_pearson,
            benchmark_pp=math.sqrt(sharpes.var(ddof=1)) * expected_max(8),
        )
    )


def test_deflation_costs_probability() -> None:
    matrix = noise()
    found = defined(deflated_sharpe(matrix))
    best = found.best

    alone = psr(best.sharpe_pp, n_obs=500, skew=best.skew, kurt_pearson=best.kurt_pearson)

    assert found.probability < defined(alone)


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        (noise(n_columns=1), "one trial: nothing to deflate, report PSR"),
        (np.repeat(noise(n_columns=1), 5, axis=1), "columns 0, 1, 2, 3, 4 are copies of one trial"),
        (np.c_[noise(), np.zeros(500)], "column 8: returns have no spread"),
        (np.r_[noise(), np.full((1, 8), np.nan)], "column 0 is not finite at row 500: was nan"),
        (np.r_[noise(), np.full((1, 8), -1.0)], "column 0 is wiped out at row 500"),
        (noise(n_rows=1), "column 0: needs at least 2 rows of returns, was 1 row"),
    ],
    ids=["one", "copies", "never trades", "nan", "wiped out", "one row"],
)
def test_no_number_is_made_of_what_is_no_evidence(matrix: Float64Array, reason: str) -> None:
    assert deflated_sharpe(matrix) == Undefined(reason)


def test_the_same_returns_in_another_order_are_no_variance_between_trials() -> None:
    returns = noise(n_columns=1)[:, 0]
    matrix = np.stack([returns, returns[::-1], np.roll(returns, 7)], axis=1)

    answer = deflated_sharpe(matrix)

    assert isinstance(answer, Undefined)
    assert "no variance between trials" in answer.reason


def test_a_series_is_no_matrix() -> None:
    with pytest.raises(InvalidInputError, match=r"shape \(T, S\)"):
        deflated_sharpe(np.zeros(10))


@pytest.mark.parametrize(
    "call",
    [
        lambda: expected_max(0),
        lambda: effective_trials(0, 0.5),
        lambda: effective_trials(10, 1.5),
        lambda: min_backtest_years(10, 0.0),
        lambda: paper(10, variance=-1.0),
        lambda: paper(10, variance=math.nan),
    ],
)
def test_arguments_out_of_range_are_refused(call: Callable[[], object]) -> None:
    with pytest.raises(InvalidInputError, match="must"):
        call()
