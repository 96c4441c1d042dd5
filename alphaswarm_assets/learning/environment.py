"""The portfolio environment: E portfolios side by side, decided at a close, filled at the next open.

An action is a row of target weights (N,), long only, at most 1 in all; the rest is cash. A reward is the log growth of
equity, less a penalty on turnover when one is configured. `books` has the accounting, `observation` the layout.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from alphaswarm_assets.arrays import AnyArray, BoolArray, Float32Array, Float64Array, Int64Array
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.learning.books import Books, Orders
from alphaswarm_assets.learning.normalizer import Normalizer, no_normalizer
from alphaswarm_assets.learning.observation import market_part, observation_size
from alphaswarm_assets.learning.tape import cut_tape
from alphaswarm_assets.markets.panel import Block, Panel
from alphaswarm_assets.specs.environment import EnvironmentSpec

REWARD_TERMS: Final = ("holding", "cost", "turnover_penalty")
"""Rows of `StepResult.terms`: log growth before cost, log of what cost left, and the penalty in the reward alone."""

RUIN_EQUITY: Final = 1e-9
"""A portfolio below this share of its start is over: costs alone can bring a long-only book there."""


@dataclass(kw_only=True, slots=True)
class StepResult:
    """What one step did. Every array is overwritten by the next step: copy what is to be kept."""

    observation: Float32Array
    """(E, D) at the new close; of the next episode where one has ended and the environment restarts itself."""
    reward: Float64Array
    """(E,) the sum of `terms`, added in their order."""
    terms: Float64Array
    """(K, E) by `REWARD_TERMS`."""
    done: BoolArray
    """(E,) whether the episode ended with this step."""
    terminated: BoolArray
    """(E,) whether equity is below `RUIN_EQUITY`. That ends a training episode, with nothing to come; every other
    end is the time limit, after which the value goes on. An episode with a fixed start runs to its limit regardless."""
    final_observation: Float32Array
    """(n_done, D) last observation of each episode that ended, in the order of `done`."""
    equity: Float64Array
    """(E,) at the new close, before any restart."""
    growth: Float64Array
    """(E,) equity over the equity before."""
    turnover_one_way: Float64Array
    """(E,) share of equity at the fill that changed hands, a full rotation counting once."""
    cost: Float64Array
    """(E,) money paid, where the episode began with 1."""


class PortfolioVectorEnv:
    """E portfolios over one window of a panel.

    Parameters
    ----------
    panel : Panel
        The market.
    window : Block
        The bars that exist: nothing outside is read.
    environment : EnvironmentSpec
        Costs, penalty and the length of an episode.
    n_envs : int
        E.
    normalizer : Normalizer, optional
        Of the training window; absent, features are passed on as they are.
    episode_bars : int, optional
        Decisions in an episode, in place of the spec's. Either is cut to what the window holds.

    Raises
    ------
    InvalidInputError
        If the window reaches beyond the panel.
    MarketDataError
        If the window has fewer than two bars.
    """

    def __init__(
        self,
        *,
        panel: Panel,
        window: Block,
        environment: EnvironmentSpec,
        n_envs: int,
        normalizer: Normalizer | None = None,
        episode_bars: int | None = None,
    ) -> None:
        """Lay out every array a step writes to."""
        self.tape = cut_tape(panel, window)
        self.n_envs, self.n_symbols = n_envs, panel.n_symbols
        self.observation_size = observation_size(panel.n_symbols, len(panel.feature_names))
        self.episode_bars = min(episode_bars or environment.episode_bars, self.tape.n_bars - 1)
        self.books = Books(tape=self.tape, n_portfolios=n_envs, cost_bps=environment.cost_bps)
        self.bar = np.zeros(n_envs, dtype=np.int64)
        self.steps = np.zeros(n_envs, dtype=np.int64)
        self._penalty_rate = (environment.turnover_penalty_bps or 0.0) / 1e4
        self._random: np.random.Generator | None = None
        self._market = market_part(
            self.tape.features, self.tape.known, normalizer or no_normalizer(panel.feature_names)
        )
        self._n_market = self._market.shape[1]
        terms = np.zeros((len(REWARD_TERMS), n_envs))
        self._result = StepResult(
            observation=np.zeros((n_envs, self.observation_size), dtype=np.float32),
            reward=np.zeros(n_envs),
            terms=terms,
            done=np.ones(n_envs, dtype=np.bool_),
            terminated=np.zeros(n_envs, dtype=np.bool_),
            final_observation=np.zeros((0, self.observation_size), dtype=np.float32),
            equity=self.books.equity.copy(),
            growth=self.books.growth,
            turnover_one_way=self.books.turnover_one_way,
            cost=self.books.cost,
        )
        self._none_done = self._result.final_observation

    def reset(self, starts: np.random.Generator | Int64Array) -> Float32Array:
        """Start every episode flat, with equity 1, and return the first observations (E, D).

        Parameters
        ----------
        starts : Generator, or (E,) int64
            A stream to draw start bars from: the environment then restarts itself for ever. Or the bars of the panel
            to start at: it then runs one episode each and no more.

        Raises
        ------
        InvalidInputError
            If a start leaves no room for a whole episode.
        """
        if isinstance(starts, np.random.Generator):
            self._random = starts
            self.bar[:] = self._draw(starts, self.n_envs)
        else:
            self._random = None
            self.bar[:] = self._checked(starts)
        self.steps[:] = 0
        self.books.flatten()
        self.books.orders = Orders()
        self._result.done[:] = False
        return self._observe()

    @property
    def observation(self) -> Float32Array:
        """The current observations (E, D); overwritten by the next step."""
        return self._result.observation

    def known(self) -> BoolArray:
        """Return which symbols (E, N) are offered at the current close."""
        return self.tape.known.take(self.bar, axis=0)

    def inputs(self) -> tuple[Float64Array, BoolArray, Float64Array]:
        """Return features (E, N, F), known (E, N) and weights (E, N) at the current close: what a policy is given."""
        return self.tape.features[self.bar], self.known(), self.books.weights.copy()

    def step(self, weights: Float64Array, keep: BoolArray | None = None) -> StepResult:
        """Fill *weights* at the next open and go on to its close.

        Parameters
        ----------
        weights : (E, N) float64
            Target weights; not negative, each row adds up to at most 1. A buy of a symbol that is not known is cut
            to what is held; a symbol without a usable bar keeps its shares and the others share what is left.
        keep : (E, N) bool, optional
            Symbols without an order in this step.

        Raises
        ------
        InvalidInputError
            If a weight is not finite or negative, a row adds up to more than 1, or the episodes are over.
        """
        result, books = self._result, self.books
        if self._random is None and np.logical_or.reduce(result.done):
            raise InvalidInputError("the episodes are over: call reset before the next step")
        books.trade(self.bar, weights, keep)
        self.bar += 1
        self.steps += 1
        np.copyto(result.terms[0], books.log_holding)
        np.copyto(result.terms[1], books.log_cost)
        np.multiply(books.turnover_one_way, -self._penalty_rate, out=result.terms[2])
        np.add.reduce(result.terms, axis=0, out=result.reward)
        np.copyto(result.equity, books.equity)
        np.less(books.equity, RUIN_EQUITY, out=result.terminated)
        np.greater_equal(self.steps, self.episode_bars, out=result.done)
        if self._random is not None:
            np.logical_or(result.done, result.terminated, out=result.done)
        self._observe()
        result.final_observation = self._none_done
        if np.logical_or.reduce(result.done):
            result.final_observation = result.observation[result.done]
            if self._random is not None:
                self._restart(self._random, result.done)
        return result

    def state(self) -> dict[str, AnyArray]:
        """Return a copy of all that a later `restore` needs; the stream of starts is the caller's."""
        return {name: array.copy() for name, array in self._state().items()}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Go back to where `state` was taken; `reset` with the stream first."""
        for name, array in self._state().items():
            np.copyto(array, state[name])
        self._result.done[:] = False
        self._observe()

    def _state(self) -> dict[str, AnyArray]:
        books = self.books
        return {
            "bar": self.bar,
            "steps": self.steps,
            "weights": books.weights,
            "cash": books.cash,
            "equity": books.equity,
        }

    def _restart(self, random: np.random.Generator, done: BoolArray) -> None:
        self.bar[done] = self._draw(random, int(done.sum()))
        self.steps[done] = 0
        self.books.flatten(done)
        self._observe()

    def _draw(self, random: np.random.Generator, n: int) -> Int64Array:
        return random.integers(0, self.tape.n_bars - self.episode_bars, size=n)

    def _checked(self, starts: Int64Array) -> Int64Array:
        window = self.tape.window
        latest = window.stop - 1 - self.episode_bars
        if (
            starts.shape != (self.n_envs,)
            or (starts < window.start).any()
            or (starts > latest).any()
        ):
            raise InvalidInputError(
                f"starts must be {self.n_envs} bars in [{window.start}, {latest}], so that episodes of "
                f"{self.episode_bars} decisions fit in [{window.start}, {window.stop}), was {starts!r}"
            )
        return starts - window.start

    def _observe(self) -> Float32Array:
        out, m = self._result.observation, self._n_market
        out[:, :m] = self._market.take(self.bar, axis=0)
        out[:, m:-1] = self.books.weights
        out[:, -1] = self.books.cash
        return out
