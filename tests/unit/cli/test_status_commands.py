from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from alphaswarm_assets.cli.verdict_view import pack_line, show_verdict
from alphaswarm_assets.drive.plan import Planned
from alphaswarm_assets.drive.verdicts import VerdictView
from alphaswarm_assets.ports import Progress
from alphaswarm_assets.specs.loading import load_spec
from tests.unit.cli.small_house import CommandLine


def test_a_spec_that_was_never_run_is_all_to_make(alphaswarm: CommandLine, spec_file: Path) -> None:
    alphaswarm("spec", "register", str(spec_file))
    result = alphaswarm("status")
    assert result.exit_code == 0
    assert "not judged" in result.stdout
    assert "1 to make, 11 waiting" in result.stdout


def test_the_status_of_one_spec_lists_every_cell_and_why_it_is_not_current(
    alphaswarm: CommandLine, spec_file: Path
) -> None:
    alphaswarm("run", str(spec_file))
    text = alphaswarm("status", str(spec_file)).stdout
    assert f"trained_checkpoint[f1|{load_spec(spec_file).key}]" in text
    assert "the verdict is REJECT" in text
    assert "REJECT" in text.splitlines()[0]


def test_what_the_orchestrator_runs_now_is_running_with_its_steps(
    alphaswarm: CommandLine, spec_file: Path, progress: Callable[..., Progress]
) -> None:
    house, spec = alphaswarm.house, load_spec(spec_file)
    house.orchestrator.interrupts.add("trained_checkpoint[f0]")
    alphaswarm("run", str(spec_file))
    ready: Planned = next(p for p in house.plan(spec) if p.cell.asset == "trained_checkpoint")
    house.orchestrator.under_way.add(str(ready.memo_key))
    house.progress.post(f"{spec.key}/f0/1", progress(250))
    house.progress.post(f"{spec.key}/f1/1", progress(990))
    (one,) = json.loads(alphaswarm("status", "--json").stdout)["specs"]
    assert [row["step"] for row in one["running"]] == [250]
    assert one["counts"]["running"] == 1
    assert "f0 · seed 1  250 / 1,000 steps (25%)" in alphaswarm("status", str(spec_file)).stdout


def test_halts_stand_in_the_status_with_the_way_out(
    alphaswarm: CommandLine, spec_file: Path
) -> None:
    alphaswarm("spec", "register", str(spec_file))
    alphaswarm("halt", "--all", "--reason", "exchange down")
    assert (
        "halted everything: exchange down. Let it go: alphaswarm resume --all"
        in alphaswarm("status").stdout
    )
    assert json.loads(alphaswarm("status", "--json").stdout)["halts"] == {"all": "exchange down"}


def test_the_status_of_a_home_that_is_not_there_makes_none(alphaswarm: CommandLine) -> None:
    result = alphaswarm("status")
    assert result.exit_code == 1
    assert "alphaswarm init" in result.stderr
    assert not alphaswarm.house.home.exists()


def test_a_verdict_shows_its_gates_and_is_the_same_in_json(
    alphaswarm: CommandLine, spec_file: Path
) -> None:
    alphaswarm("run", str(spec_file))
    text = alphaswarm("verdict", str(spec_file)).stdout
    assert "threshold_failed" in text
    assert "sharpe was 0.31" in text
    verdict = json.loads(alphaswarm("verdict", str(spec_file), "--json").stdout)["verdict"]
    assert verdict["decision"] == "REJECT"
    assert verdict["metrics"]["do_nothing"]["sharpe"] is None


def test_a_spec_that_was_never_judged_exits_1_and_says_how(
    alphaswarm: CommandLine, spec_file: Path
) -> None:
    alphaswarm("init")
    result = alphaswarm("verdict", str(spec_file))
    assert result.exit_code == 1
    assert "alphaswarm run" in result.stderr
    result = alphaswarm("verdict", str(spec_file), "--json")
    assert json.loads(result.stdout)["verdict"] is None


def test_init_says_what_it_made_and_changes_nothing_the_second_time(
    alphaswarm: CommandLine,
) -> None:
    assert "made " in alphaswarm("init").stdout
    assert "nothing was changed" in alphaswarm("init").stdout


def test_the_paper_pack_stands_in_the_verdict_with_what_was_not_accepted(
    page: Console, passed_verdict: VerdictView
) -> None:
    session = {"status": "completed", "n_episodes": 5, "metrics": {"total_return": -0.021}}
    reasons = ["min_total_return: threshold_failed (needs total_return >= 0, was -0.021)"]
    pack = {
        "decision": "REJECT",
        "session": session,
        "acceptance": {"passed": False, "reasons": reasons},
    }
    show_verdict(page, replace(passed_verdict, pack=pack, current=False))
    text = page.export_text()
    assert "paper REJECT  completed: 5 episodes, total return -2.10%" in text
    assert reasons[0] in text
    assert "It is not current" in text


def test_an_approval_says_until_when_it_holds() -> None:
    metrics = {"total_return": {"value": None, "reason": "no episode"}}
    pack = {
        "decision": "PASS",
        "session": {"status": "completed", "n_episodes": 0, "metrics": metrics},
    }
    assert str(pack_line(pack | {"approval_expiry": "2027-01-01T09:30:00.125+00:00"})).endswith(
        "undefined, approval holds until 2027-01-01 09:30:00 UTC"
    )
