"""Does choosing the best column in one half of the record find a good one in the other half?

The probability of backtest overfitting by combinatorially symmetric cross-validation (CSCV): the
record is cut into S equal blocks, every choice of S/2 blocks is a half, and the column with the best
Sharpe ratio in it is ranked in the other half. Columns must be what was chosen among, configurations
tried: over the seeds of one policy it says nothing about skill.

References
----------
.. [1] Bailey, Borwein, Lopez de Prado and Zhu (2017), "The Probability of Backtest Overfitting",
   J. Computational Finance 20(4), sections 2 and 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from alphaswarm_assets.arrays import Float64Array
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.statistics.duplicates import describe, duplicate_columns
from alphaswarm_assets.statistics.returns import rounding_of, why_not_evidence
from alphaswarm_assets.statistics.selection import Ranked, halves, rank_chosen
from alphaswarm_assets.statistics.undefined import Undefined

MOST_BLOCKS: Final = 20
"""184,756 halves; 24 blocks have 2.7 million."""

# Scores of this many (half, column) cells stay in a core's second-level cache through all passes.
_CELLS_AT_ONCE: Final = 1 << 16
# A sum of squares less its mean's share is rounding when this little is left of it.
_LEAST_SHARE: Final = 1e-9
# Above this share, by a bound over blocks, no half needs to be looked at.
_SAFE_SHARE: Final = 1e-6


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Pbo:
    """How often the column chosen in one half ranks in the lower half of the other."""

    value: float
    """Share of halves with logit <= 0: a chosen column at the median counts as overfitting."""
    n_combinations: int
    """Halves, C(S, S/2)."""
    n_blocks: int
    """S."""
    rows_used: int
    """Rows left after the newest T mod S were dropped."""
    logits: Float64Array
    """(n_combinations,) ln(w / (1 - w)), w = rank / (N + 1); halves in lexicographic order."""
    loss_probability: float
    """Share of halves whose chosen column has a mean return below zero in the other half."""
    inside_ties: int
    """Halves with more than one best column; the first was taken."""
    outside_ties: int
    """Halves whose chosen column has an equal in the other half; it took their mean rank."""


def probability_of_backtest_overfitting(
    matrix: Float64Array, *, n_blocks: int = 16
) -> Pbo | Undefined:
    """Share of halves whose best column by Sharpe ratio is at or below the median in the other half.

    Parameters
    ----------
    matrix : (T, N) float64
        Simple returns per period, oldest row first, one column a configuration.
    n_blocks : int
        S, even, at most 20. PBO moves with it: fix it beforehand.

    Returns
    -------
    Pbo | Undefined
        Undefined for fewer than two columns, an odd S, fewer than 2 S rows, and a column that is
        not finite, is wiped out, has no spread in a half, or is another's copy.

    Raises
    ------
    InvalidInputError
        If *matrix* is not two-dimensional, or *n_blocks* is not in 2..20.
    """
    returns = np.asarray(matrix, dtype=np.float64)
    undefined = _why_no_halves(returns, n_blocks) or why_not_evidence(returns)
    if undefined is not None:
        return undefined
    n_rows, n_columns = returns.shape
    used = returns[: n_rows - n_rows % n_blocks]
    sums = _BlockSums.of(used, n_blocks)
    undefined = _why_no_sharpe(sums, rounding_of(used))
    if undefined is not None:
        return undefined
    copies = duplicate_columns(used)
    if copies:
        return Undefined(describe(copies))
    ranked = _rank_halves(sums)
    return Pbo(
        value=float((2.0 * ranked.ranks <= n_columns + 1).mean()),
        n_combinations=len(ranked.ranks),
        n_blocks=n_blocks,
        rows_used=len(used),
        logits=np.log(ranked.ranks / (n_columns + 1 - ranked.ranks)),
        loss_probability=float((ranked.outside < 0.0).mean()),
        inside_ties=ranked.inside_ties,
        outside_ties=ranked.outside_ties,
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _BlockSums:
    """Sums that a Sharpe ratio of any half can be added up from.

    They are taken about zero, not about each column's mean: columns that are equal in some blocks
    tie there exactly, and nothing cancels while mean and deviation are of one size.
    """

    returns: Float64Array
    """(S, N)"""
    squares: Float64Array
    """(S, N)"""
    rows_a_half: int

    @classmethod
    def of(cls, returns: Float64Array, n_blocks: int) -> _BlockSums:
        blocks = returns.reshape(n_blocks, len(returns) // n_blocks, -1)
        return cls(
            returns=blocks.sum(axis=1),
            squares=np.einsum("sbn,sbn->sn", blocks, blocks),
            rows_a_half=len(returns) // 2,
        )


def _why_no_halves(returns: Float64Array, n_blocks: int) -> Undefined | None:
    if returns.ndim != 2:
        raise InvalidInputError(f"matrix must have shape (T, N), was {returns.shape}")
    if not 2 <= n_blocks <= MOST_BLOCKS:
        raise InvalidInputError(f"n_blocks must be in 2..{MOST_BLOCKS}, was {n_blocks!r}")
    n_rows, n_columns = returns.shape
    if n_columns < 2:
        return Undefined(f"needs at least 2 columns to choose among, was {n_columns}")
    if n_blocks % 2:
        return Undefined(f"needs an even number of blocks, was {n_blocks}")
    if n_rows < 2 * n_blocks:
        return Undefined(
            f"needs at least {2 * n_blocks} rows for {n_blocks} blocks, was {n_rows} rows"
        )
    return None


def _why_no_sharpe(sums: _BlockSums, rounding: float) -> Undefined | None:
    # The squares within the S/2 tightest blocks bound those of any half from below; only a column
    # near rounding by that bound is looked at half by half.
    n_half = len(sums.squares) // 2
    within = np.maximum(sums.squares - sums.returns**2 * n_half / sums.rows_a_half, 0.0)
    least = np.sort(within, axis=0)[:n_half].sum(axis=0)
    most = np.sort(sums.squares, axis=0)[n_half:].sum(axis=0)
    floor = sums.rows_a_half * rounding**2
    doubtful = np.flatnonzero(least <= np.maximum(_SAFE_SHARE * most, floor))
    for column in doubtful:
        total = halves(2 * n_half) @ sums.squares[:, column]
        mean_share = (halves(2 * n_half) @ sums.returns[:, column]) ** 2 / sums.rows_a_half
        if (total - mean_share <= np.maximum(_LEAST_SHARE * total, floor)).any():
            return Undefined(f"column {int(column)} has no spread in a half of the blocks")
    return None


def _rank_halves(sums: _BlockSums) -> Ranked:
    members = halves(len(sums.squares))
    n_halves, n_columns = len(members), sums.returns.shape[1]
    n_pairs = n_halves // 2
    at_once = max(1, min(n_pairs, _CELLS_AT_ONCE // n_columns))
    scratch = np.empty((4, at_once, n_columns))
    parts: list[tuple[slice, Ranked]] = []
    for start in range(0, n_pairs, at_once):
        here = slice(start, min(start + at_once, n_pairs))
        there = slice(n_halves - here.stop, n_halves - here.start)
        one = _scores(members[here], sums, out=scratch[0], spare=scratch[2:])
        # Complements stand in reverse order at the other end.
        other = _scores(members[there], sums, out=scratch[1], spare=scratch[2:])[::-1]
        parts.append((here, rank_chosen(one, other)))
        parts.append((there, rank_chosen(other[::-1], one[::-1])))
    ranks, outside = np.empty(n_halves), np.empty(n_halves)
    for where, part in parts:
        ranks[where], outside[where] = part.ranks, part.outside
    return Ranked(
        ranks=ranks,
        outside=outside,
        inside_ties=sum(part.inside_ties for _, part in parts),
        outside_ties=sum(part.outside_ties for _, part in parts),
    )


def _scores(
    members: Float64Array, sums: _BlockSums, *, out: Float64Array, spare: Float64Array
) -> Float64Array:
    # mean * |mean| / variance, up to a constant: it orders and signs as the Sharpe ratio does, and
    # spares the root.
    n = len(members)
    score, variance, square = out[:n], spare[0, :n], spare[1, :n]
    np.matmul(members, sums.returns, out=score)
    np.matmul(members, sums.squares, out=variance)
    np.abs(score, out=square)
    score *= square
    np.abs(score, out=square)
    square /= sums.rows_a_half
    variance -= square
    score /= variance
    return score
