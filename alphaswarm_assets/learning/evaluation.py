"""Pure measurement: what policies and baselines earn over disjoint episodes. Nothing here learns or draws.

A block of B bars is cut into equal episodes of ``B // episodes`` bars; the bars that are left over at its end are not
used, and their number is recorded. Every episode starts flat with equity 1 at its first close and ends at its last, so
one of L bars gives L - 1 returns; the first of them pays for getting in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from alphaswarm_assets.arrays import Float64Array, Int64Array
from alphaswarm_assets.errors import InvalidInputError, MarketDataError
from alphaswarm_assets.learning.environment import REWARD_TERMS, PortfolioVectorEnv
from alphaswarm_assets.learning.policy import Ensemble, Policy
from alphaswarm_assets.learning.tape import MIN_BARS
from alphaswarm_assets.learning.traders import BASELINES, Moment, Trader, follow
from alphaswarm_assets.markets.panel import Block, Panel
from alphaswarm_assets.specs.environment import EnvironmentSpec

ENSEMBLE = "ensemble"
"""Label of the row whose target weights are the mean of all policies'."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Rollout:
    """One trader over all episodes, in chronological order: T' steps of N symbols."""

    label: str
    returns: Float64Array
    """(T',) simple returns after cost, close to close."""
    equity: Float64Array
    """(T',) chained from 1 over the episodes, after each return."""
    turnover_one_way: Float64Array
    """(T',) share of equity that changed hands at the open; a full rotation counts once."""
    cost: Float64Array
    """(T',) what trading took, as a share of equity at the fill."""
    reward_terms: Mapping[str, float]
    """Sum of each term of the reward over all steps; they add up to the log of the final equity, and the penalty."""
    weights: Float64Array
    """(T', N) held just after the fill."""
    session: Int64Array
    """(T',) days since 1970-01-01 of the close that ends the step."""
    episode_lengths: tuple[int, ...]
    """Returns in each episode."""
    bars_unused: int
    """Bars left over at the end of the block."""
    orders_cut: int
    """Buys of a symbol that was not known, cut to what was held."""
    orders_unfilled: int
    """Changes of a symbol that had no usable bar to fill at."""


def evaluate_policies(
    policies: Sequence[Policy],
    panel: Panel,
    window: Block,
    environment: EnvironmentSpec,
    episodes: int,
) -> list[Rollout]:
    """Return the rollout of each policy, acting by its mean, in their order.

    Parameters
    ----------
    policies : sequence of Policy
        One a seed.
    panel, window : Panel, Block
        The market, and the bars of it to measure on.
    environment : EnvironmentSpec
        Costs and penalty.
    episodes : int
        Disjoint equal parts of the window.

    Raises
    ------
    InvalidInputError
        If a policy was trained on other symbols or features.
    MarketDataError
        If an episode would have fewer than two bars.
    """
    _refuse_strangers(policies, panel)
    return [
        roll_out(
            f"policy[{i}]",
            follow(policy),
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
    """Return the rollout of the mean of the policies' target weights; arguments as for `evaluate_policies`."""
    _refuse_strangers(policies, panel)
    trader = follow(Ensemble(members=tuple(policies)))
    return roll_out(
        ENSEMBLE, trader, panel=panel, window=window, environment=environment, episodes=episodes
    )


def evaluate_baselines(
    panel: Panel, window: Block, environment: EnvironmentSpec, episodes: int
) -> list[Rollout]:
    """Return the rollout of each of `BASELINES`, in their order; arguments as for `evaluate_policies`."""
    return [
        roll_out(
            label, trader, panel=panel, window=window, environment=environment, episodes=episodes
        )
        for label, trader in BASELINES.items()
    ]


def _refuse_strangers(policies: Sequence[Policy], panel: Panel) -> None:
    for i, policy in enumerate(policies):
        for what, has, needs in (
            ("symbols", panel.symbols, policy.symbols),
            ("features", panel.feature_names, policy.normalizer.feature_names),
        ):
            if has != needs:
                raise InvalidInputError(
                    f"policy[{i}] was trained on the {what} {needs}, the panel has {has}. Evaluate it on the dataset "
                    "it was trained on."
                )


def cut_episodes(window: Block, episodes: int) -> list[Block]:
    """Return *episodes* equal disjoint parts of *window*, from its first bar on.

    Raises
    ------
    MarketDataError
        If a part would have fewer than two bars.
    """
    size = len(window) // episodes
    if size < MIN_BARS:
        raise MarketDataError(
            f"evaluation.episodes {episodes} cuts a block of {len(window)} bars into parts of {size}; an episode needs "
            f"at least {MIN_BARS}. Lower evaluation.episodes or walk_forward.n_blocks, or widen the dataset."
        )
    return [
        Block(start=window.start + i * size, stop=window.start + (i + 1) * size)
        for i in range(episodes)
    ]


def moment(env: PortfolioVectorEnv) -> Moment:
    """Return what is known at the current close of *env*, as copies."""
    features, known, weights = env.inputs()
    return Moment(features=features, known=known, weights=weights)


def roll_out(
    label: str,
    trader: Trader,
    *,
    panel: Panel,
    window: Block,
    environment: EnvironmentSpec,
    episodes: int,
) -> Rollout:
    """Return what *trader* earns over the *episodes* of *window*; the other arguments as for `evaluate_policies`."""
    parts = cut_episodes(window, episodes)
    n_episodes, n_steps = episodes, len(parts[0]) - 1
    env = PortfolioVectorEnv(
        panel=panel,
        window=window,
        environment=environment,
        n_envs=n_episodes,
        episode_bars=n_steps,
    )
    env.reset(np.array([part.start for part in parts]))
    growth, turnover, cost = (np.zeros((n_episodes, n_steps)) for _ in range(3))
    weights = np.zeros((n_episodes, n_steps, panel.n_symbols))
    terms = np.zeros((len(REWARD_TERMS), n_episodes, n_steps))
    for t in range(n_steps):
        decision = trader(moment(env))
        result = env.step(decision.targets, decision.keep)
        growth[:, t], turnover[:, t] = result.growth, result.turnover_one_way
        cost[:, t] = -np.expm1(result.terms[1])
        weights[:, t] = env.books.filled
        terms[:, :, t] = result.terms
    returns = (growth - 1.0).ravel()
    bars = np.concatenate([np.arange(part.start + 1, part.stop) for part in parts])
    return Rollout(
        label=label,
        returns=returns,
        equity=np.cumprod(1.0 + returns, dtype=np.float64),
        turnover_one_way=turnover.ravel(),
        cost=cost.ravel(),
        reward_terms={name: float(terms[k].sum()) for k, name in enumerate(REWARD_TERMS)},
        weights=weights.reshape(-1, panel.n_symbols),
        session=panel.session[bars],
        episode_lengths=(n_steps,) * n_episodes,
        bars_unused=len(window) - n_episodes * (n_steps + 1),
        orders_cut=env.books.orders.cut,
        orders_unfilled=env.books.orders.unfilled,
    )
