from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphaswarm_assets.records.canonical import canonical_json
from alphaswarm_assets.rehearsal.acceptance import accept
from alphaswarm_assets.rehearsal.pack import build_pack
from alphaswarm_assets.rehearsal.triggers import Account
from alphaswarm_assets.specs.paper import PaperSpec
from alphaswarm_assets.statistics.performance import max_drawdown, total_return
from alphaswarm_assets.statistics.undefined import Measured, Undefined
from tests.unit.rehearsal.desks import KEY, MemoryHalts, ScriptedDesk, play

returns = st.floats(-0.5, 0.5)
episodes = st.lists(st.lists(returns, min_size=1, max_size=12), min_size=1, max_size=8)
shares = st.floats(0.01, 1.0)


def number(value: Measured) -> float:
    assert not isinstance(value, Undefined)
    return value


@given(episodes)
def test_equity_is_the_product_of_the_episodes_growth(script: list[list[float]]) -> None:
    session = play(ScriptedDesk(script))
    growth = math.prod(1.0 + number(total_return(episode.returns)) for episode in session.episodes)
    assert session.account.equity == pytest.approx(growth, rel=1e-12)


@given(episodes)
def test_the_account_agrees_with_the_statistics_of_all_returns(script: list[list[float]]) -> None:
    account = Account()
    for episode in script:
        account = account.after(np.array(episode))
    everything = np.array([value for episode in script for value in episode])
    assert account.loss == pytest.approx(-number(total_return(everything)), abs=1e-12)
    assert account.drawdown == pytest.approx(number(max_drawdown(everything)), abs=1e-12)


@given(episodes, shares, shares)
def test_a_tighter_trigger_never_lets_a_session_run_longer(
    script: list[list[float]], one: float, other: float
) -> None:
    tight, loose = sorted((one, other))
    for name in ("rollback_max_drawdown", "rollback_max_loss_pct"):
        sooner = play(ScriptedDesk(script), PaperSpec.model_validate({name: tight}))
        later = play(ScriptedDesk(script), PaperSpec.model_validate({name: loose}))
        assert len(sooner.episodes) <= len(later.episodes)


@given(episodes, shares)
def test_a_session_goes_on_only_while_its_drawdown_is_below_the_trigger(
    script: list[list[float]], trigger: float
) -> None:
    session = play(ScriptedDesk(script), PaperSpec(rollback_max_drawdown=trigger))
    account = Account()
    for episode in session.episodes[:-1]:
        account = account.after(episode.returns)
        assert account.drawdown < trigger
    assert (session.status == "rolled_back") == (session.account.drawdown >= trigger - 1e-12)


@given(episodes, shares)
def test_what_rolled_back_is_never_accepted(script: list[list[float]], trigger: float) -> None:
    paper = PaperSpec(rollback_max_drawdown=trigger)
    session = play(ScriptedDesk(script), paper)
    assert accept(session, paper).passed == (session.status == "completed")


@given(st.integers(1, 400), st.integers(0, 500))
def test_a_halt_costs_at_most_fifty_steps(n_steps: int, at: int) -> None:
    halts = MemoryHalts()

    def brake(episode: int, step: int) -> None:
        if step == at:
            halts.engage(KEY, "stop")

    session = play(ScriptedDesk([[0.0] * n_steps] * 3, brake), halts=halts)
    if at < n_steps:
        assert session.status == "halted"
        assert len(session.episodes) == 1
        # Step numbers start at 0: the step under way and 49 more.
        assert at + 1 <= len(session.returns) <= at + 50
    else:
        assert session.status == "completed"


@given(episodes, st.floats(0.0, 1.0), st.floats(0.0, 0.2))
def test_a_stricter_criterion_never_accepts_what_a_laxer_one_refused(
    script: list[list[float]], threshold: float, stricter_by: float
) -> None:
    session = play(ScriptedDesk(script))
    strict = accept(session, PaperSpec(max_drawdown=max(0.0, threshold - stricter_by))).passed
    lax = accept(session, PaperSpec(max_drawdown=threshold)).passed
    assert lax or not strict


@given(episodes)
def test_the_same_script_gives_the_same_content(script: list[list[float]]) -> None:
    paper = PaperSpec(max_drawdown=0.2, rollback_max_drawdown=0.5)
    packs = [
        build_pack(
            session=play(ScriptedDesk(script), paper),
            paper=paper,
            spec_hash="a" * 64,
            checkpoint="b" * 64,
            seed=1,
            seeds=(1, 2),
        )[0]
        for _ in range(2)
    ]
    assert canonical_json(packs[0]) == canonical_json(packs[1])
