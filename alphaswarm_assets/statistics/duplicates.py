"""Copies among trials: columns of returns that are one strategy under several names."""

from __future__ import annotations

from collections import defaultdict
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from alphaswarm_assets.arrays import Float64Array
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.statistics.returns import rounding_of

COPY_CORRELATION: Final = 1.0 - 1e-9
"""Two columns above it are copies; leverage and float noise do not make a second strategy."""

IndexArray: TypeAlias = npt.NDArray[np.intp]

_N_SKETCH: Final = 16
_ROWS_AT_ONCE: Final = 1024


def duplicate_columns(matrix: Float64Array) -> tuple[tuple[int, ...], ...]:
    """Groups of columns that are equal, or correlate above `COPY_CORRELATION`.

    Parameters
    ----------
    matrix : (T, N) float64
        Returns per period, one column a trial; T >= 1, all finite.

    Returns
    -------
    tuple of tuple of int
        Each group of two columns or more in ascending order, groups by their first column; empty
        when all are distinct.

    Raises
    ------
    InvalidInputError
        If the shape is not (T, N) with T >= 1, or a value is not finite.
    """
    values = np.asarray(matrix, dtype=np.float64)
    if values.ndim != 2 or values.shape[0] == 0:
        raise InvalidInputError(f"matrix must have shape (T, N) with T >= 1, was {values.shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        centred = values - values.mean(axis=0)
        squares = np.einsum("tn,tn->n", centred, centred)
    if not np.isfinite(squares).all():
        column = int(np.argmin(np.isfinite(squares)))
        raise InvalidInputError(f"matrix must be finite, was not in column {column}")
    moves = squares > len(values) * rounding_of(values) ** 2
    root = list(range(values.shape[1]))
    for first, second in _equal_pairs(values, np.flatnonzero(~moves)):
        _join(root, first, second)
    for first, second in _correlated_pairs(centred, np.sqrt(squares), np.flatnonzero(moves)):
        _join(root, first, second)
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for column in range(len(root)):
        groups[_find(root, column)].append(column)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def count_distinct(matrix: Float64Array) -> int:
    """Number of columns of *matrix* that are not copies of another, as `duplicate_columns` sees it.

    Parameters
    ----------
    matrix : (T, N) float64
        Returns per period, one column a trial; T >= 1, all finite.
    """
    copies = sum(len(group) - 1 for group in duplicate_columns(matrix))
    return int(np.asarray(matrix).shape[1]) - copies


def _equal_pairs(values: Float64Array, constant: IndexArray) -> list[tuple[int, int]]:
    # A constant column has no correlation, only a value.
    seen: dict[float, int] = {}
    pairs: list[tuple[int, int]] = []
    for column in constant.tolist():
        first = seen.setdefault(float(values[0, column]), column)
        if first != column:
            pairs.append((first, column))
    return pairs


def _correlated_pairs(
    centred: Float64Array, norm: Float64Array, moving: IndexArray
) -> list[tuple[int, int]]:
    # Unit columns x, y have |x - y|**2 = 2 (1 - corr), and a projection only shortens it: the sums
    # over a few blocks rule out nearly every pair, and only the rest are correlated in full.
    n_blocks = min(_N_SKETCH, len(centred))
    length = len(centred) // n_blocks
    blocks = centred[: n_blocks * length].reshape(n_blocks, length, -1).sum(axis=1)
    sketch = (blocks[:, moving] / (np.sqrt(length) * norm[moving])).T
    pairs: list[tuple[int, int]] = []
    for first, second in _close_pairs(sketch, 2.0 * (1.0 - COPY_CORRELATION)):
        i, j = int(moving[first]), int(moving[second])
        correlation = float(centred[:, i] @ centred[:, j]) / float(norm[i] * norm[j])
        if correlation > COPY_CORRELATION:
            pairs.append((i, j))
    return pairs


def _close_pairs(points: Float64Array, square_distance: float) -> IndexArray:
    # The Gram form of a distance carries rounding of about 1e-15; the slack keeps every true pair.
    limit = square_distance + 1e-12
    squares = np.einsum("nk,nk->n", points, points)
    found: list[IndexArray] = [np.empty((0, 2), dtype=np.intp)]
    for start in range(0, len(points), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        distance = squares[rows, None] + squares - 2.0 * (points[rows] @ points.T)
        close = np.argwhere(distance <= limit) + np.array([start, 0])
        found.append(close[close[:, 0] < close[:, 1]])
    return np.concatenate(found)


def _find(root: list[int], column: int) -> int:
    while root[column] != column:
        root[column] = root[root[column]]
        column = root[column]
    return column


def _join(root: list[int], first: int, second: int) -> None:
    a, b = _find(root, first), _find(root, second)
    root[max(a, b)] = min(a, b)


def describe(groups: tuple[tuple[int, ...], ...]) -> str:
    """Say in words which columns are copies: ``columns 0, 3 are copies of one trial``."""
    first = ", ".join(str(column) for column in groups[0])
    more = "" if len(groups) == 1 else f" (and {len(groups) - 1} more groups)"
    return f"columns {first} are copies of one trial{more}"
