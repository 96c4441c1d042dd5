from __future__ import annotations

import pytest

from alphaswarm_assets.cli.words import (
    METRICS,
    about,
    clock,
    duration,
    in_order,
    metric,
    quantity,
    rule,
)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (42.4, "42 s"),
        (59.6, "1 min 0 s"),
        (80, "1 min 20 s"),
        (7500, "2 h 5 min"),
    ],
)
def test_a_duration_reads_as_people_say_it(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "about 1 s"),
        (7.4, "about 7 s"),
        (33.0, "about 35 s"),
        (81, "about 1 min 20 s"),
        (298, "about 5 min"),
        (7490, "about 2 h 5 min"),
    ],
)
def test_a_guess_is_rounded_so_that_it_does_not_look_exact(seconds: float, words: str) -> None:
    assert about(seconds) == words


def test_a_clock_shows_hours_only_when_there_are_some() -> None:
    assert [clock(s) for s in (7.9, 750, 3723)] == ["0:07", "12:30", "1:02:03"]


def test_a_quantity_keeps_its_unit_and_nothing_reads_as_a_dash() -> None:
    assert quantity(0.31, unit="annual") == "0.31 annual"
    assert quantity(0.25, unit="probability") == "0.25"
    assert quantity(-0.0123, unit="fraction") == "-1.23%"
    assert quantity(12_000) == "12,000"
    assert quantity(None, unit="annual") == "—"
    assert quantity("inf") == "inf"


def test_shares_of_equity_are_percentages_and_ratios_are_not() -> None:
    assert metric(0.1234, name="max_drawdown") == "12.34%"
    assert metric(1.5, name="sharpe") == "1.5"
    assert metric(None, name="sharpe") == "—"


def test_a_rule_names_its_comparator() -> None:
    assert rule(">=", 0.5, unit="annual") == "≥ 0.5 annual"
    assert rule(">", 0.0, unit="fraction") == "> 0.00%"


def test_what_is_asked_for_first_stands_first_and_the_rest_by_name() -> None:
    assert in_order({"b", "sharpe", "a", "total_return"}, METRICS) == [
        "total_return",
        "sharpe",
        "a",
        "b",
    ]
