from __future__ import annotations

import json

from alphaswarm_assets.drive.plan import Planned
from alphaswarm_assets.specs.loading import load_spec


def test_a_spec_that_was_never_run_is_all_to_make(alphaswarm, spec_file):
    alphaswarm("spec", "register", str(spec_file))
    result = alphaswarm("status")
    assert result.exit_code == 0
    assert "not judged" in result.stdout
    assert "1 to make, 11 waiting" in result.stdout


def test_the_status_of_one_spec_lists_every_cell_and_why_it_is_not_current(alphaswarm, spec_file):
    alphaswarm("run", str(spec_file))
    text = alphaswarm("status", str(spec_file)).stdout
    assert f"trained_checkpoint[f1|{load_spec(spec_file).key}]" in text
    assert "the verdict is REJECT" in text
    assert "REJECT" in text.splitlines()[0]


def test_what_the_orchestrator_runs_now_is_running_with_its_steps(alphaswarm, spec_file, progress):
    house, spec = alphaswarm.house, load_spec(spec_file)
    house.orchestrator.interrupts.add("trained_checkpoint[f0]")
    alphaswarm("run", str(spec_file))
    ready: Planned = next(p for p in house.plan(spec) if p.cell.asset == "trained_checkpoint")
    house.orchestrator.under_way.add(ready.memo_key)
    house.progress.post(f"{spec.key}/f0/1", progress(250))
    house.progress.post(f"{spec.key}/f1/1", progress(990))
    (one,) = json.loads(alphaswarm("status", "--json").stdout)["specs"]
    assert [row["step"] for row in one["running"]] == [250]
    assert one["counts"]["running"] == 1
    assert "f0 · seed 1  250 / 1,000 steps (25%)" in alphaswarm("status", str(spec_file)).stdout


def test_halts_stand_in_the_status_with_the_way_out(alphaswarm, spec_file):
    alphaswarm("spec", "register", str(spec_file))
    alphaswarm("halt", "--all", "--reason", "exchange down")
    assert "halted everything: exchange down. Let it go: alphaswarm resume --all" in alphaswarm("status").stdout
    assert json.loads(alphaswarm("status", "--json").stdout)["halts"] == {"all": "exchange down"}


def test_the_status_of_a_home_that_is_not_there_makes_none(alphaswarm):
    result = alphaswarm("status")
    assert result.exit_code == 1
    assert "alphaswarm init" in result.stderr
    assert not alphaswarm.house.home.exists()


def test_a_verdict_shows_its_gates_and_is_the_same_in_json(alphaswarm, spec_file):
    alphaswarm("run", str(spec_file))
    text = alphaswarm("verdict", str(spec_file)).stdout
    assert "threshold_failed" in text
    assert "sharpe was 0.31" in text
    verdict = json.loads(alphaswarm("verdict", str(spec_file), "--json").stdout)["verdict"]
    assert verdict["decision"] == "REJECT"
    assert verdict["metrics"]["do_nothing"]["sharpe"] is None


def test_a_spec_that_was_never_judged_exits_1_and_says_how(alphaswarm, spec_file):
    alphaswarm("init")
    result = alphaswarm("verdict", str(spec_file))
    assert result.exit_code == 1
    assert "alphaswarm run" in result.stderr
    result = alphaswarm("verdict", str(spec_file), "--json")
    assert json.loads(result.stdout)["verdict"] is None


def test_init_says_what_it_made_and_changes_nothing_the_second_time(alphaswarm):
    assert "made " in alphaswarm("init").stdout
    assert "nothing was changed" in alphaswarm("init").stdout
