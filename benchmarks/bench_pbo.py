"""PBO against the same algorithm written plainly: one process, one thread, the same matrix and value.

Run: OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/bench_pbo.py
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable

import numpy as np

from alphaswarm_assets.arrays import Float64Array
from alphaswarm_assets.statistics.pbo import probability_of_backtest_overfitting
from alphaswarm_assets.statistics.undefined import defined
from alphaswarm_assets.streams import Streams

N_ROWS, N_BLOCKS = 2_520, 16


def plainly(matrix: Float64Array) -> float:
    """CSCV half by half, NumPy within a half: gather the rows, take every Sharpe ratio, rank one."""
    blocks = np.split(matrix[: N_ROWS - N_ROWS % N_BLOCKS], N_BLOCKS)
    overfitted: list[bool] = []
    for chosen in itertools.combinations(range(N_BLOCKS), N_BLOCKS // 2):
        inside = np.concatenate([blocks[i] for i in chosen])
        outside = np.concatenate([blocks[i] for i in range(N_BLOCKS) if i not in chosen])
        best = (inside.mean(axis=0) / inside.std(axis=0, ddof=1)).argmax()
        scores = outside.mean(axis=0) / outside.std(axis=0, ddof=1)
        rank = 1 + np.count_nonzero(scores < scores[best])
        overfitted.append(2 * rank <= matrix.shape[1] + 1)
    return float(np.mean(overfitted))


def ours(matrix: Float64Array) -> float:
    """The product's own, checks included."""
    return defined(probability_of_backtest_overfitting(matrix, n_blocks=N_BLOCKS)).value


def timed(
    run: Callable[[Float64Array], float], matrix: Float64Array, repeats: int
) -> tuple[float, float]:
    """Median wall time of *repeats* runs, in seconds, and the value they gave."""
    taken: list[float] = []
    value = float("nan")
    for _ in range(repeats):
        start = time.perf_counter()
        value = run(matrix)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken), value


def main() -> None:
    """Print one line a width: ours, the plain way where it takes seconds, and their ratio."""
    print(f"T={N_ROWS}, S={N_BLOCKS}, 12,870 halves; median of 15 against one plain run")
    for n_columns in (5, 64, 512):
        stream = Streams(1).fork("bench_pbo").generator(str(n_columns))
        matrix = 0.01 * stream.standard_normal((N_ROWS, n_columns))
        fast, value = timed(ours, matrix, 15)
        line = f"N={n_columns:<4} {fast * 1e3:6.1f} ms"
        if n_columns <= 64:
            slow, plain_value = timed(plainly, matrix, 1)
            same = "same value" if value == plain_value else f"DIFFERS: {value} and {plain_value}"
            line += f"   plain {slow:5.1f} s   {slow / fast:5.0f}x   {same}"
        print(line)


if __name__ == "__main__":
    main()
