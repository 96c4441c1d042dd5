"""The books of E portfolios: what a trade at the next open does to weights, cash and equity, exactly.

Equity V at the close of bar t earns the night with the old weights, V' = V (cash + sum w_old open/close). At the
open of bar t+1 the targets w fill: with h the weights held by then, a traded notional of ``sum |w - h| V'`` costs
``cost_bps`` of itself, V'' = V' - cost. The day is earned with the new weights, V_next = V'' (cash + sum w close/open).

A target is a share of V'; the cost is paid out of all that can be traded, in proportion, so that a portfolio without
cash can trade and cash never turns negative. What cannot be traded keeps its shares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alphaswarm_assets.arrays import BoolArray, Float64Array, Int64Array
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.learning.tape import Tape

SUM_TOLERANCE = 1e-9
"""How far above 1 the targets of a row may add up by rounding; they are scaled back to what is there."""


@dataclass(kw_only=True, slots=True)
class Orders:
    """Orders that were not carried out as asked, counted since the last reset."""

    cut: int = 0
    """Buys of a symbol that was not known at the decision, cut to what was held."""
    unfilled: int = 0
    """Changes of a symbol that had no usable bar to fill at."""


class Books:
    """E long-only portfolios over one tape.

    Parameters
    ----------
    tape : Tape
        The market they live on.
    n_portfolios : int
        E.
    cost_bps : float
        Cost of a trade, basis points of its notional.

    Attributes
    ----------
    weights : (E, N) float64
        Shares of equity at the last close.
    cash : (E,) float64
        What is left of 1.
    equity : (E,) float64
        Starts at 1.
    filled : (E, N) float64
        Weights just after the last fill.
    growth : (E,) float64
        Equity over the equity before, of the last step.
    log_holding, log_cost : (E,) float64
        Their sum is the log growth of the last step: what the market did, and what trading cost.
    cost : (E,) float64
        Money paid in the last step.
    turnover_one_way : (E,) float64
        The larger of what was bought and what was sold, as a share of equity at the fill: half the absolute change
        of weights with cash as one of them.
    traded : (E,) float64
        Bought plus sold, as a share of equity at the fill: what the cost is charged on.
    orders : Orders
        What was cut and what could not fill.
    """

    def __init__(self, *, tape: Tape, n_portfolios: int, cost_bps: float) -> None:
        """Open E flat books."""
        e, n = n_portfolios, tape.n_symbols
        self._tape = tape
        self._cost_rate = cost_bps / 1e4
        self.weights = np.zeros((e, n))
        self.filled = np.zeros((e, n))
        self.cash, self.equity, self.growth = np.ones(e), np.ones(e), np.ones(e)
        self.log_holding, self.log_cost, self.cost = np.zeros(e), np.zeros(e), np.zeros(e)
        self.turnover_one_way, self.traded = np.zeros(e), np.zeros(e)
        self.orders = Orders()
        self._held, self._change, self._factor = np.zeros((e, n)), np.zeros((e, n)), np.ones((e, n))
        self._total, self._night, self._day, self._net = (
            np.ones(e),
            np.ones(e),
            np.ones(e),
            np.ones(e),
        )
        self._left = np.ones(e)
        self._largest_total = 0.0

    def flatten(self, which: BoolArray | slice = slice(None)) -> None:
        """Start the chosen portfolios again: all cash, equity 1."""
        self.weights[which] = 0.0
        self.cash[which] = 1.0
        self.equity[which] = 1.0

    def trade(self, bar: Int64Array, targets: Float64Array, keep: BoolArray | None = None) -> None:
        """Carry every portfolio from the close of its *bar* to the close of the next.

        Parameters
        ----------
        bar : (E,) int64
            Bar of the decision, on the tape.
        targets : (E, N) float64
            Weights to hold from the next open; not negative, each row adds up to at most 1.
        keep : (E, N) bool, optional
            Symbols without an order: their shares stay as they are and their target is not read.

        Raises
        ------
        InvalidInputError
            If a target is not finite or negative, or a row adds up to more than 1.
        """
        self._check(targets)
        following = bar + 1
        self._sleep(following)
        if keep is None and np.logical_and.reduce(self._tape.unmasked.take(bar)):
            self._fill_all(targets)
        else:
            self._fill_some(bar, targets, keep)
        self._live(following)

    def _check(self, targets: Float64Array) -> None:
        if targets.shape != self.weights.shape:
            raise InvalidInputError(
                f"target weights must have shape {self.weights.shape}, was {targets.shape}"
            )
        np.add.reduce(targets, axis=1, out=self._total)
        self._largest_total = float(np.maximum.reduce(self._total))
        # A NaN fails both comparisons.
        if (
            np.minimum.reduce(targets, axis=None) >= 0.0
            and self._largest_total <= 1.0 + SUM_TOLERANCE
        ):
            return
        bad = ~(targets >= 0.0) | ~np.isfinite(targets)
        if bad.any():
            e, n = (int(i[0]) for i in np.nonzero(bad))
            raise InvalidInputError(
                f"target weights must be finite and not negative, was {targets[e, n]!r} for {self._tape.symbols[n]} "
                f"in environment {e}"
            )
        e = int(np.argmax(self._total))
        n = int(np.argmax(targets[e]))
        raise InvalidInputError(
            f"target weights must add up to at most 1, was {self._total[e]!r} in environment {e}, "
            f"of which {self._tape.symbols[n]} {targets[e, n]!r}"
        )

    def _sleep(self, following: Int64Array) -> None:
        self._tape.overnight.take(following, axis=0, out=self._factor, mode="clip")
        np.multiply(self.weights, self._factor, out=self._held)
        np.add.reduce(self._held, axis=1, out=self._night)
        self._night += self.cash
        self._held /= self._night[:, None]

    def _fill_all(self, targets: Float64Array) -> None:
        np.copyto(self.filled, targets)
        if self._largest_total > 1.0:
            self.filled /= np.maximum(self._total, 1.0)[:, None]
            np.add.reduce(self.filled, axis=1, out=self._total)
        np.subtract(1.0, self._total, out=self.cash)
        np.maximum(self.cash, 0.0, out=self.cash)
        np.subtract(self.filled, self._held, out=self._change)
        self._count_turnover()

    def _fill_some(self, bar: Int64Array, targets: Float64Array, keep: BoolArray | None) -> None:
        known, fills = self._tape.known[bar], self._tape.tradable[bar + 1]
        wanted = np.where(known, targets, np.minimum(targets, self._held))
        asked = np.abs(targets - self._held) > SUM_TOLERANCE
        if keep is not None:
            asked &= ~keep
        self.orders.unfilled += int((asked & ~fills).sum())
        if keep is not None:
            fills &= ~keep
        self.orders.cut += int((asked & fills & (targets > wanted)).sum())
        wanted = np.where(fills, wanted, 0.0)
        locked = np.where(fills, 0.0, self._held)
        free = np.maximum(1.0 - locked.sum(axis=1), 0.0)
        total = wanted.sum(axis=1)
        scale = np.ones_like(total)
        np.divide(free, total, out=scale, where=total > free)
        wanted *= scale[:, None]
        np.multiply(wanted - self._held, fills, out=self._change)
        self._count_turnover()
        self._pay_from_what_trades(wanted, locked, free)

    def _count_turnover(self) -> None:
        np.add.reduce(self._change, axis=1, out=self._net)
        np.abs(self._change, out=self._change)
        np.add.reduce(self._change, axis=1, out=self.traded)
        np.abs(self._net, out=self._net)
        np.add(self.traded, self._net, out=self.turnover_one_way)
        self.turnover_one_way *= 0.5
        np.multiply(self.traded, -self._cost_rate, out=self.log_cost)
        np.add(self.log_cost, 1.0, out=self._left)

    def _pay_from_what_trades(
        self, wanted: Float64Array, locked: Float64Array, free: Float64Array
    ) -> None:
        # Shares of V' become shares of V'' = left V'. With nothing locked the free part shrinks by exactly `left`
        # and the weights are the targets.
        paid = np.ones_like(free)
        np.divide(free - (1.0 - self._left), free, out=paid, where=free > 0.0)
        paid /= self._left
        np.multiply(wanted, paid[:, None], out=self.filled)
        self.filled += locked / self._left[:, None]
        np.multiply(np.maximum(free - wanted.sum(axis=1), 0.0), paid, out=self.cash)

    def _live(self, following: Int64Array) -> None:
        self._tape.intraday.take(following, axis=0, out=self._factor, mode="clip")
        np.multiply(self.filled, self._factor, out=self.weights)
        np.add.reduce(self.weights, axis=1, out=self._day)
        self._day += self.cash
        self.weights /= self._day[:, None]
        self.cash /= self._day
        np.multiply(self._night, self.equity, out=self.cost)
        self.cost *= self.log_cost
        np.negative(self.cost, out=self.cost)
        np.log1p(self.log_cost, out=self.log_cost)
        np.multiply(self._night, self._day, out=self._night)
        np.log(self._night, out=self.log_holding)
        np.multiply(self._night, self._left, out=self.growth)
        self.equity *= self.growth
