"""Copies among trials."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from alphaswarm_assets.arrays import Float64Array
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.statistics.duplicates import count_distinct, describe, duplicate_columns
from alphaswarm_assets.streams import Streams


def noise(n_rows: int = 100, n_columns: int = 4) -> Float64Array:
    return 0.01 * Streams(3).generator("noise").standard_normal((n_rows, n_columns))


def test_distinct_columns_have_no_groups() -> None:
    assert duplicate_columns(noise()) == ()
    assert count_distinct(noise()) == 4


@pytest.mark.parametrize(
    "copy",
    [lambda x: x, lambda x: 2 * x, lambda x: x + 0.001, lambda x: x * (1 + 1e-7)],
    ids=["equal", "levered", "shifted", "rounded"],
)
def test_a_copy_is_found_under_another_name(copy: Callable[[Float64Array], Float64Array]) -> None:
    matrix = noise()
    matrix = np.c_[matrix, copy(matrix[:, 1])]

    assert duplicate_columns(matrix) == ((1, 4),)
    assert count_distinct(matrix) == 4


def test_a_mirror_image_is_another_strategy() -> None:
    matrix = noise()

    assert duplicate_columns(np.c_[matrix, -matrix[:, 1]]) == ()


def test_correlation_just_below_the_line_is_distinct_and_just_above_is_not() -> None:
    x, y = noise(400, 2).T
    x, y = x - x.mean(), y - y.mean()
    y -= x * (x @ y) / (x @ x)
    y *= np.sqrt((x @ x) / (y @ y))

    # corr(x, x + e y) = 1 / sqrt(1 + e**2), so 1 - corr is e**2 / 2.
    assert duplicate_columns(np.c_[x, x + 5.0e-5 * y]) == ()
    assert duplicate_columns(np.c_[x, x + 4.0e-5 * y]) == ((0, 1),)


def test_constant_columns_are_copies_when_they_are_equal() -> None:
    flat, one_percent = np.zeros(100), np.full(100, 0.01)

    matrix = np.c_[noise(n_columns=1), flat, one_percent, -flat, one_percent, 2 * one_percent]

    assert duplicate_columns(matrix) == ((1, 3), (2, 4))


def test_many_columns_are_compared_in_pieces() -> None:
    matrix = noise(40, 2100)
    matrix[:, 2050] = matrix[:, 3]
    matrix[:, 1500] = 3 * matrix[:, 3]

    assert duplicate_columns(matrix) == ((3, 1500, 2050),)


def test_a_group_is_described_by_its_columns() -> None:
    assert describe(((1, 4),)) == "columns 1, 4 are copies of one trial"
    assert describe(((1, 4), (2, 3))) == "columns 1, 4 are copies of one trial (and 1 more groups)"


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_what_is_not_finite_is_refused_by_its_column(bad: float) -> None:
    matrix = noise()
    matrix[5, 2] = bad

    with pytest.raises(InvalidInputError, match="column 2"):
        duplicate_columns(matrix)


def test_a_series_is_no_matrix() -> None:
    with pytest.raises(InvalidInputError, match=r"\(T, N\)"):
        duplicate_columns(np.zeros(3))
