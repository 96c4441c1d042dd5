"""One-way turnover."""

from __future__ import annotations

import numpy as np
import pytest

from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.statistics.turnover import mean_turnover, one_way_turnover


def test_a_full_rotation_counts_once() -> None:
    held = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    target = np.array([[0.0, 1.0], [0.0, 1.0], [0.6, 0.4]])

    assert one_way_turnover(held, target) == pytest.approx([1.0, 0.0, 0.1])


def test_bars_without_a_trade_count_in_the_mean() -> None:
    assert mean_turnover(np.array([0.4, 0.0, 0.0, 0.0])) == pytest.approx(0.1)


def test_a_negative_turnover_is_refused_by_its_index() -> None:
    with pytest.raises(InvalidInputError, match=r"was -0.1 at index 1"):
        mean_turnover(np.array([0.1, -0.1]))


def test_shapes_that_would_broadcast_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"were \(2, 2\) and \(1, 2\)"):
        one_way_turnover(np.zeros((2, 2)), np.zeros((1, 2)))


def test_a_missing_weight_is_refused_by_its_place() -> None:
    with pytest.raises(
        InvalidInputError, match="target must be finite, was nan at row 0, column 1"
    ):
        one_way_turnover(np.zeros((1, 2)), np.array([[0.0, np.nan]]))
