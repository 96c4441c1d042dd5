from __future__ import annotations

import math

import numpy as np
import pytest

from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.rehearsal.session import run_probe, run_session
from alphaswarm_assets.specs.paper import PaperSpec
from tests.unit.rehearsal.desks import (
    EVERYTHING,
    KEY,
    MONDAY,
    MemoryHalts,
    ScriptedDesk,
    SetClock,
    play,
)


def test_a_quiet_session_plays_every_episode_and_completes() -> None:
    desk = ScriptedDesk([[0.01, -0.02], [0.03]])
    session = play(desk, PaperSpec(max_episodes=2))
    assert session.status == "completed"
    assert session.halt is None
    assert session.rollback_events == ()
    assert [episode.end for episode in session.episodes] == ["completed", "completed"]
    np.testing.assert_array_equal(session.returns, [0.01, -0.02, 0.03])
    assert session.account.equity == pytest.approx(1.01 * 0.98 * 1.03)


def test_no_more_episodes_are_opened_than_the_spec_allows() -> None:
    desk = ScriptedDesk([[0.01]] * 10)
    session = play(desk, PaperSpec(max_episodes=3))
    assert (len(session.episodes), desk.n_opened) == (3, 3)


def test_a_desk_whose_window_is_used_up_completes_the_session() -> None:
    session = play(ScriptedDesk([[0.01]] * 2), PaperSpec(max_episodes=20))
    assert (session.status, len(session.episodes)) == ("completed", 2)


def test_a_desk_without_any_episode_gives_an_empty_session() -> None:
    session = play(ScriptedDesk([]))
    assert (session.status, session.episodes) == ("completed", ())
    assert session.returns.shape == (0,)


@pytest.mark.parametrize("key", [KEY, EVERYTHING])
def test_a_halt_that_stands_before_the_start_lets_no_episode_begin(key: str) -> None:
    desk = ScriptedDesk([[0.01]])
    session = play(desk, halts=MemoryHalts({key: "the desk is closed"}))
    assert (session.status, session.episodes, desk.n_opened) == ("halted", (), 0)
    assert session.halt is not None
    assert (session.halt.key, session.halt.reason) == (key, "the desk is closed")


def test_a_switch_that_cannot_be_read_lets_no_episode_begin() -> None:
    session = play(ScriptedDesk([[0.01]]), halts=MemoryHalts(broken=True))
    assert (session.status, session.episodes) == ("halted", ())


def test_a_halt_set_at_step_60_stops_the_episode_by_step_100() -> None:
    halts = MemoryHalts()
    taken: list[int] = []

    def brake_at_60(episode: int, step: int) -> None:
        taken.append(step)
        if step == 60:
            halts.engage(KEY, "look at this first")

    session = play(ScriptedDesk([[0.001] * 500], brake_at_60), halts=halts)
    assert session.status == "halted"
    assert len(session.episodes[0].returns) == len(taken) == 100
    assert session.episodes[0].end == "halted"


def test_a_halt_between_two_episodes_lets_no_other_begin() -> None:
    halts = MemoryHalts()

    def brake_in_the_second(episode: int, step: int) -> None:
        if episode == 1:
            halts.engage(EVERYTHING, "enough")

    session = play(ScriptedDesk([[0.01] * 10] * 5, brake_in_the_second), halts=halts)
    assert (session.status, len(session.episodes)) == ("halted", 2)
    assert session.episodes[1].end == "completed"


def test_a_halt_during_the_last_steps_of_the_last_episode_is_not_overlooked() -> None:
    halts = MemoryHalts()

    def brake_at_the_end(episode: int, step: int) -> None:
        if step == 9:
            halts.engage(KEY, "wait")

    desk = ScriptedDesk([[0.01] * 10], brake_at_the_end)
    assert play(desk, PaperSpec(max_episodes=1), halts=halts).status == "halted"


def test_a_halt_found_inside_an_episode_ends_the_session_even_if_it_is_released_at_once() -> None:
    class Flickering(MemoryHalts):
        def reason(self, key: str) -> str | None:
            super().reason(key)
            return "blink" if self.n_reads == 3 else None

    session = play(ScriptedDesk([[0.01] * 60] * 3), halts=Flickering())
    assert (session.status, len(session.episodes)) == ("halted", 1)
    assert len(session.episodes[0].returns) == 50


def test_the_switch_is_read_before_each_episode_and_every_50_steps() -> None:
    halts = MemoryHalts()
    play(ScriptedDesk([[0.001] * 120] * 2), PaperSpec(max_episodes=2), halts=halts)
    # Start, steps 50 and 100, between, steps 50 and 100, end: 7 looks at two keys each.
    assert halts.n_reads == 14


def test_time_that_runs_out_cuts_an_episode_at_the_next_50_steps() -> None:
    clock = SetClock()

    def a_second_a_step(episode: int, step: int) -> None:
        clock.elapsed_s += 1.0

    paper = PaperSpec(duration_seconds=130.0, max_episodes=5)
    session = play(ScriptedDesk([[0.001] * 80] * 5, a_second_a_step), paper, clock=clock)
    # 80 steps, then 50 more: 130 s are reached exactly at the second look.
    assert session.status == "timeout"
    assert [len(episode.returns) for episode in session.episodes] == [80, 50]
    assert session.episodes[1].end == "timeout"
    assert (session.ended - session.started).total_seconds() == 130.0
    assert session.started == MONDAY


def test_time_that_runs_out_between_episodes_opens_no_other() -> None:
    clock = SetClock()

    def ten_seconds_a_step(episode: int, step: int) -> None:
        clock.elapsed_s += 10.0

    paper = PaperSpec(duration_seconds=25.0, max_episodes=5)
    desk = ScriptedDesk([[0.001] * 2] * 5, ten_seconds_a_step)
    session = play(desk, paper, clock=clock)
    assert (session.status, len(session.episodes)) == ("timeout", 2)


def test_time_that_runs_out_after_the_last_step_has_cut_nothing() -> None:
    clock = SetClock()

    def ten_seconds_a_step(episode: int, step: int) -> None:
        clock.elapsed_s += 10.0

    paper = PaperSpec(duration_seconds=20.0, max_episodes=1)
    desk = ScriptedDesk([[0.001] * 2], ten_seconds_a_step)
    assert play(desk, paper, clock=clock).status == "completed"


def test_a_standing_halt_is_named_before_a_spent_clock() -> None:
    clock, halts = SetClock(), MemoryHalts()

    def both_at_once(episode: int, step: int) -> None:
        clock.elapsed_s += 100.0
        halts.engage(KEY, "stop")

    desk = ScriptedDesk([[0.001]] * 3, both_at_once)
    assert play(desk, PaperSpec(duration_seconds=1.0), halts=halts, clock=clock).status == "halted"


def test_a_loss_at_its_trigger_rolls_back_and_pulls_the_brake() -> None:
    halts = MemoryHalts()
    paper = PaperSpec(rollback_max_loss_pct=0.10, max_episodes=5)
    # 1 - 0.9 is 0.09999999999999998 in float64, and a loss of 10 %.
    session = play(ScriptedDesk([[0.0], [-0.1], [0.0]]), paper, halts=halts)
    assert (session.status, len(session.episodes)) == ("rolled_back", 2)
    assert halts.standing == {KEY: "rollback:max_loss_pct"}
    (event,) = session.rollback_events
    assert (event.trigger, event.threshold, event.episode, event.step) == (
        "max_loss_pct",
        0.10,
        1,
        2,
    )
    assert event.observed == pytest.approx(0.10)
    assert event.engaged


def test_a_loss_just_short_of_its_trigger_does_not_roll_back() -> None:
    session = play(ScriptedDesk([[-0.0999999]]), PaperSpec(rollback_max_loss_pct=0.10))
    assert session.status == "completed"


def test_a_drawdown_is_counted_over_the_episodes_from_the_peak_of_the_session() -> None:
    paper = PaperSpec(rollback_max_drawdown=0.15)
    # Up 25 %, then twice down 10 %: 19 % from the peak although no episode loses more than 10 %, and above the start.
    session = play(ScriptedDesk([[0.25], [-0.1], [-0.1], [0.5]]), paper)
    assert (session.status, len(session.episodes)) == ("rolled_back", 3)
    assert session.rollback_events[0].observed == pytest.approx(0.19)
    assert session.account.loss < 0.0


def test_a_drawdown_that_has_recovered_within_its_episode_still_fires() -> None:
    session = play(ScriptedDesk([[-0.2, 0.5]]), PaperSpec(rollback_max_drawdown=0.2))
    assert session.status == "rolled_back"


def test_two_triggers_at_once_are_two_events_and_the_drawdown_names_the_halt() -> None:
    halts = MemoryHalts()
    paper = PaperSpec(rollback_max_drawdown=0.1, rollback_max_loss_pct=0.1)
    session = play(ScriptedDesk([[-0.5]]), paper, halts=halts)
    assert [event.trigger for event in session.rollback_events] == ["max_drawdown", "max_loss_pct"]
    assert halts.standing[KEY] == "rollback:max_drawdown"


def test_an_operators_halt_is_never_overwritten_by_a_rollback() -> None:
    halts = MemoryHalts()

    def brake_inside(episode: int, step: int) -> None:
        halts.engage(KEY, "operator: maintenance")

    paper = PaperSpec(rollback_max_drawdown=0.1)
    session = play(ScriptedDesk([[-0.5]], brake_inside), paper, halts=halts)
    assert session.status == "halted"
    assert halts.standing == {KEY: "operator: maintenance"}
    assert session.halt is not None
    assert session.halt.reason == "operator: maintenance"
    assert not session.rollback_events[0].engaged


def test_a_rollback_that_engages_its_own_key_dominates_a_halt_on_another() -> None:
    halts = MemoryHalts()

    def brake_everything(episode: int, step: int) -> None:
        halts.engage(EVERYTHING, "operator: closing")

    paper = PaperSpec(rollback_max_drawdown=0.1)
    session = play(ScriptedDesk([[-0.5]], brake_everything), paper, halts=halts)
    assert session.status == "rolled_back"
    assert halts.standing[EVERYTHING] == "operator: closing"


def test_a_rollback_dominates_time_that_ran_out_in_the_same_episode() -> None:
    clock = SetClock()

    def a_second_a_step(episode: int, step: int) -> None:
        clock.elapsed_s += 1.0

    paper = PaperSpec(rollback_max_drawdown=0.1, duration_seconds=50.0)
    desk = ScriptedDesk([[-0.01] * 80], a_second_a_step)
    assert play(desk, paper, clock=clock).status == "rolled_back"


def test_a_brake_that_cannot_be_pulled_still_stops_the_session() -> None:
    halts = MemoryHalts()

    def switch_breaks(episode: int, step: int) -> None:
        halts.broken = True

    paper = PaperSpec(rollback_max_drawdown=0.1)
    session = play(ScriptedDesk([[-0.5], [0.1]], switch_breaks), paper, halts=halts)
    assert (session.status, len(session.episodes)) == ("halted", 1)
    assert session.halt is not None
    assert session.halt.reason.startswith("rollback:max_drawdown could not be set")
    assert not session.rollback_events[0].engaged


@pytest.mark.parametrize("wiped_out", [-1.0, -1.7])
def test_ruin_rolls_back_at_once_without_any_trigger(wiped_out: float) -> None:
    halts = MemoryHalts()
    session = play(ScriptedDesk([[0.1, wiped_out, 5.0], [0.1]]), halts=halts)
    assert session.status == "rolled_back"
    assert session.episodes[0].end == "ruined"
    assert len(session.episodes[0].returns) == 2
    assert (session.account.equity, session.account.drawdown) == (0.0, 1.0)
    assert halts.standing[KEY] == "rollback:max_loss_pct"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_return_that_is_not_finite_is_an_error_that_names_its_place(value: float) -> None:
    with pytest.raises(InvalidInputError, match=r"must be finite, was .* in episode 1 at step 2"):
        play(ScriptedDesk([[0.0], [0.0, 0.0, value]]))


def test_equity_beyond_a_float64_is_an_error() -> None:
    with pytest.raises(InvalidInputError, match="session equity must fit a float64"):
        play(ScriptedDesk([[1e200, 1e200]]))


def test_an_episode_without_a_step_is_an_error_that_names_it() -> None:
    with pytest.raises(InvalidInputError, match="episode 1 had none"):
        play(ScriptedDesk([[0.0], []]))


@pytest.mark.parametrize("keys", [(), "demo-0123456789ab"])
def test_a_session_nobody_could_halt_does_not_start(keys: str | tuple[str, ...]) -> None:
    desk = ScriptedDesk([[0.0]])
    with pytest.raises(InvalidInputError, match="halt_keys"):
        run_session(
            desk=desk, paper=PaperSpec(), halts=MemoryHalts(), halt_keys=keys, clock=SetClock()
        )
    assert desk.n_opened == 0


def test_counters_are_summed_over_the_episodes() -> None:
    counters = {
        "hard_breach_count": 1,
        "pretrade_reject_count": np.int64(2),
        "order_submit_count": 40,
    }
    session = play(ScriptedDesk([[0.0]] * 3, counters=counters))
    assert session.counters.hard_breach_count == 3
    assert session.counters.pretrade_reject_count == 6
    assert session.counters.order_submit_count == 120


def test_a_desk_without_a_gateway_has_no_counts() -> None:
    session = play(ScriptedDesk([[0.0]] * 3))
    assert session.counters.hard_breach_count is None
    assert session.counters.order_submit_count is None


@pytest.mark.parametrize("value", [-1, True, 1.0, "3"])
def test_a_counter_that_is_no_count_is_an_error(value: object) -> None:
    counters = {"hard_breach_count": value}
    with pytest.raises(
        InvalidInputError, match=r"hard_breach_count must be an integer .* after episode 0"
    ):
        play(ScriptedDesk([[0.0]], counters=counters))


def test_a_probe_is_one_episode_that_no_clock_and_no_loss_bounds() -> None:
    clock, halts = SetClock(), MemoryHalts()

    def a_day_a_step(episode: int, step: int) -> None:
        clock.elapsed_s += 86_400.0

    desk = ScriptedDesk([[-0.3] * 60] * 4, a_day_a_step)
    session = run_probe(desk=desk, halts=halts, halt_keys=[KEY], clock=clock)
    assert (session.status, desk.n_opened) == ("completed", 1)
    assert len(session.returns) == 60
    assert halts.standing == {}


def test_a_probe_honours_the_halt_switch() -> None:
    halts = MemoryHalts({KEY: "no"})
    session = run_probe(desk=ScriptedDesk([[0.1]]), halts=halts, halt_keys=[KEY], clock=SetClock())
    assert (session.status, session.episodes) == ("halted", ())
