"""Pure evaluation: policies act by their mean over disjoint episodes, side by side with the baselines. Nothing learns.

A block of B bars is cut in equal windows of ``B // episodes`` bars; the remainder, the oldest bars, is not played and
is counted. Every window starts flat with equity 1, and its B' bars give B' - 1 returns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from alphaswarm_assets.arrays import BoolArray, Float64Array, Int64Array
from alphaswarm_assets.errors import MarketDataError
from alphaswarm_assets.learning.environment import REWARD_TERMS, PortfolioVectorEnv
from alphaswarm_assets.learning.policy import Ensemble, Policy
from alphaswarm_assets.markets.panel import Block, Panel
from alphaswarm_assets.specs.environment import EnvironmentSpec

ENSEMBLE = "ensemble"
EQUAL_WEIGHT, BUY_AND_HOLD, DO_NOTHING = "equal_weight", "buy_and_hold", "do_nothing"
BASELINES = (EQUAL_WEIGHT, BUY_AND_HOLD, DO_NOTHING)
"""Labels of the baselines, in the order reports list them."""


class Actor(Protocol):
    """Whatever names target weights at a close."""

    def target_weights(
        self, features: Float64Array, known: BoolArray, weights: Float64Array
    ) -> Float64Array:
        """Return target weights (E, N) from features (E, N, F), known (E, N) and weights held (E, N)."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Rollout:
    """What one actor did over a block, its episodes in order of time."""

    label: str
    returns: Float64Array
    """(T,) simple net returns."""
    turnover_one_way: Float64Array
    """(T,) share of equity that changed hands at the fill."""
    cost: Float64Array
    """(T,) costs as a share of the equity before."""
    weights: Float64Array
    """(T, N) target weights decided at the close before."""
    session: Int64Array
    """(T,) the session each return was earned in."""
    reward_terms: Mapping[str, float]
    """Total of every reward term."""
    episode_lengths: tuple[int, ...]
    bars_unused: int

    @property
    def equity(self) -> Float64Array:
        """(T,) equity chained over the episodes, from 1."""
        return np.cumprod(1.0 + self.returns, dtype=np.float64)


def evaluate_policies(
    policies: Sequence[Policy],
    panel: Panel,
    window: Block,
    environment: EnvironmentSpec,
    episodes: int,
) -> list[Rollout]:
    """Return the rollout of each policy over *window*.

    Raises
    ------
    MarketDataError
        If the window is too short for so many episodes.
    """
    return [
        play(
            policy,
            label=str(i),
            panel=panel,
            window=window,
            environment=environment,
            episodes=episodes,
        )
        for i, policy in enumerate(policies)
    ]


def evaluate_ensemble(
    policies: Sequence[Policy],
    panel: Panel,
    window: Block,
    environment: EnvironmentSpec,
    episodes: int,
) -> Rollout:
    """Return the rollout of the mean of the policies' target weights."""
    actor = Ensemble(members=tuple(policies))
    return play(
        actor,
        label=ENSEMBLE,
        panel=panel,
        window=window,
        environment=environment,
        episodes=episodes,
    )


def evaluate_baselines(
    panel: Panel, window: Block, environment: EnvironmentSpec, episodes: int
) -> list[Rollout]:
    """Return the rollouts of the baselines, paying the same costs."""
    actors: dict[str, Actor] = {
        EQUAL_WEIGHT: EqualWeight(),
        BUY_AND_HOLD: BuyAndHold(),
        DO_NOTHING: DoNothing(),
    }
    return [
        play(
            actor,
            label=label,
            panel=panel,
            window=window,
            environment=environment,
            episodes=episodes,
        )
        for label, actor in actors.items()
    ]


class EqualWeight:
    """The same weight in every known symbol, rebalanced at every bar."""

    def target_weights(
        self, features: Float64Array, known: BoolArray, weights: Float64Array
    ) -> Float64Array:
        """Return 1 / (number of known symbols) in each."""
        del features, weights
        return known / np.maximum(known.sum(axis=1, keepdims=True), 1)


class BuyAndHold:
    """Equal weights bought at the first chance of an episode, then left alone."""

    def target_weights(
        self, features: Float64Array, known: BoolArray, weights: Float64Array
    ) -> Float64Array:
        """Return equal weights while nothing is held, else what is held."""
        bought = weights.sum(axis=1, keepdims=True) > 0
        return np.where(bought, weights, EqualWeight().target_weights(features, known, weights))


class DoNothing:
    """All cash."""

    def target_weights(
        self, features: Float64Array, known: BoolArray, weights: Float64Array
    ) -> Float64Array:
        """Return zeros."""
        del features, known
        return np.zeros_like(weights)


def play(
    actor: Actor,
    *,
    label: str,
    panel: Panel,
    window: Block,
    environment: EnvironmentSpec,
    episodes: int,
) -> Rollout:
    """Return what *actor* does over *window*, all episodes side by side.

    Raises
    ------
    MarketDataError
        If an episode would have fewer than two bars.
    """
    size = len(window) // episodes
    if size < 2:
        raise MarketDataError(
            f"evaluation.episodes {episodes} cuts an evaluation block of {len(window)} bars in windows of {size}; "
            "a window needs at least 2. Lower evaluation.episodes or walk_forward.n_blocks."
        )
    first = window.stop - episodes * size
    starts = first + size * np.arange(episodes, dtype=np.int64)
    env = PortfolioVectorEnv(
        panel=panel, window=window, environment=environment, n_envs=episodes, episode_bars=size - 1
    )
    env.reset(starts)
    shape = (size - 1, episodes)
    growth, turnover, cost = np.empty(shape), np.empty(shape), np.empty(shape)
    weights = np.empty((*shape, panel.n_symbols))
    terms = np.zeros((len(REWARD_TERMS), episodes))
    before = np.ones(episodes)
    for t in range(size - 1):
        features, known, held = env.inputs()
        weights[t] = actor.target_weights(features, known, held)
        result = env.step(weights[t])
        growth[t], turnover[t] = result.growth, result.turnover_one_way
        cost[t] = result.cost / before
        before = result.equity.copy()
        terms += result.terms
    return Rollout(
        label=label,
        returns=(growth - 1.0).T.ravel(),
        turnover_one_way=turnover.T.ravel(),
        cost=cost.T.ravel(),
        weights=weights.transpose(1, 0, 2).reshape(-1, panel.n_symbols),
        session=panel.session[(starts[:, None] + np.arange(1, size)).ravel()],
        reward_terms=dict(zip(REWARD_TERMS, terms.sum(axis=1).tolist(), strict=True)),
        episode_lengths=(size - 1,) * episodes,
        bars_unused=first - window.start,
    )
