from __future__ import annotations

import csv
from collections.abc import Sequence
from datetime import date
from typing import Any

import numpy as np
import pytest

from alphaswarm_assets.arrays import AnyArray
from alphaswarm_assets.errors import MarketDataError
from alphaswarm_assets.markets.bars import RAW_COLUMNS, BarReport, check_bars
from tests.conftest import shared

EPOCH = date(1970, 1, 1)
NAN = float("nan")


def _day(text: str) -> int:
    return (date.fromisoformat(text) - EPOCH).days


def _raw(rows: Sequence[tuple[Any, ...]]) -> dict[str, AnyArray]:
    """Return rows of (symbol, session, open, high, low, close, volume[, adj_close]) as columns."""
    full = [row if len(row) == 8 else (*row, row[5]) for row in rows]
    columns = dict(zip(RAW_COLUMNS, zip(*full, strict=True), strict=True))
    return {
        name: np.array(column, dtype={"symbol": str, "session": np.int64}.get(name, np.float64))
        for name, column in columns.items()
    }


def _check(rows: Sequence[tuple[Any, ...]]) -> tuple[dict[str, AnyArray], BarReport]:
    return check_bars(_raw(rows), source="test")


CLEAN = [
    ("B", 11, 20.0, 22.0, 19.0, 21.0, 300.0),
    ("A", 10, 10.0, 11.0, 9.0, 10.5, 100.0),
    ("A", 11, 10.5, 12.0, 10.0, 11.0, 200.0),
]


def test_clean_bars_come_out_sorted_and_as_they_were() -> None:
    bars, report = _check(CLEAN)
    assert bars["symbol"].tolist() == ["A", "A", "B"]
    assert bars["session"].tolist() == [10, 11, 11]
    assert bars["open"].tolist() == [10.0, 10.5, 20.0]
    assert bars["close"].tolist() == [10.5, 11.0, 21.0]
    assert bars["volume"].tolist() == [100.0, 200.0, 300.0]
    assert bars["usable"].all()
    assert report.to_json() == {
        "n_raw": 3,
        "n_kept": 3,
        "exact_duplicates": 0,
        "conflicting": 0,
        "unusable": 0,
        "below_zero": 0,
        "inconsistent": 0,
        "volume_unknown": 0,
        "large_moves": [],
    }


def test_exact_copies_are_dropped_and_counted_and_conflicts_are_quarantined() -> None:
    # Case c18, hours 4 to 6 of 2024-03-28 as sessions: 5 is given twice with other values, 6 twice the same.
    rows = [
        ("B", 4, 71.0, 71.9, 70.6, 71.4, 410.0),
        ("B", 5, 71.4, 72.3, 71.2, 72.1, 1250.5),
        ("B", 5, 71.4, 72.3, 71.2, 72.0, 1312.0),
        ("B", 6, 72.0, 72.8, 71.9, 72.6, 380.0),
        ("B", 6, 72.0, 72.8, 71.9, 72.6, 380.0),
    ]
    bars, report = _check(rows)
    assert bars["session"].tolist() == [4, 6]
    assert (report.exact_duplicates, report.conflicting) == (1, 2)
    assert (report.n_raw, report.n_kept) == (5, 2)


def test_the_duplicate_rows_of_case_c18_are_settled() -> None:
    with (shared() / "cases" / "c18-duplicate-bars" / "bars.csv").open() as file:
        given = list(csv.DictReader(file))
    rows = [
        (
            "B",
            int(r["ts"][11:13]),
            *(float(r[c]) for c in ("open", "high", "low", "close", "volume")),
        )
        for r in given
    ]
    bars, report = _check(rows)
    assert bars["session"].tolist() == [4, 6]
    assert (report.exact_duplicates, report.conflicting) == (1, 2)


@pytest.mark.parametrize("column", range(2, 8))
def test_a_difference_in_any_column_is_a_conflict(column: int) -> None:
    first: tuple[Any, ...] = ("A", 10, 10.0, 11.0, 9.0, 10.5, 100.0, 10.5)
    second = (*first[:column], first[column] + 0.5, *first[column + 1 :])
    bars, report = _check([first, second, first, ("A", 11, 10.0, 11.0, 9.0, 10.5, 100.0)])
    assert bars["session"].tolist() == [11]
    assert (report.exact_duplicates, report.conflicting) == (0, 3)


def test_copies_that_miss_the_same_value_are_copies() -> None:
    row = ("A", 10, 10.0, NAN, 9.0, 10.5, NAN)
    _, report = _check([row, row])
    assert (report.exact_duplicates, report.conflicting, report.n_kept) == (1, 0, 1)


def test_the_same_session_of_two_symbols_is_no_duplicate() -> None:
    _, report = _check([("A", 10, 1.0, 1.0, 1.0, 1.0, 1.0), ("B", 10, 2.0, 2.0, 2.0, 2.0, 1.0)])
    assert (report.exact_duplicates, report.conflicting, report.n_kept) == (0, 0, 2)


def test_a_zero_price_before_listing_is_not_tradable() -> None:
    # Case c24: asset A costs 0.0 on 2024-01-02 and 2024-01-03, then 5.0.
    rows = [
        ("A", _day("2024-01-02"), 0.0, 0.0, 0.0, 0.0, 0.0),
        ("A", _day("2024-01-03"), 0.0, 0.0, 0.0, 0.0, 0.0),
        ("A", _day("2024-01-04"), 5.0, 5.0, 5.0, 5.0, 10.0),
        ("A", _day("2024-01-05"), 5.1, 5.1, 5.1, 5.1, 10.0),
    ]
    bars, report = _check(rows)
    assert bars["usable"].tolist() == [False, False, True, True]
    assert np.isnan(bars["open"][:2]).all()
    assert (report.unusable, report.below_zero, report.large_moves) == (2, 0, ())


def test_a_price_below_zero_is_kept_and_not_tradable() -> None:
    # Case c09: the EIA's WTI spot price, 17, 20 and 21 April 2020.
    rows = [
        ("WTI", _day("2020-04-17"), 18.31, 18.31, 18.31, 18.31, 1.0),
        ("WTI", _day("2020-04-20"), -36.98, -36.98, -36.98, -36.98, 1.0),
        ("WTI", _day("2020-04-21"), 8.91, 8.91, 8.91, 8.91, 1.0),
    ]
    bars, report = _check(rows)
    assert bars["close"].tolist() == [18.31, -36.98, 8.91]
    assert bars["usable"].tolist() == [True, False, True]
    assert (report.n_kept, report.unusable, report.below_zero) == (3, 1, 1)


@pytest.mark.parametrize("column", [2, 5, 7], ids=["open", "close", "adj_close"])
@pytest.mark.parametrize("value", [NAN, float("inf"), 0.0, -1.0])
def test_a_bar_without_a_positive_finite_price_is_not_usable(column: int, value: float) -> None:
    row = ("A", 10, 10.0, 11.0, 9.0, 10.5, 100.0, 10.5)
    bars, report = _check([(*row[:column], value, *row[column + 1 :])])
    assert bars["usable"].tolist() == [False]
    assert np.isnan(bars["open"][0])
    assert report.unusable == 1


@pytest.mark.parametrize("volume", [NAN, float("inf"), -5.0])
def test_an_unknown_volume_is_read_as_zero_and_counted(volume: float) -> None:
    bars, report = _check([("A", 10, 10.0, 11.0, 9.0, 10.5, volume)])
    assert bars["volume"].tolist() == [0.0]
    assert (report.volume_unknown, report.unusable) == (1, 0)


@pytest.mark.parametrize(("high", "low"), [(10.2, 9.0), (11.0, 10.2)])
def test_an_open_or_close_outside_the_range_is_counted_and_kept(high: float, low: float) -> None:
    bars, report = _check([("A", 10, 10.0, high, low, 10.5, 1.0)])
    assert report.inconsistent == 1
    assert bars["usable"].tolist() == [True]
    assert bars["high"].tolist() == [high]


def test_prices_and_volume_are_adjusted_so_that_a_split_leaves_no_step() -> None:
    # 2:1 on the second session, by hand: the factor before it is 1/2, the money traded stays.
    rows = [
        ("A", 10, 100.0, 104.0, 98.0, 102.0, 50.0, 51.0),
        ("A", 11, 51.0, 52.0, 50.0, 51.5, 100.0, 51.5),
    ]
    bars, report = _check(rows)
    assert bars["open"].tolist() == [50.0, 51.0]
    assert bars["high"].tolist() == [52.0, 52.0]
    assert bars["low"].tolist() == [49.0, 50.0]
    assert bars["close"].tolist() == [51.0, 51.5]
    assert bars["volume"].tolist() == [100.0, 100.0]
    assert report.large_moves == ()


def test_a_large_move_is_flagged_by_symbol_and_day_and_never_changed() -> None:
    rows = [
        ("A", _day("2024-01-02"), 10.0, 10.0, 10.0, 10.0, 1.0),
        ("A", _day("2024-01-03"), 5.0, 5.0, 5.0, 5.0, 1.0),
        ("A", _day("2024-01-04"), 7.0, 7.0, 7.0, 7.0, 1.0),
        ("B", _day("2024-01-05"), 99.0, 99.0, 99.0, 99.0, 1.0),
    ]
    bars, report = _check(rows)
    assert report.large_moves == ("A 2024-01-03",)
    assert bars["close"].tolist() == [10.0, 5.0, 7.0, 99.0]


def test_a_real_crash_stays_and_a_real_split_leaves_no_step() -> None:
    # Case c11, AAPL: 2:1 on 2000-06-21 and 2005-02-28, and the fall of 51.9 % on 2000-09-29.
    with (shared() / "cases" / "c11-crash-or-split" / "aapl.csv").open() as file:
        given = list(csv.DictReader(file))
    names = ("Open", "High", "Low", "Close", "Volume", "Adj Close")
    rows = [(r["Ticker"], _day(r["Date"]), *(float(r[c]) for c in names)) for r in given]
    bars, report = _check(rows)
    assert bars["close"].tolist() == [float(r["Adj Close"]) for r in given]
    assert "AAPL 2000-09-29" in report.large_moves
    for split in ("2000-06-21", "2005-02-28"):
        assert f"AAPL {split}" not in report.large_moves
        t = bars["session"].tolist().index(_day(split))
        # Opened about where it closed the day before, in adjusted prices; raw prices halve.
        assert bars["open"].tolist()[t] == pytest.approx(bars["close"].tolist()[t - 1], rel=0.05)
        assert bars["volume"].tolist()[t] < 2 * bars["volume"].tolist()[t - 1]
    fall = bars["session"].tolist().index(_day("2000-09-29"))
    before, after = bars["close"].tolist()[fall - 1 : fall + 1]
    assert after / before - 1 == pytest.approx(-0.519, abs=5e-4)


def test_the_order_of_rows_does_not_matter() -> None:
    rows = _raw(CLEAN)
    shuffled = {name: column[[2, 0, 1]] for name, column in rows.items()}
    one, other = check_bars(rows, source="a")[0], check_bars(shuffled, source="a")[0]
    assert all(one[name].tobytes() == other[name].tobytes() for name in one)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"adj_close": None}, r"bars of 'test' lack the columns \['adj_close'\]"),
        ({"open": np.zeros(2)}, "must have one length"),
        ({"open": np.array(["1", "2", "3"])}, "column 'open' of 'test' must hold numbers"),
        (
            {"session": np.array([1.0, 2.0, 3.0])},
            "'session' of 'test' must hold integers, days since",
        ),
        ({"session": np.array(["2024-01-02"] * 3)}, "must hold integers"),
    ],
    ids=["missing", "ragged", "text prices", "fractional days", "text days"],
)
def test_what_is_no_table_of_bars_is_refused(change: dict[str, Any], message: str) -> None:
    raw = {k: v for k, v in (_raw(CLEAN) | change).items() if v is not None}
    with pytest.raises(MarketDataError, match=message):
        check_bars(raw, source="test")


def test_a_source_without_a_bar_is_refused() -> None:
    empty = {name: column[:0] for name, column in _raw(CLEAN).items()}
    with pytest.raises(MarketDataError, match="source 'test' has no bars at all"):
        check_bars(empty, source="test")


def test_a_source_whose_every_bar_is_in_conflict_leaves_an_empty_table() -> None:
    bars, report = _check([("A", 10, 1.0, 1.0, 1.0, 1.0, 1.0), ("A", 10, 2.0, 2.0, 2.0, 2.0, 1.0)])
    assert len(bars["symbol"]) == 0
    assert (report.n_kept, report.conflicting) == (0, 2)


def test_weekly_bars_are_refused_since_a_year_is_counted_as_252_of_them() -> None:
    weekly = [("A", 7 * t, 10.0, 11.0, 9.0, 10.5, 100.0) for t in range(80)]
    with pytest.raises(MarketDataError, match=r"must be daily, were 7 days apart \(median\)"):
        _check(weekly)
