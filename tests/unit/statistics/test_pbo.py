"""PBO by CSCV: a hand count, a plain implementation, and every matrix that is no evidence."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from alphaswarm_assets.arrays import Float64Array
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.statistics.pbo import Pbo, probability_of_backtest_overfitting
from alphaswarm_assets.statistics.selection import halves, rank_chosen
from alphaswarm_assets.statistics.undefined import Undefined, defined
from alphaswarm_assets.streams import Streams


def noise(n_rows: int = 160, n_columns: int = 6, seed: int = 5) -> Float64Array:
    return 0.01 * Streams(seed).generator("noise").standard_normal((n_rows, n_columns))


def pbo(matrix: Float64Array, n_blocks: int = 8) -> Pbo:
    return defined(probability_of_backtest_overfitting(matrix, n_blocks=n_blocks))


def plainly(matrix: Float64Array, n_blocks: int) -> Float64Array:
    """CSCV as the paper words it: every half by its rows, every Sharpe ratio by its definition."""
    n_rows = len(matrix) - len(matrix) % n_blocks
    blocks = np.split(matrix[:n_rows], n_blocks)
    logits = []
    for chosen in itertools.combinations(range(n_blocks), n_blocks // 2):
        inside = np.concatenate([blocks[i] for i in chosen])
        outside = np.concatenate([blocks[i] for i in range(n_blocks) if i not in chosen])
        best = int(np.argmax(inside.mean(axis=0) / inside.std(axis=0, ddof=1)))
        scores = outside.mean(axis=0) / outside.std(axis=0, ddof=1)
        rank = 1 + np.sum(scores < scores[best])
        w = rank / (matrix.shape[1] + 1)
        logits.append(math.log(w / (1 - w)))
    return np.array(logits)


def test_the_hand_count_of_four_rows() -> None:
    # Metric: mean; one row a block. Out-of-sample ranks counted by hand: 3, 1, 2, 1, 1, 3.
    matrix = np.array([[3.0, 1, 2], [1, 2, 3], [2, 3, 1], [0, 1, 4]])
    means = halves(4) @ matrix / 2

    ranked = rank_chosen(means, means[::-1])

    assert ranked.ranks.tolist() == [3, 1, 2, 1, 1, 3]
    assert np.mean(ranked.ranks / 4 <= 0.5) == pytest.approx(4 / 6)


@pytest.mark.parametrize("n_blocks", [2, 4, 8, 16])
def test_the_complement_of_a_half_stands_at_the_mirrored_place(n_blocks: int) -> None:
    members = halves(n_blocks)

    assert len(members) == math.comb(n_blocks, n_blocks // 2)
    assert (members + members[::-1] == 1).all()


@pytest.mark.parametrize("n_columns", [2, 5, 6, 31])
@pytest.mark.parametrize(("n_rows", "n_blocks"), [(160, 8), (167, 10), (20, 10), (51, 2)])
def test_every_logit_is_that_of_the_plain_algorithm(
    n_columns: int, n_rows: int, n_blocks: int
) -> None:
    matrix = noise(n_rows, n_columns)
    expected = plainly(matrix, n_blocks)

    found = pbo(matrix, n_blocks)

    assert found.logits == pytest.approx(expected, abs=1e-12)
    assert found.value == np.mean(expected <= 0)
    assert found.n_combinations == len(expected)
    assert found.rows_used == n_rows - n_rows % n_blocks


def test_more_halves_than_fit_at_once_give_the_same_logits() -> None:
    matrix = noise(64, 300)

    found = pbo(matrix, 12)

    assert found.logits == pytest.approx(plainly(matrix, 12), abs=1e-12)


def test_the_default_is_sixteen_blocks() -> None:
    found = defined(probability_of_backtest_overfitting(noise()))

    assert (found.n_blocks, found.n_combinations) == (16, 12_870)


def test_the_newest_rows_that_fill_no_block_are_dropped() -> None:
    whole = noise(160)
    longer = np.concatenate([whole, noise(7, seed=6)])

    assert (pbo(longer).logits == pbo(whole).logits).all()


def test_a_skilled_column_transfers() -> None:
    matrix = noise(640)
    matrix[:, 2] += 0.005

    found = pbo(matrix)

    assert found.value == 0.0
    assert found.loss_probability == 0.0


def test_a_column_that_only_ever_leads_in_one_half_does_not_transfer() -> None:
    matrix = noise(640, 2)
    matrix[:320] += [0.01, -0.01]
    matrix[320:] -= [0.01, -0.01]

    assert pbo(matrix, 2).value == 1.0


def test_the_median_counts_as_overfitting() -> None:
    # Three columns: the middle rank has logit 0.
    found = pbo(noise(160, 3))

    assert (found.logits == 0).any()
    assert found.value == np.mean(found.logits <= 0) > np.mean(found.logits < 0)


def with_column(column: Float64Array) -> Float64Array:
    return np.c_[noise(160, 4), column]


def flat_in_half() -> Float64Array:
    column = noise(160, 1)[:, 0]
    column[np.arange(160) // 20 % 2 == 0] = 0.001
    return column


@pytest.mark.parametrize(
    ("matrix", "n_blocks", "reason"),
    [
        (noise(160, 1), 8, "needs at least 2 columns to choose among, was 1"),
        (noise(), 7, "needs an even number of blocks, was 7"),
        (noise(31), 16, "needs at least 32 rows for 16 blocks, was 31 rows"),
        (with_column(np.full(160, np.nan)), 8, "column 4 is not finite at row 0: was nan"),
        (with_column(np.full(160, 1e200)), 8, "column 4 holds no return at row 0: was 1e+200"),
        (with_column(np.r_[np.zeros(159), -1.0]), 8, "column 4 is wiped out at row 159"),
        (with_column(np.zeros(160)), 8, "column 4 has no spread in a half of the blocks"),
        (with_column(np.full(160, 0.001)), 8, "column 4 has no spread in a half of the blocks"),
        (with_column(flat_in_half()), 8, "column 4 has no spread in a half of the blocks"),
        (np.repeat(noise(160, 1), 5, axis=1), 8, "columns 0, 1, 2, 3, 4 are copies of one trial"),
        (with_column(2 * noise(160, 4)[:, 1]), 8, "columns 1, 4 are copies of one trial"),
    ],
    ids=[
        "one column",
        "odd blocks",
        "too few rows",
        "nan",
        "no return",
        "wiped out",
        "never trades",
        "constant",
        "flat in one half",
        "copies",
        "a levered copy",
    ],
)
def test_a_matrix_that_is_no_evidence_has_no_pbo(
    matrix: Float64Array, n_blocks: int, reason: str
) -> None:
    assert probability_of_backtest_overfitting(matrix, n_blocks=n_blocks) == Undefined(reason)


def test_a_column_that_is_flat_in_less_than_half_is_judged() -> None:
    column = noise(160, 1)[:, 0]
    column[:60] = 0.001
    matrix = with_column(column)

    found = pbo(matrix)

    assert found.logits == pytest.approx(plainly(matrix, 8), abs=1e-12)


def test_a_quiet_column_beside_a_crash_is_still_told_apart() -> None:
    column = 1e-6 * noise(160, 1)[:, 0]
    column[150] = -0.3
    matrix = with_column(column)

    found = pbo(matrix)

    assert found.logits == pytest.approx(plainly(matrix, 8), abs=1e-12)


def test_ties_are_counted() -> None:
    # Two columns that differ in the last block only tie in every half without it.
    column = noise(80, 1)[:, 0]
    other = column.copy()
    other[70:] = -column[70:]

    found = pbo(np.c_[column, other])

    assert found.inside_ties == found.outside_ties == math.comb(7, 4)


@pytest.mark.parametrize("n_blocks", [0, 22, -2])
def test_a_number_of_blocks_out_of_range_is_refused(n_blocks: int) -> None:
    with pytest.raises(InvalidInputError, match=f"was {n_blocks}"):
        probability_of_backtest_overfitting(noise(), n_blocks=n_blocks)


def test_a_series_is_no_matrix() -> None:
    with pytest.raises(InvalidInputError, match=r"\(T, N\)"):
        probability_of_backtest_overfitting(np.zeros(160))
