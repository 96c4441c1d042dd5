"""The tape: one window of a panel as the growth factors and masks that portfolios live on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alphaswarm_assets.arrays import BoolArray, Float64Array, Int64Array
from alphaswarm_assets.errors import InvalidInputError, MarketDataError
from alphaswarm_assets.markets.panel import Block, Panel

MIN_BARS = 2
"""A decision at one close and a fill at the next open: the shortest window anything can happen in."""

MAX_GROWTH = 1e9
"""No price moves by more in one bar; beyond it equity would leave the range of a float."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Tape:
    """B bars of N symbols; bar 0 is the first of the window."""

    symbols: tuple[str, ...]
    window: Block
    """Where the bars stand in the panel."""
    session: Int64Array
    """(B,) days since 1970-01-01."""
    overnight: Float64Array
    """(B, N) open over the last usable close before it: after a gap, the whole gap; 1 where not tradable."""
    intraday: Float64Array
    """(B, N) close over open; 1 where not tradable."""
    tradable: BoolArray
    """(B, N) whether an order can fill at the open."""
    known: BoolArray
    """(B, N) whether the symbol is offered to a policy at the close."""
    features: Float64Array
    """(B, N, F) as in the panel."""
    unmasked: BoolArray
    """(B,) whether every symbol is known at the bar and tradable at the next; False at the last bar."""

    @property
    def n_bars(self) -> int:
        """B."""
        return len(self.session)

    @property
    def n_symbols(self) -> int:
        """N."""
        return len(self.symbols)


def cut_tape(panel: Panel, window: Block) -> Tape:
    """Return the tape of *window*: nothing before or after it is read.

    Raises
    ------
    InvalidInputError
        If the window reaches beyond the panel.
    MarketDataError
        If it has fewer than two bars.
    """
    if window.stop > panel.n_bars:
        raise InvalidInputError(
            f"a window must lie in the panel's {panel.n_bars} bars, was [{window.start}, {window.stop})"
        )
    if len(window) < MIN_BARS:
        raise MarketDataError(
            f"a window needs at least {MIN_BARS} bars (decide at one close, fill at the next open), "
            f"was [{window.start}, {window.stop}). Widen it, or cut it into fewer episodes."
        )
    rows = slice(window.start, window.stop)
    tradable, known = panel.tradable[rows].copy(), panel.known[rows].copy()
    unmasked = np.zeros(len(window), dtype=np.bool_)
    unmasked[:-1] = known[:-1].all(axis=1) & tradable[1:].all(axis=1)
    overnight, intraday = _growth(panel.open[rows], panel.close[rows], tradable)
    _refuse_impossible(panel, window, overnight * intraday)
    return Tape(
        symbols=panel.symbols,
        window=window,
        session=panel.session[rows].copy(),
        overnight=overnight,
        intraday=intraday,
        tradable=tradable,
        known=known,
        features=panel.features[rows].copy(),
        unmasked=unmasked,
    )


def _growth(
    open_: Float64Array, close: Float64Array, tradable: BoolArray
) -> tuple[Float64Array, Float64Array]:
    n_bars = len(open_)
    bar = np.where(tradable, np.arange(n_bars)[:, None], -1)
    last = np.vstack([np.full((1, bar.shape[1]), -1), np.maximum.accumulate(bar, axis=0)[:-1]])
    mark = np.take_along_axis(close, np.maximum(last, 0), axis=0)
    overnight, intraday = np.ones(close.shape), np.ones(close.shape)
    with np.errstate(over="ignore", under="ignore"):
        # Without an earlier usable bar in the window nobody can hold the symbol: its first night moves nothing.
        np.divide(open_, mark, out=overnight, where=tradable & (last >= 0))
        np.divide(close, open_, out=intraday, where=tradable)
    return overnight, intraday


def _refuse_impossible(panel: Panel, window: Block, growth: Float64Array) -> None:
    bad = ~((growth > 1.0 / MAX_GROWTH) & (growth < MAX_GROWTH))
    if bad.any():
        t, n = (int(i[0]) for i in np.nonzero(bad))
        raise MarketDataError(
            f"a price must move by less than a factor of {MAX_GROWTH:.0e} from bar to bar, moved by {growth[t, n]!r} "
            f"for {panel.symbols[n]} at bar {window.start + t}. Check its prices."
        )
