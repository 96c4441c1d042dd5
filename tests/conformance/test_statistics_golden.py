"""The reference table of statistics: 54 cases from papers, libraries and hand counts.

The table and its inputs stand outside the repository; where they are not there the cases are skipped.
The papers' numbers among them are repeated in the unit tests, which need no file.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from alphaswarm_assets.arrays import Float64Array
from alphaswarm_assets.statistics.autocorrelation import sharpe_standard_error, time_scale_ar1
from alphaswarm_assets.statistics.bootstrap import exact_interval
from alphaswarm_assets.statistics.deflation import (
    dsr,
    effective_trials,
    expected_max,
    min_backtest_years,
)
from alphaswarm_assets.statistics.pbo import Pbo, probability_of_backtest_overfitting
from alphaswarm_assets.statistics.performance import (
    annual_growth,
    calmar,
    max_drawdown,
    profit_factor,
    sharpe_annual,
    sortino,
)
from alphaswarm_assets.statistics.robust import interquartile_mean
from alphaswarm_assets.statistics.selection import halves, rank_chosen
from alphaswarm_assets.statistics.sharpe import min_track_record_length, moments, psr
from alphaswarm_assets.statistics.tail import expected_shortfall
from alphaswarm_assets.statistics.undefined import Measured, Undefined, defined

REFERENCE = Path(__file__).parents[3] / "shared" / "reference" / "stats_refs"
TABLE = REFERENCE / "outputs" / "golden.json"
Case: TypeAlias = dict[str, Any]

CASES: list[Case] = json.loads(TABLE.read_text()) if TABLE.exists() else []


def of(*prefixes: str) -> pytest.MarkDecorator:
    cases = [case for case in CASES if case["id"].startswith(prefixes)]
    if not cases:
        skip = pytest.mark.skip(reason=f"no reference table at {TABLE}")
        return pytest.mark.parametrize("case", [pytest.param({}, marks=skip, id="absent")])
    return pytest.mark.parametrize("case", cases, ids=[case["id"] for case in cases])


def table(name: str) -> Float64Array:
    return np.loadtxt(REFERENCE / "inputs" / name, delimiter=",", skiprows=1)[:, 1:]


def near(case: Case) -> Any:
    return pytest.approx(case["expected"], abs=case["tol"])


def test_every_case_of_the_table_is_taken() -> None:
    if not CASES:
        pytest.skip(f"no reference table at {TABLE}")
    taken = ("psr.", "mintrl.", "dsr.", "emax.", "minbtl.", "neff.", "lo.", "pbo.", "boot.", "iqm.")

    assert len(CASES) == 54
    assert all(case["id"].startswith((*taken, "metric.")) for case in CASES)


@of("psr.")
def test_psr(case: Case) -> None:
    given = case["inputs"]
    found = psr(
        given["sr"],
        n_obs=given["n"],
        skew=given["skew"],
        kurt_pearson=given["kurt"],
        benchmark_pp=given["sr_star"],
        variance_at=given.get("variance_at", "observed"),
    )

    assert found == near(case)


@of("mintrl.")
def test_minimum_track_record_in_years(case: Case) -> None:
    given = case["inputs"]
    root = math.sqrt(given["periods"])
    found = min_track_record_length(
        given["sr_annual"] / root,
        skew=given["skew"],
        kurt_pearson=given["kurt"],
        benchmark_pp=given["target_annual"] / root,
        probability=given["prob"],
    )

    assert defined(found) / given["periods"] == near(case)


@of("dsr.bl2014.N")
def test_deflated_sharpe(case: Case) -> None:
    given = case["inputs"]
    found = dsr(
        given["sr_annual"] / math.sqrt(given["periods"]),
        n_obs=given["T"],
        skew=given["skew"],
        kurt_pearson=given["kurt"],
        n_trials=given["N"],
        variance_of_trials_pp=given["var_trials_annual"] / given["periods"],
    )

    assert found == near(case)


@of("dsr.bl2014.sr0")
def test_expected_best_sharpe(case: Case) -> None:
    given = case["inputs"]
    variance = given["var_trials_annual"] / given["periods"]

    assert math.sqrt(variance) * expected_max(given["N"]) == near(case)


@of("emax.")
def test_expected_maximum(case: Case) -> None:
    assert expected_max(case["inputs"]["N"]) == near(case)


@of("minbtl.")
def test_minimum_backtest_length(case: Case) -> None:
    assert min_backtest_years(case["inputs"]["N"], case["inputs"]["target"]) == near(case)


@of("neff.")
def test_effective_trials(case: Case) -> None:
    assert effective_trials(case["inputs"]["M"], case["inputs"]["rho"]) == near(case)


@of("lo.eta")
def test_time_scale_of_correlated_returns(case: Case) -> None:
    assert time_scale_ar1(case["inputs"]["rho"], case["inputs"]["q"]) == near(case)


@of("lo.se")
def test_standard_error_of_a_sharpe(case: Case) -> None:
    assert sharpe_standard_error(case["inputs"]["sr"], case["inputs"]["T"]) == near(case)


@of("pbo.hand")
def test_pbo_by_hand(case: Case) -> None:
    given, expected = case["inputs"], case["expected"]
    means = halves(given["S"]) @ np.array(given["M"]) / (given["S"] / 2)

    ranks = rank_chosen(means, means[::-1]).ranks

    w = ranks / (len(given["M"][0]) + 1)
    assert ranks.tolist() == expected["ranks"]
    assert np.mean(w <= 0.5) == pytest.approx(expected["pbo_le0"], abs=case["tol"])
    assert np.mean(w < 0.5) == pytest.approx(expected["pbo_lt0"], abs=case["tol"])


@of("pbo.M_")
def test_pbo_of_a_matrix(case: Case) -> None:
    given, expected = case["inputs"], case["expected"]

    found = probability_of_backtest_overfitting(table(given["file"]), n_blocks=given["S"])

    if expected is None:
        assert isinstance(found, Undefined)
    else:
        assert isinstance(found, Pbo)
        assert found.value == pytest.approx(expected["pbo"], abs=case["tol"])
        assert np.mean(found.logits < 0) == pytest.approx(expected["pbo_strict"], abs=case["tol"])
        assert found.n_combinations == expected["n_combos"]


@of("boot.exact")
def test_exact_interval(case: Case) -> None:
    statistic = case["id"].split(".")[2]
    given = case["inputs"]
    found = defined(exact_interval(np.array(given["x"]), statistic=statistic, alpha=given["alpha"]))

    assert [found.lo, found.hi] == near(case)


@of("iqm.")
def test_interquartile_mean(case: Case) -> None:
    assert interquartile_mean(np.array(case["inputs"]["x"])) == near(case)


def psr_of(returns: Float64Array) -> Measured:
    m = defined(moments(returns))
    return psr(m.sharpe_pp, n_obs=m.n_obs, skew=m.skew, kurt_pearson=m.kurt_pearson)


def dsr_of(returns: Float64Array) -> Measured:
    m = defined(moments(returns))
    return dsr(
        m.sharpe_pp,
        n_obs=m.n_obs,
        skew=m.skew,
        kurt_pearson=m.kurt_pearson,
        n_trials=10,
        variance_of_trials_pp=0.001,
    )


METRICS = {
    "sharpe_ann_252": sharpe_annual,
    "sortino_ann": sortino,
    # The table's drawdown is a negative return, ours a positive magnitude.
    "max_drawdown": lambda returns: -defined(max_drawdown(returns)),
    "calmar": calmar,
    "cagr": annual_growth,
    "cvar95_fractional": expected_shortfall,
    "profit_factor": profit_factor,
    "psr0": psr_of,
    "dsr_N10_var.001": dsr_of,
}


@of(*(f"metric.r_main.{name}" for name in METRICS))
def test_metric_of_756_daily_returns(case: Case) -> None:
    measure = METRICS[case["id"].removeprefix("metric.r_main.")]

    assert measure(table(case["inputs"]["file"])[:, 0]) == near(case)


@of("metric.r_main.cvar95_cut")
def test_the_tail_is_exact_and_not_cut_at_a_whole_period(case: Case) -> None:
    # The one convention of the table that is not taken here; its exact twin is a case above.
    ours = expected_shortfall(table(case["inputs"]["file"])[:, 0])

    assert ours != near(case)
    assert ours == pytest.approx(case["expected"], rel=3e-3)
