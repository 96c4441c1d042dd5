from __future__ import annotations

import pytest

from alphaswarm_assets.defs import wording
from alphaswarm_assets.gates.verdict import PRECONDITIONS
from alphaswarm_assets.specs.promotion import THRESHOLDS


def outcome(**changes: object) -> dict[str, object]:
    plain: dict[str, object] = {
        "check": "min_sharpe",
        "observed": 0.30619032,
        "comparator": ">=",
        "threshold": 0.5,
        "status": "threshold_failed",
        "passed": False,
        "unit": "annual",
    }
    return plain | changes


def plain_spaces(row: dict[str, str]) -> dict[str, str]:
    return {key: value.replace("\u00a0", " ") for key, value in row.items()}


def test_every_gate_is_explained() -> None:
    assert set(wording.GATES_ASK) >= {*THRESHOLDS, *PRECONDITIONS}


def test_a_gate_reads_as_a_sentence() -> None:
    assert plain_spaces(wording.gate_row(outcome())) == {
        "gate": "min_sharpe",
        "result": "✗ threshold failed",
        "observed": "0.3062",
        "needed": "≥ 0.5",
        "what is measured": "Sharpe ratio a year, net of costs, mean over seeds",
    }


def test_a_near_miss_does_not_read_as_if_it_had_been_enough() -> None:
    row = wording.gate_row(outcome(observed=0.49999999999))
    assert (row["observed"], row["needed"]) == ("0.49999999999", "≥ 0.5")


@pytest.mark.parametrize(
    ("status", "passed", "said"),
    [
        ("pass", True, "✓ pass"),
        ("not_applicable", False, "○ not applicable"),
        ("missing_evidence", False, "✗ missing evidence"),
        ("stale", False, "✗ stale"),
    ],
)
def test_sign_and_word_say_the_same(status: str, passed: bool, said: str) -> None:
    row = wording.gate_row(outcome(status=status, passed=passed, observed=None))
    assert plain_spaces(row)["result"] == said
    assert row["observed"] == "–"


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (0.2015, "fraction", "20.15%"),
        (0, "fraction", "0%"),
        (-0.05, "fraction", "-5%"),
        (1.9313694714867609, "fraction", "193.14%"),
        (0.99456, "probability", "0.9946"),
        (12345, "bars", "12,345"),
        (True, "", "True"),
        (None, "fraction", "–"),
        (float("nan"), "annual", "nan"),
    ],
)
def test_a_quantity_reads_as_a_person_writes_it(value: object, unit: str, said: str) -> None:
    assert wording.quantity(value, unit) == said


def test_rows_stand_in_the_order_of_interest() -> None:
    labels = ["102273626", "do_nothing", "buy_and_hold_equal", "ensemble", "equal_weight", "7"]
    assert wording.in_order(labels) == [
        "ensemble",
        "equal_weight",
        "buy_and_hold_equal",
        "do_nothing",
        "102273626",
        "7",
    ]


def test_prose_is_broken_so_that_a_narrow_page_shows_it_whole() -> None:
    said = wording.prose("word " * 60, start="- ")
    lines = said.split("\\\n")
    assert lines[0].startswith("- word")
    assert max(len(line) for line in lines) <= wording.LINE_CHARS
    assert len(lines) == 4
