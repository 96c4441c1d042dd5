from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from alphaswarm_assets.errors import BusyError
from alphaswarm_assets.ports import LaunchRequest, Progress
from alphaswarm_assets.specs.loading import load_spec
from tests.unit.cli.small_house import CommandLine


def test_a_reject_is_an_answer_with_its_reasons_and_the_baselines_beside_it(
    alphaswarm: CommandLine, spec_file: Path
) -> None:
    result = alphaswarm("run", str(spec_file))
    assert result.exit_code == 0
    assert "10 made, 0 current, 0 failed, 2 not due" in result.stdout
    assert "REJECT" in result.stdout
    assert "needs sharpe >= 0.5, was 0.31" in result.stdout
    assert "≥ 0.5 annual" in result.stdout
    assert "12.34%" in result.stdout
    assert "equal weight" in result.stdout
    assert "nothing was registered" in result.stdout


def test_the_second_run_makes_nothing(alphaswarm: CommandLine, spec_file: Path) -> None:
    alphaswarm("run", str(spec_file))
    assert "0 made, 10 current" in alphaswarm("run", str(spec_file)).stdout


def test_a_pass_goes_on_to_the_registered_model_and_the_paper_pack(
    alphaswarm: CommandLine, spec_file: Path
) -> None:
    alphaswarm.house.decision = "PASS"
    result = alphaswarm("run", str(spec_file), "--json")
    ending = json.loads(result.stdout)
    assert result.exit_code == ending["exit_code"] == 0
    assert ending["counts"] == {"made": 12, "current": 0, "failed": 0, "waiting": 0, "not_due": 0}
    assert ending["verdict"]["decision"] == "PASS"
    assert ending["key"] == load_spec(spec_file).key


def test_json_is_alone_on_standard_output_and_the_lines_go_to_standard_error(
    alphaswarm: CommandLine, spec_file: Path
) -> None:
    result = alphaswarm("run", str(spec_file), "--json")
    json.loads(result.stdout)
    assert "made in" in result.stderr
    assert alphaswarm("run", str(spec_file), "--json", "--quiet").stderr == ""


def test_a_failed_cell_exits_1_with_its_error_and_independent_folds_go_on(
    alphaswarm: CommandLine, spec_file: Path
) -> None:
    alphaswarm.house.orchestrator.fails["trained_checkpoint[f0]"] = (
        "StoreError: the disk [vda1] is full"
    )
    result = alphaswarm("run", str(spec_file))
    assert result.exit_code == 1
    assert "StoreError: the disk [vda1] is full" in result.stdout
    assert "give the same command" in result.stdout
    assert "trained_checkpoint[f1|" in result.stdout
    assert "1 failed" in result.stdout


def test_an_interrupted_cell_exits_130_and_says_the_same_command_resumes(
    alphaswarm: CommandLine, spec_file: Path
) -> None:
    alphaswarm.house.orchestrator.interrupts.add("trained_checkpoint[f1]")
    result = alphaswarm("run", str(spec_file))
    assert result.exit_code == 130
    assert "the same command resumes" in result.stdout
    alphaswarm.house.orchestrator.interrupts.clear()
    assert alphaswarm("run", str(spec_file)).exit_code == 0


def test_ctrl_c_between_two_cells_ends_as_cleanly(alphaswarm: CommandLine, spec_file: Path) -> None:
    alphaswarm.house.orchestrator.raises["silver_bars"] = KeyboardInterrupt()
    result = alphaswarm("run", str(spec_file), "--json")
    assert result.exit_code == 130
    assert json.loads(result.stdout)["made"] == ["bronze_bars[wiki_5stocks]"]


def test_a_spec_that_another_process_drives_exits_75(
    alphaswarm: CommandLine, spec_file: Path
) -> None:
    alphaswarm.house.orchestrator.raises["run"] = BusyError(
        "process 4711 drives it; wait for it, or stop it"
    )
    result = alphaswarm("run", str(spec_file))
    assert result.exit_code == 75
    assert "process 4711" in result.stderr
    assert "Traceback" not in result.output


def test_one_fold_alone_gives_no_verdict_and_says_how_to_get_one(
    alphaswarm: CommandLine, spec_file: Path
) -> None:
    result = alphaswarm("run", str(spec_file), "--fold", "f1")
    assert result.exit_code == 0
    assert "6 made" in result.stdout
    assert "without --fold" in result.stdout


def test_a_fold_the_spec_lacks_is_a_wrong_command_line(
    alphaswarm: CommandLine, spec_file: Path
) -> None:
    result = alphaswarm("run", str(spec_file), "--fold", "f5")
    assert result.exit_code == 2
    assert "f0, f1" in result.stderr
    assert alphaswarm.composed == 0


def test_an_invalid_spec_makes_no_home(alphaswarm: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("name: Bad\n")
    assert alphaswarm("run", str(tmp_path / "bad.yaml")).exit_code == 2
    assert not alphaswarm.house.home.exists()


def test_what_this_version_cannot_run_is_refused_by_the_field_before_anything_is_made(
    alphaswarm: CommandLine, tmp_path: Path, spec_file: Path
) -> None:
    file = tmp_path / "dqn.yaml"
    file.write_text(spec_file.read_text().replace("seed: 7", "algorithm: dqn, seed: 7"))
    result = alphaswarm("run", str(file))
    assert result.exit_code == 2
    assert "training.algorithm" in result.stderr
    assert alphaswarm.house.orchestrator.pins == {}


def test_a_registered_key_and_a_name_run_too(alphaswarm: CommandLine, spec_file: Path) -> None:
    alphaswarm("spec", "register", str(spec_file))
    assert alphaswarm("run", load_spec(spec_file).key).exit_code == 0
    assert alphaswarm("run", "momentum").exit_code == 0


def test_a_name_that_is_near_a_registered_one_is_suggested(
    alphaswarm: CommandLine, spec_file: Path
) -> None:
    alphaswarm("spec", "register", str(spec_file))
    result = alphaswarm("run", "momentun")
    assert result.exit_code == 2
    assert "did you mean 'momentum'?" in result.stderr


def test_a_name_with_two_registered_specs_asks_for_the_key(
    alphaswarm: CommandLine, tmp_path: Path, spec_file: Path
) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(spec_file.read_text().replace("seed: 7", "seed: 8"))
    alphaswarm("spec", "register", str(spec_file), str(other))
    result = alphaswarm("run", "momentum")
    assert result.exit_code == 2
    assert load_spec(other).key in result.stderr


def test_the_steps_of_a_seed_are_told_while_it_trains(
    alphaswarm: CommandLine, spec_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("alphaswarm_assets.cli.watching.POLL_S", 0.02)
    spec, house = load_spec(spec_file), alphaswarm.house

    def train(request: LaunchRequest) -> None:
        if request.asset == "trained_checkpoint":
            fold = str(request.partition).split("|")[0]
            for step in (200, 600, 1000):
                at = Progress(label=f"{fold} · seed 1", step=step, total=1000, at=str(step))
                house.progress.post(f"{spec.key}/{fold}/1", at)
                time.sleep(0.06)

    house.orchestrator.on_make = train
    out = alphaswarm("run", str(spec_file)).stdout
    assert "f0 · seed 1  200 / 1,000 steps (20%)" in out
    assert "f1 · seed 1  1,000 / 1,000 steps (100%)" in out
    assert "steps/s" in out


def test_a_fault_of_the_program_is_one_line_and_a_traceback_in_the_logs_of_the_home(
    alphaswarm: CommandLine, spec_file: Path
) -> None:
    alphaswarm.house.orchestrator.raises["run"] = ZeroDivisionError("by [zero]")
    result = alphaswarm("run", str(spec_file))
    assert result.exit_code == 70
    assert "unexpected error: ZeroDivisionError: by [zero]" in result.stderr
    assert "Traceback" not in result.output
    (log,) = (alphaswarm.house.home / "logs").glob("crash-*.log")
    assert "ZeroDivisionError" in log.read_text()
    assert "Traceback" in log.read_text()


def test_a_fault_whose_log_cannot_be_written_shows_its_traceback(
    alphaswarm: CommandLine, spec_file: Path, tmp_path: Path
) -> None:
    alphaswarm.house.orchestrator.raises["run"] = ZeroDivisionError("by zero")
    alphaswarm.house.initialise()
    (alphaswarm.house.home / "logs").write_text("a file stands where the folder would be")
    result = alphaswarm("run", str(spec_file))
    assert result.exit_code == 70
    assert "Traceback" in result.stderr
