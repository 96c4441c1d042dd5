"""Evidence as plain data: what a file may hold, and what it reads as."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.gates.evidence import Evidence, Reading
from alphaswarm_assets.records.canonical import canonical_json
from alphaswarm_assets.statistics.undefined import Undefined


def test_a_measured_number_is_read_with_its_unit_and_scope() -> None:
    read = Reading.of(0.7, unit="annual", scope="seeds")

    assert (read.value, read.reason, read.unit, read.scope) == (0.7, None, "annual", "seeds")


def test_an_undefined_number_is_read_as_its_reason() -> None:
    read = Reading.of(Undefined("one seed has no interval"), unit="fraction", scope="seeds")

    assert (read.value, read.reason) == (None, "one seed has no interval")


@pytest.mark.parametrize(
    ("value", "text"), [(math.nan, "nan"), (math.inf, "inf"), (-math.inf, "-inf")]
)
def test_a_value_without_a_json_form_is_kept_as_text(value: float, text: str) -> None:
    assert Reading(value=value).value == text
    assert Evidence(n_seeds=value).n_seeds == text
    assert text in canonical_json(Evidence(sharpe=Reading(value=value)).to_json())


def test_nothing_measured_is_the_default() -> None:
    assert Evidence.from_json(json.loads(canonical_json(Evidence().to_json()))) == Evidence()


@pytest.mark.parametrize("readings", [{}, None, 7, {"sharpe": None}, {"sharpe": {"value": [0.8]}}])
def test_a_reading_that_is_not_there_reads_as_nothing_measured(readings: Any) -> None:
    raw = Evidence().to_json() | {"readings": readings}

    assert Evidence.from_json(raw).sharpe == Reading()


def test_another_schema_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"alphaswarm\.evidence/1', was 'other/9'"):
        Evidence.from_json(Evidence().to_json() | {"schema": "other/9"})


@pytest.mark.parametrize("name", ["stale", "folds_expected", "folds_present"])
@pytest.mark.parametrize("value", [None, "f0", [1], 3])
def test_a_list_that_is_none_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(InvalidInputError, match=f"evidence {name} must be a list of strings"):
        Evidence.from_json(Evidence().to_json() | {name: value})
