from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest

from alphaswarm_assets.arrays import Float64Array
from alphaswarm_assets.errors import InvalidInputError, MarketDataError
from alphaswarm_assets.learning.environment import REWARD_TERMS, PortfolioVectorEnv
from alphaswarm_assets.learning.normalizer import Normalizer, fit_normalizer
from alphaswarm_assets.learning.observation import observe
from alphaswarm_assets.learning.policy import weights_from_logits
from alphaswarm_assets.markets.panel import Block, Panel
from alphaswarm_assets.specs.environment import EnvironmentSpec
from alphaswarm_assets.streams import Streams

MakePanel: TypeAlias = Callable[..., Panel]


def _env(
    panel: Panel,
    *,
    starts: Sequence[int] = (0,),
    window: Block | None = None,
    normalizer: Normalizer | None = None,
    episode_bars: int | None = None,
    **environment: Any,
) -> PortfolioVectorEnv:
    window = window or Block(start=0, stop=panel.n_bars)
    env = PortfolioVectorEnv(
        panel=panel,
        window=window,
        environment=EnvironmentSpec(**environment),
        n_envs=len(starts),
        normalizer=normalizer,
        episode_bars=episode_bars,
    )
    env.reset(np.array(starts))
    return env


def _row(*weights: float) -> Float64Array:
    return np.array([weights], dtype=np.float64)


def test_a_decision_at_a_close_is_filled_at_the_next_open(panel_of: MakePanel) -> None:
    # By hand: bought at 12, worth 15 at that bar's close, 18 at the next one's; 1 % of 1 is paid for getting in.
    panel = panel_of(np.array([[8.0], [12.0], [16.0]]), np.array([[10.0], [15.0], [18.0]]))
    env = _env(panel, cost_bps=100.0)
    assert env.step(_row(1.0)).equity[0] == pytest.approx(0.99 * 15 / 12, rel=1e-15)
    result = env.step(_row(1.0))
    assert result.equity[0] == pytest.approx(0.99 * 18 / 12, rel=1e-15)
    assert result.cost[0] == 0.0
    assert result.done[0]


def test_holding_if_the_close_rose_loses_a_quarter_and_does_not_gain_half(
    panel_of: MakePanel,
) -> None:
    # Case c15: at the same close the signal makes +46.7 %, at the next open -25.0 %.
    open_ = np.array([10.0, 10.0, 12.0, 9.0, 9.0, 11.0])[:, None]
    close = np.array([10.0, 12.0, 9.0, 9.0, 11.0, 11.0])[:, None]
    env = _env(panel_of(open_, close), cost_bps=0.0)
    for t in range(5):
        rose = t > 0 and close[t, 0] > close[t - 1, 0]
        env.step(_row(float(rose)))
    assert env.books.equity[0] == pytest.approx(0.75, rel=1e-15)


def test_a_halted_symbol_is_held_through_the_halt_and_sold_at_the_first_open_after(
    panel_of: MakePanel,
) -> None:
    # Case c23: bought at 9.8, three bars without trade, sold at 7.0.
    open_ = np.array([10.2, 9.8, 9.8, 9.8, 9.8, 7.0, 7.2])[:, None]
    close = np.array([10.0, 9.8, 9.8, 9.8, 9.8, 7.2, 7.1])[:, None]
    tradable = np.array([1, 1, 0, 0, 0, 1, 1], dtype=np.bool_)[:, None]
    env = _env(panel_of(open_, close, tradable), cost_bps=0.0)
    env.step(_row(1.0))
    for _ in range(3):
        result = env.step(_row(0.0))
        assert (result.equity[0], result.turnover_one_way[0]) == (1.0, 0.0)
    assert env.books.orders.unfilled == 3
    assert env.step(_row(0.0)).equity[0] == pytest.approx(7.0 / 9.8, rel=1e-15)
    assert env.books.weights[0, 0] == 0.0


def test_a_symbol_without_a_price_yet_costs_nothing_and_changes_no_shape(
    panel_of: MakePanel,
) -> None:
    # Case c13, after its panel: GIS trades all along, QEP lists on the fourth day, STR falls by two thirds on it.
    gis, qep, str_ = (
        [37.4, 36.9, 34.95, 35.52, 35.42, 35.81],
        [1.0, 1.0, 1.0, 29.31, 29.02, 28.18],
        [47.54, 45.11, 45.49, 15.22, 15.19, 15.43],
    )
    close = np.array([gis, qep, str_]).T
    tradable = np.ones((6, 3), dtype=np.bool_)
    tradable[:3, 1] = False
    env = _env(panel_of(close, close, tradable), cost_bps=0.0)
    sizes = {env.observation.shape}
    for _ in range(5):
        result = env.step(_row(0.3, 0.4, 0.3))
        sizes.add(result.observation.shape)
    assert sizes == {(1, 3 + 3 + 3 + 1)}
    # Asked for at the closes of days 1 to 3, when it was not known (on the last of these it could have filled).
    assert env.books.orders.cut == 1
    assert env.books.orders.unfilled == 2


def test_targets_share_what_an_untradable_position_leaves(panel_of: MakePanel) -> None:
    price = np.full((4, 3), 10.0)
    tradable = np.ones((4, 3), dtype=np.bool_)
    tradable[2, 0] = False
    env = _env(panel_of(price, price, tradable), cost_bps=0.0)
    env.step(_row(0.6, 0.0, 0.0))
    env.step(_row(0.0, 0.75, 0.25))
    np.testing.assert_allclose(env.books.weights[0], [0.6, 0.3, 0.1], rtol=1e-15)
    assert env.books.cash[0] == pytest.approx(0.0, abs=1e-16)


def test_an_order_to_sell_an_unknown_symbol_is_filled_and_one_to_buy_is_cut(
    panel_of: MakePanel,
) -> None:
    price = np.full((4, 2), 10.0)
    tradable = np.ones((4, 2), dtype=np.bool_)
    known = tradable.copy()
    known[1] = False
    env = _env(panel_of(price, price, tradable, known), cost_bps=0.0)
    env.step(_row(0.5, 0.2))
    env.step(_row(0.1, 0.9))
    np.testing.assert_allclose(env.books.weights[0], [0.1, 0.2], rtol=1e-15)
    assert env.books.orders.cut == 1


def test_a_target_that_is_held_already_costs_nothing(walk: MakePanel) -> None:
    env = _env(walk(), cost_bps=50.0)
    env.step(_row(0.5, 0.3, 0.1))
    held = env.books.weights * env.tape.overnight[env.bar + 1]
    held /= held.sum() + env.books.cash[0]
    result = env.step(held)
    assert result.cost[0] == pytest.approx(0.0, abs=1e-16)
    assert result.terms[1][0] == pytest.approx(0.0, abs=1e-16)


def test_a_full_rotation_turns_over_once_and_pays_both_sides(panel_of: MakePanel) -> None:
    price = np.full((3, 2), 10.0)
    env = _env(panel_of(price, price), cost_bps=100.0)
    env.step(_row(1.0, 0.0))
    result = env.step(_row(0.0, 1.0))
    assert result.turnover_one_way[0] == pytest.approx(1.0, rel=1e-15)
    assert math.exp(result.terms[1][0]) == pytest.approx(0.98, rel=1e-15)


def test_the_turnover_penalty_is_in_the_reward_and_never_in_the_equity(walk: MakePanel) -> None:
    plain, fined = (_env(walk(), turnover_penalty_bps=bps) for bps in (None, 40.0))
    for _ in range(10):
        weights = _row(0.2, 0.2, 0.6)
        a, b = plain.step(weights), fined.step(weights)
        assert a.equity[0] == b.equity[0]
        assert b.terms[2][0] == -40e-4 * b.turnover_one_way[0]
        assert b.reward[0] == a.terms[0][0] + a.terms[1][0] + b.terms[2][0]


def test_the_terms_are_named_and_add_up_to_the_log_growth(walk: MakePanel) -> None:
    env = _env(walk(gaps=0.2), starts=(0, 5), cost_bps=30.0, episode_bars=60)
    before = np.ones(2)
    for i in range(60):
        result = env.step(np.tile([0.3, 0.3, 0.3 * (i % 2)], (2, 1)))
        assert (result.terms.sum(axis=0) == result.reward).all()
        np.testing.assert_allclose(result.reward, np.log(result.equity / before), atol=1e-15)
        before = result.equity.copy()
    assert REWARD_TERMS == ("holding", "cost", "turnover_penalty")


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([[0.1, 0.1, 0.1], [0.5, math.nan, 0.1]], "was .*nan.* for B in environment 1"),
        ([[0.1, -0.1, 0.1], [0.5, 0.1, 0.1]], "was .*-0.1.* for B in environment 0"),
        ([[0.1, 0.1, math.inf], [0.5, 0.1, 0.1]], "was .*inf.* for C in environment 0"),
        (
            [[0.1, 0.1, 0.1], [0.5, 0.1, 0.7]],
            "at most 1, was .*1.29.* in environment 1, of which C",
        ),
    ],
    ids=["not a number", "short", "infinite", "more than there is"],
)
def test_a_target_that_cannot_be_is_refused_naming_environment_and_symbol(
    walk: MakePanel, weights: list[list[float]], said: str
) -> None:
    env = _env(walk(), starts=(0, 1), episode_bars=10)
    with pytest.raises(InvalidInputError, match=said):
        env.step(np.array(weights))


def test_targets_that_add_up_to_one_but_for_rounding_leave_no_cash_and_no_debt(
    walk: MakePanel,
) -> None:
    env = _env(walk(), cost_bps=0.0)
    env.step(_row(0.5, 0.25, 0.25 + 5e-10))
    assert env.books.cash[0] == 0.0
    assert env.books.filled.sum() == pytest.approx(1.0, abs=1e-15)


def test_a_reset_forgets_positions_equity_and_orders(walk: MakePanel) -> None:
    env = _env(walk(gaps=0.5))
    for _ in range(20):
        env.step(_row(0.3, 0.3, 0.3))
    assert env.books.orders.cut > 0
    env.reset(np.array([0]))
    assert (env.books.orders.cut, env.books.orders.unfilled) == (0, 0)
    assert (env.books.equity[0], env.books.weights.sum(), env.bar[0]) == (1.0, 0.0, 0)


def test_targets_of_another_shape_are_refused(walk: MakePanel) -> None:
    with pytest.raises(InvalidInputError, match=r"shape \(1, 3\), was \(1, 2\)"):
        _env(walk()).step(_row(0.5, 0.5))


def test_cash_never_turns_negative_however_dear_the_trading(walk: MakePanel) -> None:
    # Case c46: everything is asked for, turned round every bar, at the highest cost a spec allows.
    env = _env(walk(gaps=0.3), cost_bps=1000.0)
    for i in range(100):
        result = env.step(np.eye(3)[[i % 3]])
        assert env.books.cash[0] >= 0.0
        assert (env.books.weights >= 0.0).all()
        assert env.books.weights.sum() + env.books.cash[0] == pytest.approx(1.0, abs=1e-15)
        assert result.equity[0] > 0.0


def test_a_window_of_one_bar_is_refused(walk: MakePanel) -> None:
    with pytest.raises(MarketDataError, match="at least 2 bars"):
        _env(walk(), window=Block(start=3, stop=4))


def test_a_window_beyond_the_panel_is_refused(walk: MakePanel) -> None:
    with pytest.raises(InvalidInputError, match="must lie in the panel's 120 bars"):
        _env(walk(), window=Block(start=3, stop=121))


def test_prices_no_market_has_are_refused_by_name(panel_of: MakePanel) -> None:
    price = np.array([[10.0, 10.0], [10.0, 1e-12], [10.0, 10.0]])
    with pytest.raises(MarketDataError, match="for B at bar 1"):
        _env(panel_of(price, price))


def test_a_window_shorter_than_an_episode_gives_the_longest_that_fits(walk: MakePanel) -> None:
    env = _env(walk(n_bars=30), episode_bars=252)
    assert env.episode_bars == 29


def test_a_fixed_episode_ends_once_and_a_further_step_is_refused(walk: MakePanel) -> None:
    env = _env(walk(), starts=(10, 40), episode_bars=2)
    env.step(np.zeros((2, 3)))
    assert env.step(np.zeros((2, 3))).done.all()
    with pytest.raises(InvalidInputError, match="call reset"):
        env.step(np.zeros((2, 3)))


def test_a_start_without_room_for_an_episode_is_refused(walk: MakePanel) -> None:
    with pytest.raises(InvalidInputError, match=r"starts must be 1 bars in \[0, 109\]"):
        _env(walk(), starts=(110,), episode_bars=10)


def test_training_episodes_restart_flat_and_hand_over_their_last_observation(
    walk: MakePanel,
) -> None:
    panel = walk()
    env = _env(panel, starts=(0,) * 8, episode_bars=5)
    env.reset(Streams(1).generator("episodes"))
    first_bars = env.bar.copy()
    for _ in range(4):
        assert not env.step(np.full((8, 3), 0.25)).done.any()
    result = env.step(np.full((8, 3), 0.25))
    assert result.done.all()
    assert not result.terminated.any()
    assert (env.books.equity == 1.0).all()
    assert (env.books.weights == 0.0).all()
    assert (result.equity != 1.0).all()
    # The last observation is of the bar the episode ended at, with the weights it ended with.
    assert (
        result.final_observation[:, 0] == panel.features[first_bars + 5, 0, 0].astype(np.float32)
    ).all()
    assert (result.final_observation[:, -4:-1].sum(axis=1) > 0.5).all()
    assert (result.observation[:, -1] == 1.0).all()


def test_random_starts_reach_every_bar_an_episode_can_start_at(walk: MakePanel) -> None:
    env = _env(walk(n_bars=12), starts=(0,) * 500, episode_bars=5)
    env.reset(Streams(3).generator("episodes"))
    assert sorted(set(env.bar.tolist())) == list(range(7))


def test_ruin_ends_a_training_episode_for_good(walk: MakePanel) -> None:
    panel = walk(n_bars=400)
    env = _env(panel, starts=(0,), cost_bps=1000.0, episode_bars=300)
    env.reset(Streams(1).generator("episodes"))
    # A full rotation takes a fifth of what is there, so that a hundred of them take all but a billionth.
    ended = next(r for i in range(299) if (r := env.step(np.eye(3)[[i % 3]])).done[0])
    assert ended.terminated[0]
    assert ended.equity[0] < 1e-9
    assert len(ended.final_observation) == 1
    assert env.books.equity[0] == 1.0


def test_what_the_environment_shows_is_what_a_policy_makes_of_its_inputs(walk: MakePanel) -> None:
    panel = walk(gaps=0.1)
    normalizer = fit_normalizer(panel, Block(start=0, stop=80))
    env = _env(panel, starts=(3, 50), normalizer=normalizer, episode_bars=20)
    for _ in range(20):
        np.testing.assert_allclose(env.observation, observe(*env.inputs(), normalizer), atol=1e-7)
        env.step(weights_from_logits(np.ones((2, 4)), env.known()))


def test_a_state_that_is_restored_goes_on_bit_for_bit(walk: MakePanel) -> None:
    env, other = (_env(walk(gaps=0.1), starts=(0, 7), episode_bars=50) for _ in range(2))
    for _ in range(11):
        env.step(np.full((2, 3), 0.3))
    other.restore(env.state())
    for _ in range(11):
        a, b = env.step(np.full((2, 3), 0.3)), other.step(np.full((2, 3), 0.3))
        assert (a.reward == b.reward).all()
        assert (a.observation == b.observation).all()


def test_the_books_of_one_portfolio_do_not_depend_on_the_others_beside_it(walk: MakePanel) -> None:
    panel = walk(gaps=0.1)
    many = _env(panel, starts=tuple(range(20)), episode_bars=40)
    one = _env(panel, starts=(13,), episode_bars=40)
    random = Streams(5).generator("targets")
    for _ in range(40):
        weights = random.dirichlet(np.ones(4), size=20)[:, :3]
        rewards = many.step(weights).reward.copy()
        assert rewards[13] == one.step(weights[13:14]).reward[0]
