"""Performance measures, against hand computations and the public reports of what goes wrong elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from alphaswarm_assets.arrays import Float64Array
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.statistics.performance import (
    annual_growth,
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
from alphaswarm_assets.statistics.returns import returns_from_equity
from alphaswarm_assets.statistics.tail import expected_shortfall
from alphaswarm_assets.statistics.undefined import Measured, Undefined, defined

# The seven returns on which PRUDEX, TradeMaster and textbook formulas were compared.
SEVEN = np.array([0.01, -0.02, 0.015, 0.0, -0.005, 0.03, -0.01])
RATIOS = (sharpe_per_period, sharpe_annual, sortino, calmar, annual_growth, volatility_annual)
ALL = (*RATIOS, total_return, max_drawdown, profit_factor, hit_rate)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (total_return, 0.0193164),
        (max_drawdown, 0.02),
        (volatility_annual, 0.0167971 * math.sqrt(252)),
        (sharpe_annual, 2.700211),
        (sortino, 5.237229),
        (hit_rate, 3 / 7),
        (profit_factor, 0.055 / 0.035),
    ],
)
def test_textbook_values_on_seven_returns(
    measure: Callable[[Float64Array], Measured], expected: float
) -> None:
    assert measure(SEVEN) == pytest.approx(expected, rel=3e-6)


def test_growth_and_calmar_follow_from_total_return_and_drawdown() -> None:
    growth = 1.01931635 ** (252 / 7) - 1

    assert annual_growth(SEVEN) == pytest.approx(growth, rel=2e-6)
    assert calmar(SEVEN) == pytest.approx(growth / 0.02, rel=2e-6)


def test_drawdown_counts_a_first_loss_from_the_starting_equity() -> None:
    # quantstats issue 438: the peak started after the loss. Expected -10.06354 %.
    returns = np.array([-0.1, 0.02, 0.01, -0.03, 0.04, 0.01])

    assert max_drawdown(returns) == pytest.approx(0.1006354, abs=1e-9)


@pytest.mark.parametrize("level", [0.001, 0.0, -0.02])
def test_constant_returns_have_no_sharpe_ratio(level: float) -> None:
    # empyrical pull 93, vectorbt issue 638: the deviation of 252 equal returns is 2e-19, not 0.
    answer = sharpe_annual(np.full(252, level))

    assert isinstance(answer, Undefined)
    assert answer.reason == "returns have no spread"


def test_returns_that_differ_by_rounding_have_no_sharpe_ratio() -> None:
    equity = np.array([1.001**bar for bar in range(1, 253)])

    assert isinstance(sharpe_annual(returns_from_equity(equity, 1.0)), Undefined)


def test_without_a_losing_period_sharpe_is_finite_and_sortino_undefined() -> None:
    gains = np.tile([0.001, 0.0015, 0.002, 0.001], 60)

    assert defined(sharpe_annual(gains)) > 0
    assert sortino(gains) == Undefined("no losing period")
    assert profit_factor(gains) == Undefined("no losing period")
    assert calmar(gains) == Undefined("no drawdown")


def test_profit_factor_of_losses_alone_is_zero() -> None:
    assert profit_factor(np.array([-0.01, 0.0])) == 0.0


@pytest.mark.parametrize(
    "returns",
    [
        np.array([0.01, -1.2, 0.5, 0.1]),
        returns_from_equity(np.array([100.0, 0.0, 50.0, 60.0]), 100.0),
    ],
    ids=["a return under -100 %", "an equity that touches zero"],
)
def test_a_wiped_out_equity_stays_wiped_out(returns: Float64Array) -> None:
    # Vibe-Trading pull 765: drawdown came out beyond -100 %, ratios infinite.
    assert max_drawdown(returns) == 1.0
    assert total_return(returns) == -1.0
    for ratio in (*RATIOS, profit_factor, hit_rate):
        answer = ratio(returns)
        assert isinstance(answer, Undefined)
        assert "wiped out at row 1" in answer.reason


def test_rows_after_ruin_are_dropped_with_the_equity() -> None:
    assert returns_from_equity(np.array([100.0, 0.0, 50.0, 60.0]), 100.0).tolist() == [0.0, -1.0]


def test_one_bar_has_no_ratio_and_says_how_many_it_needs() -> None:
    # Vibe-Trading pull 536: the deviation of one value is NaN and flowed into the report.
    one = returns_from_equity(np.array([1_000_000.0]), 1_000_000.0)

    for ratio in RATIOS:
        assert ratio(one) == Undefined("needs at least 2 rows of returns, was 1 row")
    assert total_return(one) == 0.0
    assert max_drawdown(one) == 0.0


@pytest.mark.parametrize("measure", [*ALL, expected_shortfall])
def test_no_row_is_an_input_error(measure: Callable[[Float64Array], Measured]) -> None:
    with pytest.raises(InvalidInputError, match="at least one row, was empty"):
        measure(np.array([]))


@pytest.mark.parametrize("measure", [*ALL, expected_shortfall])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_non_finite_return_is_refused_by_its_index(
    measure: Callable[[Float64Array], Measured], bad: float
) -> None:
    with pytest.raises(InvalidInputError, match=r"finite, was .* at index 2"):
        measure(np.array([0.01, -0.01, bad, 0.02]))


def test_a_matrix_is_no_series() -> None:
    with pytest.raises(InvalidInputError, match=r"shape \(T,\), was \(2, 2\)"):
        total_return(np.zeros((2, 2)))


@pytest.mark.parametrize("measure", ALL)
@pytest.mark.parametrize("returns", [[1e308] * 3 + [-0.5], [1e200, 2e200, 0.0], [1e-300, -1e-300]])
def test_absurd_magnitudes_never_answer_nan_or_infinity(
    measure: Callable[[Float64Array], Measured], returns: Float64Array
) -> None:
    answer = measure(np.array(returns))

    assert isinstance(answer, Undefined) or math.isfinite(answer)


def test_equity_before_the_first_bar_must_be_positive() -> None:
    with pytest.raises(InvalidInputError, match=r"above zero, was 0\.0"):
        returns_from_equity(np.array([1.0]), 0.0)


def test_shortfall_counts_the_last_period_by_its_fraction() -> None:
    # Worst 5 % of 30 periods are 1.5 periods: the worst, and half of the next.
    returns = np.concatenate(([-0.3, -0.1], np.full(28, 0.01)))

    assert expected_shortfall(returns) == pytest.approx((0.3 + 0.05) / 1.5)


def test_shortfall_of_a_whole_number_of_periods_is_their_mean() -> None:
    assert expected_shortfall(np.linspace(-0.2, 0.18, 20)) == pytest.approx(0.2)


def test_shortfall_refuses_a_level_outside_zero_and_one() -> None:
    with pytest.raises(InvalidInputError, match="was 95"):
        expected_shortfall(SEVEN, 95)
