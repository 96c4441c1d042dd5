"""Causal feature columns: the value at a bar uses that symbol's usable bars up to and including it, and no other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from alphaswarm_assets.arrays import AnyArray, BoolArray, Float64Array, Int64Array
from alphaswarm_assets.specs.dataset import LOOK_BACK_BARS

PASSED_ON = ("symbol", "session", "open", "close", "usable")
"""Columns of the bars that the gold table carries along."""


def feature_table(bars: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """Return the gold table: the bars' prices and every feature, NaN where a feature is not known yet.

    A return across a close below zero means nothing, so nothing looks back across one.

    Parameters
    ----------
    bars : columns
        What `markets.bars.check_bars` returns: sorted by symbol and session.
    """
    table: dict[str, AnyArray] = {name: bars[name] for name in PASSED_ON}
    n = len(bars["symbol"])
    columns = {name: np.full(n, np.nan) for name in LOOK_BACK_BARS}
    usable = bars["usable"].astype(np.bool_)
    price, volume = bars["close"].astype(np.float64), bars["volume"].astype(np.float64)
    for symbol in np.unique(bars["symbol"]):
        for rows in _unbroken(np.flatnonzero(bars["symbol"] == symbol), price, usable):
            for name in LOOK_BACK_BARS:
                columns[name][rows] = feature(name, price[rows], volume[rows])
    return {**table, **columns}


def feature(name: str, close: Float64Array, volume: Float64Array) -> Float64Array:
    """Return the feature *name* of one symbol.

    Parameters
    ----------
    name : str
        ``return_k``: log return over k bars. ``volatility_k``: sample deviation (ddof 1) of the last k one-bar log
        returns. ``drawdown_k``: close over the highest of the last k+1 closes, minus 1. ``volume_ratio_k``: log of
        volume over the mean of the last k+1 volumes, 0 where either is 0.
    close, volume : (T,) float64
        The symbol's usable bars in order.

    Returns
    -------
    (T,) float64
        NaN for the first ``LOOK_BACK_BARS[name]`` bars.
    """
    look_back = LOOK_BACK_BARS[name]
    out = np.full(len(close), np.nan)
    if len(close) <= look_back:
        return out
    out[look_back:] = _kernel(name.rsplit("_", 1)[0], close, volume, look_back)
    return out


def _kernel(family: str, close: Float64Array, volume: Float64Array, k: int) -> Float64Array:
    log_close = np.log(close)
    match family:
        case "return":
            return log_close[k:] - log_close[:-k]
        case "volatility":
            return np.std(_windows(np.diff(log_close), k), axis=1, ddof=1)
        case "drawdown":
            return close[k:] / _windows(close, k + 1).max(axis=1) - 1.0
        case _:
            mean = _windows(volume, k + 1).mean(axis=1)
            ratio = np.ones(len(mean))
            np.divide(volume[k:], mean, out=ratio, where=(mean > 0) & (volume[k:] > 0))
            return np.log(ratio)


def _unbroken(rows: Int64Array, price: Float64Array, usable: BoolArray) -> Iterator[Int64Array]:
    breaks = np.flatnonzero(price[rows] < 0)
    for run in np.split(rows, breaks):
        yield run[usable[run]]


def _windows(values: Float64Array, width: int) -> Float64Array:
    return np.lib.stride_tricks.sliding_window_view(values, width)
