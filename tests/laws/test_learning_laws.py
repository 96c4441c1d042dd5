"""What always holds of the portfolio environment, over random markets with gaps and listings."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from alphaswarm_assets.arrays import AnyArray, Float64Array
from alphaswarm_assets.learning.environment import PortfolioVectorEnv
from alphaswarm_assets.learning.evaluation import roll_out
from alphaswarm_assets.learning.normalizer import fit_normalizer
from alphaswarm_assets.learning.traders import equal_weight
from alphaswarm_assets.markets.panel import Block, Panel
from alphaswarm_assets.specs.environment import EnvironmentSpec
from alphaswarm_assets.streams import Streams

LAW = settings(max_examples=40, deadline=None, derandomize=True)

seeds = st.integers(0, 2**31)
costs = st.sampled_from([0.0, 1.0, 10.0, 250.0, 1000.0])
gap_shares = st.sampled_from([0.0, 0.1, 0.4])


def _panel(seed: int, gaps: float, n_bars: int = 25, n_symbols: int = 3) -> Panel:
    """Walks with gaps; each symbol lists at a bar of its own, and some bars that trade are not known."""
    random = Streams(seed).fork("laws").generator("panel")
    shape = (n_bars, n_symbols)
    close = 20.0 * np.exp(np.cumsum(random.normal(0.0, 0.05, shape), axis=0))
    open_ = close * np.exp(random.normal(0.0, 0.02, shape))
    tradable = random.random(shape) >= gaps
    if gaps:
        tradable &= np.arange(n_bars)[:, None] >= random.integers(0, n_bars // 2, n_symbols)
    known = tradable & (random.random(shape) >= gaps)
    return Panel(
        symbols=tuple("ABCDEFGH"[:n_symbols]),
        feature_names=("f", "g"),
        session=np.arange(n_bars, dtype=np.int64),
        open=np.where(tradable, open_, np.nan),
        close=np.where(tradable, close, np.nan),
        tradable=tradable,
        features=random.normal(size=(*shape, 2)) * known[:, :, None],
        known=known,
    )


def _targets(seed: int, n_steps: int, n_symbols: int = 3) -> Float64Array:
    """Random targets, some steps all in one symbol, some all cash."""
    random = Streams(seed).fork("laws").generator("targets")
    targets = random.dirichlet(np.full(n_symbols + 1, 0.5), size=n_steps)[:, :n_symbols]
    kind = random.random(n_steps)
    targets[kind < 0.2] = np.eye(n_symbols)[random.integers(0, n_symbols, int((kind < 0.2).sum()))]
    targets[kind > 0.9] = 0.0
    return targets


def _run(
    panel: Panel, targets: Float64Array, cost_bps: float, **environment: Any
) -> list[dict[str, Any]]:
    env = PortfolioVectorEnv(
        panel=panel,
        window=Block(start=0, stop=panel.n_bars),
        environment=EnvironmentSpec(cost_bps=cost_bps, **environment),
        n_envs=1,
        episode_bars=len(targets),
    )
    env.reset(np.array([0]))
    rows: list[dict[str, Any]] = []
    for target in targets:
        observation = env.observation.copy()
        result = env.step(target[None])
        rows.append(
            {
                "observation": observation,
                "reward": float(result.reward[0]),
                "terms": result.terms[:, 0].copy(),
                "equity": float(result.equity[0]),
                "cost": float(result.cost[0]),
                "weights": env.books.weights[0].copy(),
                "cash": float(env.books.cash[0]),
            }
        )
    return rows


def _ledger(  # noqa: C901 -- one loop, told from top to bottom, is the point of it
    panel: Panel, targets: Float64Array, cost_bps: float
) -> Iterator[dict[str, Any]]:
    """The same portfolio kept in shares and money, one symbol at a time, by the rules as they are written down."""
    rate, names = cost_bps / 1e4, range(panel.n_symbols)
    cash, shares, mark = 1.0, [0.0 for _ in names], [math.nan for _ in names]
    for i in names:
        if panel.tradable[0, i]:
            mark[i] = panel.close[0, i]
    for t, target in enumerate(targets):
        trades = [bool(panel.tradable[t + 1, i]) for i in names]
        price = [float(panel.open[t + 1, i]) if trades[i] else mark[i] for i in names]
        money = [shares[i] * price[i] if shares[i] else 0.0 for i in names]
        equity = cash + sum(money)
        free = equity - sum(money[i] for i in names if not trades[i])
        wanted = [0.0 for _ in names]
        for i in names:
            if trades[i]:
                wanted[i] = float(target[i]) * equity
                if not panel.known[t, i]:
                    wanted[i] = min(wanted[i], money[i])
        if sum(wanted) > free:
            wanted = [w * free / sum(wanted) for w in wanted]
        fee = rate * sum(abs(wanted[i] - money[i]) for i in names if trades[i])
        shrink = (free - fee) / free if free > 0.0 else 1.0
        for i in names:
            if trades[i]:
                shares[i] = wanted[i] * shrink / price[i]
        cash = (free - sum(wanted)) * shrink
        for i in names:
            if trades[i]:
                mark[i] = float(panel.close[t + 1, i])
        held = [shares[i] * mark[i] if shares[i] else 0.0 for i in names]
        yield {
            "equity": cash + sum(held),
            "fee": fee,
            "weights": np.array(held) / (cash + sum(held)),
        }


@LAW
@given(seed=seeds, gaps=gap_shares, cost_bps=costs)
def test_the_accounts_are_those_of_a_ledger_kept_in_shares(
    seed: int, gaps: float, cost_bps: float
) -> None:
    panel, targets = _panel(seed, gaps), _targets(seed, 24)
    for ours, ledger in zip(
        _run(panel, targets, cost_bps), _ledger(panel, targets, cost_bps), strict=True
    ):
        assert math.isclose(ours["equity"], ledger["equity"], rel_tol=1e-12)
        assert math.isclose(ours["cost"], ledger["fee"], rel_tol=1e-10, abs_tol=1e-14)
        np.testing.assert_allclose(ours["weights"], ledger["weights"], atol=1e-12)


@LAW
@given(seed=seeds, gaps=gap_shares, cost_bps=costs, penalty=st.sampled_from([None, 3.0, 100.0]))
def test_the_terms_add_up_to_the_reward_and_the_books_to_one(
    seed: int, gaps: float, cost_bps: float, penalty: float | None
) -> None:
    equity = 1.0
    rows = _run(_panel(seed, gaps), _targets(seed, 24), cost_bps, turnover_penalty_bps=penalty)
    for row in rows:
        assert row["terms"][0] + row["terms"][1] + row["terms"][2] == row["reward"]
        growth = math.log(row["equity"] / equity)
        assert math.isclose(row["terms"][0] + row["terms"][1], growth, abs_tol=1e-14)
        assert row["terms"][1] <= 0.0
        assert row["terms"][2] <= 0.0
        assert row["cash"] >= 0.0
        assert (row["weights"] >= 0.0).all()
        assert math.isclose(row["weights"].sum() + row["cash"], 1.0, abs_tol=1e-14)
        equity = row["equity"]


@LAW
@given(seed=seeds, gaps=gap_shares, at=st.integers(1, 22))
def test_nothing_up_to_a_bar_depends_on_what_comes_after_it(
    seed: int, gaps: float, at: int
) -> None:
    panel, other = _panel(seed, gaps), _panel(seed + 1, gaps)
    later = np.arange(panel.n_bars) > at

    def spliced(name: str) -> AnyArray:
        old, new = getattr(panel, name), getattr(other, name)
        return np.where(later.reshape(-1, *[1] * (old.ndim - 1)), new, old)

    names = ("open", "close", "tradable", "features", "known")
    changed = replace(panel, **{name: spliced(name) for name in names})
    targets = _targets(seed, 24)
    before, after = (_run(p, targets, 10.0) for p in (panel, changed))
    for t in range(at):
        # The reward of a decision at bar t is earned by the close of bar t + 1.
        assert before[t]["reward"] == after[t]["reward"]
    for t in range(at + 1):
        assert (before[t]["observation"] == after[t]["observation"]).all()


@LAW
@given(seed=seeds, gaps=gap_shares, low=costs, high=costs)
def test_a_higher_cost_never_raises_equity_where_everything_trades(
    seed: int, gaps: float, low: float, high: float
) -> None:
    low, high = sorted((low, high))
    panel, targets = _panel(seed, 0.0), _targets(seed, 24)
    for cheap, dear in zip(_run(panel, targets, low), _run(panel, targets, high), strict=True):
        assert dear["equity"] <= cheap["equity"] * (1.0 + 1e-12)


@LAW
@given(seed=seeds, gaps=gap_shares, cost_bps=costs)
def test_a_cost_only_takes_away_from_the_step_it_is_paid_in(
    seed: int, gaps: float, cost_bps: float
) -> None:
    for row in _run(_panel(seed, gaps), _targets(seed, 24), cost_bps):
        assert row["cost"] >= 0.0
        assert row["reward"] <= row["terms"][0]


@LAW
@given(seed=seeds, gaps=gap_shares, order=st.permutations(range(3)))
def test_symbols_in_another_order_give_the_same_account_in_that_order(
    seed: int, gaps: float, order: list[int]
) -> None:
    panel, targets = _panel(seed, gaps), _targets(seed, 24)
    order = list(order)
    moved = replace(
        panel,
        symbols=tuple(panel.symbols[i] for i in order),
        **{
            name: getattr(panel, name)[:, order]
            for name in ("open", "close", "tradable", "features", "known")
        },
    )
    for a, b in zip(_run(panel, targets, 10.0), _run(moved, targets[:, order], 10.0), strict=True):
        assert math.isclose(a["equity"], b["equity"], rel_tol=1e-13)
        np.testing.assert_allclose(a["weights"][order], b["weights"], atol=1e-13)


@LAW
@given(seed=seeds, gaps=gap_shares, scale=st.floats(0.01, 100.0))
def test_prices_in_another_currency_change_no_return(seed: int, gaps: float, scale: float) -> None:
    panel = _panel(seed, gaps)
    dollars = replace(panel, open=panel.open * scale, close=panel.close * scale)
    a, b = (
        roll_out(
            "x",
            equal_weight,
            panel=p,
            window=Block(start=0, stop=25),
            environment=EnvironmentSpec(),
            episodes=3,
        )
        for p in (panel, dollars)
    )
    np.testing.assert_allclose(a.returns, b.returns, atol=1e-13)


@LAW
@given(seed=seeds, gaps=gap_shares)
def test_an_unknown_symbol_is_never_bought(seed: int, gaps: float) -> None:
    panel, targets = _panel(seed, gaps), _targets(seed, 24)
    shares = np.zeros(3)
    for t, row in enumerate(_ledger(panel, targets, 0.0)):
        marked = row["weights"] * row["equity"]
        fresh = (marked > 1e-12) & (shares == 0.0)
        assert not (fresh & ~panel.known[t]).any()
        shares = np.where(marked > 1e-12, 1.0, 0.0)
    ours = _run(panel, targets, 0.0)
    held = np.array([row["weights"] > 1e-12 for row in ours])
    started = held & ~np.vstack([np.zeros((1, 3), dtype=np.bool_), held[:-1]])
    assert not (started & ~panel.known[:24]).any()


@LAW
@given(seed=seeds, gaps=gap_shares, at=st.integers(10, 24))
def test_the_normaliser_never_sees_past_its_window(seed: int, gaps: float, at: int) -> None:
    panel, other = _panel(seed, gaps), _panel(seed + 1, gaps)
    if not panel.known[:at].any():
        return
    later = (np.arange(panel.n_bars) >= at)[:, None]
    known = np.where(later, other.known, panel.known) & panel.tradable
    features = np.where(later[:, :, None], other.features, panel.features) * known[:, :, None]
    changed = replace(panel, known=known, features=features)
    a, b = (fit_normalizer(p, Block(start=0, stop=at)) for p in (panel, changed))
    assert (a.mean == b.mean).all()
    assert (a.std == b.std).all()
