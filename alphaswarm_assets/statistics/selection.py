"""What was best in one half of a record, and how it ranks in the other: the combinatorics of CSCV."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from alphaswarm_assets.arrays import Float64Array


@lru_cache(maxsize=4)
def halves(n_blocks: int) -> Float64Array:
    """Which blocks each half is made of, halves in lexicographic order.

    In this order the complement of half k is half K - 1 - k.

    Parameters
    ----------
    n_blocks : int
        S, even.

    Returns
    -------
    (K, S) float64
        1 where the block belongs to the half, else 0; K = C(S, S/2). Read-only, shared.
    """
    n_halves = math.comb(n_blocks, n_blocks // 2)
    members = np.fromiter(
        itertools.chain.from_iterable(itertools.combinations(range(n_blocks), n_blocks // 2)),
        dtype=np.intp,
        count=n_halves * (n_blocks // 2),
    )
    incidence = np.zeros((n_halves, n_blocks))
    np.put_along_axis(incidence, members.reshape(n_halves, -1), 1.0, axis=1)
    incidence.flags.writeable = False
    return incidence


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Ranked:
    """The column chosen by each of K halves, seen from the other half."""

    ranks: Float64Array
    """(K,) from 1, worst, to N, best; ties share their mean rank."""
    outside: Float64Array
    """(K,) its score in the other half, in the scores' unit."""
    inside_ties: int
    """Halves with more than one best column; the first was taken."""
    outside_ties: int
    """Halves whose chosen column has an equal in the other half."""


def rank_chosen(inside: Float64Array, outside: Float64Array) -> Ranked:
    """Choose the best column of each row of *inside* and rank it in the same row of *outside*.

    Parameters
    ----------
    inside : (K, N) float64
        Score of each column in each half, higher is better; all finite.
    outside : (K, N) float64
        Score of each column in that half's complement.
    """
    chosen = inside.argmax(axis=1)[:, None]
    best = np.take_along_axis(inside, chosen, axis=1)
    score = np.take_along_axis(outside, chosen, axis=1)
    # One column is ranked, so counting beats sorting.
    below = np.count_nonzero(outside < score, axis=1)
    not_above = np.count_nonzero(outside <= score, axis=1)
    n_best = np.count_nonzero(inside == best, axis=1)
    return Ranked(
        ranks=(below + not_above + 1) / 2,
        outside=score[:, 0],
        inside_ties=int(np.count_nonzero(n_best > 1)),
        outside_ties=int(np.count_nonzero(not_above - below > 1)),
    )
