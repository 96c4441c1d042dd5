"""The interquartile mean."""

from __future__ import annotations

import numpy as np
import pytest

from alphaswarm_assets.arrays import Float64Array
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.statistics.robust import interquartile_mean


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        # scipy.stats.trim_mean(x, 0.25), recorded.
        ([1.0], 1.0),
        ([1.0, 2.0, 3.0], 2.0),
        ([0.10, -0.02, 0.05, 0.03, 0.30], 0.06),
        (list(range(1, 11)), 5.5),
        ([1.0, 4.0, 9.0, 16.0, 25.0, 36.0, 49.0, 64.0], 21.5),
    ],
)
def test_a_quarter_is_cut_from_either_end(scores: Float64Array, expected: float) -> None:
    assert interquartile_mean(np.array(scores)) == pytest.approx(expected, rel=1e-15)


def test_one_lucky_seed_does_not_move_it() -> None:
    modest = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    lucky = np.array([0.1, 0.2, 0.3, 0.4, 50.0])

    assert interquartile_mean(lucky) == interquartile_mean(modest)


def test_a_missing_score_is_refused_by_its_seed() -> None:
    with pytest.raises(InvalidInputError, match="scores must be finite, was nan at seed 2"):
        interquartile_mean(np.array([1.0, 2.0, np.nan]))


def test_a_matrix_of_scores_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"shape \(S,\), was \(2, 3\)"):
        interquartile_mean(np.zeros((2, 3)))


def test_no_seed_is_an_input_error() -> None:
    with pytest.raises(InvalidInputError, match="at least one seed"):
        interquartile_mean(np.array([]))
