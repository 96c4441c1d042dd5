from __future__ import annotations

import copy
import math
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest

from alphaswarm_assets.arrays import Float32Array
from alphaswarm_assets.errors import InvalidInputError, MarketDataError
from alphaswarm_assets.learning.evaluation import (
    Rollout,
    cut_episodes,
    evaluate_baselines,
    evaluate_ensemble,
    evaluate_policies,
    roll_out,
)
from alphaswarm_assets.learning.normalizer import fit_normalizer
from alphaswarm_assets.learning.policy import Policy, initial_parameters, parameter_shapes
from alphaswarm_assets.learning.traders import BASELINES
from alphaswarm_assets.markets.panel import Block, Panel
from alphaswarm_assets.specs.environment import EnvironmentSpec
from alphaswarm_assets.streams import Streams

MakePanel: TypeAlias = Callable[..., Panel]

WINDOW = Block(start=60, stop=117)


def _policies(panel: Panel, names: Sequence[str] = ("one", "two")) -> list[Policy]:
    shapes = parameter_shapes(
        panel.n_symbols * len(panel.feature_names) + 2 * panel.n_symbols + 1, (8,), panel.n_symbols
    )

    def parameters(name: str) -> dict[str, Float32Array]:
        made = initial_parameters(shapes, initial_log_std=-0.5, random=Streams(1).generator(name))
        return {k: v * np.float32(30.0 if k == "actor.1.weight" else 1.0) for k, v in made.items()}

    return [
        Policy(
            symbols=panel.symbols,
            hidden_sizes=(8,),
            normalizer=fit_normalizer(panel, Block(start=0, stop=60)),
            parameters=parameters(name),
        )
        for name in names
    ]


def _evaluate(
    panel: Panel,
    policies: Sequence[Policy] | None = None,
    *,
    episodes: int = 4,
    window: Block = WINDOW,
    **environment: Any,
) -> list[Rollout]:
    policies = _policies(panel) if policies is None else policies
    arguments = (panel, window, EnvironmentSpec(**environment), episodes)
    return [
        *evaluate_policies(policies, *arguments),
        evaluate_ensemble(policies, *arguments),
        *evaluate_baselines(*arguments),
    ]


def _one(
    panel: Panel, name: str, *, episodes: int = 1, window: Block = WINDOW, **environment: Any
) -> Rollout:
    return roll_out(
        name,
        BASELINES[name],
        panel=panel,
        window=window,
        environment=EnvironmentSpec(**environment),
        episodes=episodes,
    )


def test_there_is_a_row_for_each_policy_the_ensemble_and_each_baseline(walk: MakePanel) -> None:
    labels = [row.label for row in _evaluate(walk())]
    assert labels == [
        "policy[0]",
        "policy[1]",
        "ensemble",
        "equal_weight",
        "do_nothing",
        "buy_and_hold_equal",
    ]


def test_evaluation_changes_nothing_and_gives_the_same_bits_twice(walk: MakePanel) -> None:
    panel = walk(gaps=0.1)
    policies = _policies(panel)
    before = copy.deepcopy((panel, policies))
    first, again = (_evaluate(panel, policies) for _ in range(2))
    for name, array in before[0].tensors().items():
        assert array.tobytes() == panel.tensors()[name].tobytes()
    for old, new in zip(before[1], policies, strict=True):
        assert old.normalizer.mean.tobytes() == new.normalizer.mean.tobytes()
        for name, array in old.parameters.items():
            assert array.tobytes() == new.parameters[name].tobytes()
    for a, b in zip(first, again, strict=True):
        assert a.returns.tobytes() == b.returns.tobytes()
        assert a.weights.tobytes() == b.weights.tobytes()


def test_episodes_are_disjoint_start_flat_and_leave_the_remainder_unused(walk: MakePanel) -> None:
    panel = walk()
    row = _evaluate(panel, episodes=4)[0]
    # 57 bars make four episodes of 14; each gives 13 returns, and one bar is left over.
    assert cut_episodes(WINDOW, 4)[1] == Block(start=74, stop=88)
    assert (row.episode_lengths, row.bars_unused, len(row.returns)) == ((13,) * 4, 1, 52)
    expected = [panel.session[60 + 14 * i + 1 + t] for i in range(4) for t in range(13)]
    assert row.session.tolist() == expected
    assert row.equity[0] == 1.0 + row.returns[0]
    assert row.equity[-1] == pytest.approx(np.prod(1.0 + row.returns), rel=1e-14)


def test_an_episode_is_what_it_would_be_alone(walk: MakePanel) -> None:
    panel = walk(gaps=0.1)
    together = _evaluate(panel, episodes=3)
    for i, part in enumerate(cut_episodes(WINDOW, 3)):
        alone = _evaluate(panel, episodes=1, window=part)
        for whole, single in zip(together, alone, strict=True):
            steps = slice(18 * i, 18 * (i + 1))
            assert (whole.returns[steps] == single.returns).all(), whole.label
            assert (whole.weights[steps] == single.weights).all(), whole.label


def test_reward_terms_add_up_to_the_log_of_the_final_equity(walk: MakePanel) -> None:
    for row in _evaluate(walk(gaps=0.1), cost_bps=25.0, turnover_penalty_bps=5.0):
        log_equity = row.reward_terms["holding"] + row.reward_terms["cost"]
        assert log_equity == pytest.approx(math.log(row.equity[-1]), abs=1e-13)
        fine = -5e-4 * row.turnover_one_way.sum()
        assert row.reward_terms["turnover_penalty"] == pytest.approx(fine, abs=1e-13)
        assert row.reward_terms["cost"] == pytest.approx(np.log1p(-row.cost).sum(), abs=1e-13)


def test_doing_nothing_earns_and_costs_nothing(walk: MakePanel) -> None:
    row = _one(walk(gaps=0.1), "do_nothing", episodes=3)
    assert not row.returns.any()
    assert not row.cost.any()
    assert set(row.equity.tolist()) == {1.0}


def test_buy_and_hold_trades_once_an_episode_and_holds_shares(panel_of: MakePanel) -> None:
    # By hand: half in each at 10 and 20 less 1 %, then 11 and 18, 15 and 30.
    close = np.array([[9.0, 19.0], [11.0, 18.0], [15.0, 30.0]])
    open_ = np.array([[9.0, 19.0], [10.0, 20.0], [14.0, 25.0]])
    row = _one(
        panel_of(open_, close), "buy_and_hold_equal", window=Block(start=0, stop=3), cost_bps=100.0
    )
    first = 0.99 * (0.5 * 11 / 10 + 0.5 * 18 / 20)
    second = 0.99 * (0.5 * 15 / 10 + 0.5 * 30 / 20)
    np.testing.assert_allclose(row.equity, [first, second], rtol=1e-14)
    assert row.turnover_one_way.tolist() == [1.0, 0.0]
    assert row.cost[1] == 0.0


def test_buy_and_hold_waits_for_the_first_known_symbol_and_buys_no_later_one(
    panel_of: MakePanel,
) -> None:
    price = np.full((6, 2), 10.0)
    known = np.ones((6, 2), dtype=np.bool_)
    known[:2] = False
    known[2, 1] = False
    row = _one(
        panel_of(price, price, known=known), "buy_and_hold_equal", window=Block(start=0, stop=6)
    )
    np.testing.assert_allclose(row.weights, [[0, 0], [0, 0], [1, 0], [1, 0], [1, 0]], atol=1e-15)
    assert row.orders_unfilled == 0


def test_equal_weight_rebalances_over_what_is_known(panel_of: MakePanel) -> None:
    close = np.array([[10.0, 10.0], [10.0, 10.0], [10.0, 10.0], [20.0, 10.0]])
    known = np.ones((4, 2), dtype=np.bool_)
    known[0, 1] = False
    row = _one(panel_of(close, close, known=known), "equal_weight", window=Block(start=0, stop=4))
    np.testing.assert_allclose(row.weights, [[1.0, 0.0], [0.5, 0.5], [0.5, 0.5]], rtol=1e-15)
    # At the third open two thirds are in A, after it doubled overnight: a sixth is sold and bought.
    held = np.array([0.5 * 2, 0.5]) / 1.5
    np.testing.assert_allclose(row.turnover_one_way, [1.0, 0.5, abs(held[0] - 0.5)], rtol=1e-14)


def test_the_ensemble_is_an_actor_of_its_own_and_no_average_of_returns(walk: MakePanel) -> None:
    first, second, ensemble = _evaluate(walk())[:3]
    average = (first.returns + second.returns) / 2
    assert np.abs(ensemble.returns - average).max() > 1e-6
    one, again, twins = _evaluate(walk(), _policies(walk(), ("one", "one")))[:3]
    assert (one.returns == again.returns).all()
    assert (one.returns == twins.returns).all()


def test_more_episodes_than_bars_allow_is_refused_naming_the_field(walk: MakePanel) -> None:
    with pytest.raises(MarketDataError, match=r"evaluation.episodes 40 cuts a block of 57 bars"):
        _evaluate(walk(), episodes=40)


def test_a_policy_of_other_symbols_is_refused(walk: MakePanel) -> None:
    with pytest.raises(InvalidInputError, match=r"policy\[0\] was trained on the symbols"):
        _evaluate(walk(n_symbols=4), _policies(walk()))


def test_measuring_needs_no_torch() -> None:
    code = (
        "import sys, alphaswarm_assets.learning.evaluation, alphaswarm_assets.learning.checkpoint;"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
