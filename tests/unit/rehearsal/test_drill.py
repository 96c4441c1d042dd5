"""The drill to run before a release train is relied on: a lossy window, a tight trigger, the real brake."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np

from alphaswarm_assets.rehearsal.pack import build_pack, is_approved
from alphaswarm_assets.rehearsal.session import run_session
from alphaswarm_assets.specs.paper import PaperSpec
from alphaswarm_assets.streams import Streams
from alphaswarm_resources.halt_file import FileHaltSwitch
from tests.unit.rehearsal.desks import KEY, MONDAY, ScriptedDesk, SetClock


def test_a_crash_rolls_back_sets_the_halt_key_and_is_not_accepted(tmp_path: Path) -> None:
    # 20 episodes of 60 days that lose 1 % a day: far beyond a trigger of 15 % within the first.
    crash = Streams(7).generator("crash").normal(-0.01, 0.002, size=(20, 60))
    desk = ScriptedDesk(crash.tolist())
    halts = FileHaltSwitch(tmp_path)
    paper = PaperSpec(
        max_episodes=20,
        max_hard_breaches=0,
        max_reject_rate=0.05,
        min_total_return=0.0,
        max_drawdown=0.10,
        rollback_max_drawdown=0.15,
        rollback_max_loss_pct=0.60,
    )
    session = run_session(
        desk=desk, paper=paper, halts=halts, halt_keys=(KEY, "all"), clock=SetClock()
    )
    content, envelope = cast(
        "tuple[dict[str, Any], dict[str, Any]]",
        build_pack(
            session=session, paper=paper, spec_hash="a" * 64, checkpoint="b" * 64, seed=7, seeds=[7]
        ),
    )

    assert session.status == "rolled_back"
    assert content["session"]["status"] == "rolled_back"
    (event,) = content["rollback_events"]
    assert event["trigger"] == "max_drawdown"
    assert event["observed"] >= 0.15
    assert halts.engaged() == {KEY: "rollback:max_drawdown"}
    assert content["acceptance"]["passed"] is False
    assert content["decision"] == "REJECT"
    assert not is_approved(content, envelope, MONDAY)[0]
    assert desk.n_opened == 1
    np.testing.assert_array_equal(session.returns, crash[0])

    # The brake outlives the session: the next one does not start until somebody releases it.
    again = run_session(
        desk=desk,
        paper=paper,
        halts=FileHaltSwitch(tmp_path),
        halt_keys=(KEY, "all"),
        clock=SetClock(),
    )
    assert (again.status, again.episodes) == ("halted", ())
    assert halts.release(KEY) == "rollback:max_drawdown"
