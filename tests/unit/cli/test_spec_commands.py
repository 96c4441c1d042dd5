from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from alphaswarm_assets.specs.loading import load_spec
from tests.unit.cli.small_house import CommandLine

TWO_FAULTS = (
    "name: momentum\ntraining: {sede: 7, total_timesteps: 1000}\nwalk_forward: {n_blocks: 12}\n"
)


def written(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_valid_spec_is_said_to_be_valid_with_its_key_and_size(
    alphaswarm: CommandLine, spec_file: Path
) -> None:
    result = alphaswarm("spec", "check", str(spec_file))
    assert result.exit_code == 0
    assert load_spec(spec_file).key in result.stdout
    assert "2 folds × 2 seeds × 1,000 steps" in result.stdout
    assert "bar sources here: wiki_5stocks" in result.stdout


def test_every_fault_of_every_file_is_listed_and_the_check_fails(
    alphaswarm: CommandLine, tmp_path: Path, spec_file: Path
) -> None:
    result = alphaswarm("spec", "check", written(tmp_path, "bad.yaml", TWO_FAULTS), str(spec_file))
    assert result.exit_code == 1
    assert "training.sede: is not a field of a spec (did you mean 'seed'?)" in result.stdout
    assert "training.seed: is required" in result.stdout
    assert "walk_forward.n_blocks" in result.stdout
    assert "valid" in result.stdout.split("momentum.yaml")[-1]


def test_a_field_whose_engine_is_missing_and_a_source_that_is_not_there_are_obstacles(
    alphaswarm: CommandLine, tmp_path: Path, spec_file: Path
) -> None:
    text = (
        spec_file.read_text().replace("seed: 7", "algorithm: dqn, seed: 7")
        + "dataset: {source: mine}\n"
    )
    file = written(tmp_path, "dqn.yaml", text)
    result = alphaswarm("spec", "check", "--json", file)
    (one,) = json.loads(result.stdout)["specs"]
    assert result.exit_code == 1
    assert one["valid"]
    assert not one["runnable"]
    assert [fault["path"] for fault in one["obstacles"]] == ["training.algorithm", "dataset.source"]


def test_a_csv_file_in_the_home_is_a_source(
    alphaswarm: CommandLine, tmp_path: Path, spec_file: Path
) -> None:
    (alphaswarm.house.home / "bars").mkdir(parents=True)
    (alphaswarm.house.home / "bars" / "mine.csv").touch()
    file = written(tmp_path, "mine.yaml", spec_file.read_text() + "dataset: {source: mine}\n")
    result = alphaswarm("spec", "check", file)
    assert result.exit_code == 0
    assert "mine, wiki_5stocks" in result.stdout


def test_the_hash_is_the_snapshot_hash(alphaswarm: CommandLine, spec_file: Path) -> None:
    spec = load_spec(spec_file)
    assert (
        alphaswarm("spec", "hash", str(spec_file)).stdout == f"{spec.snapshot_hash()}  {spec.key}\n"
    )
    assert (
        json.loads(alphaswarm("spec", "hash", str(spec_file), "--json").stdout)["hash"]
        == spec.snapshot_hash()
    )


def test_hashing_an_invalid_spec_lists_its_faults_on_standard_error(
    alphaswarm: CommandLine, tmp_path: Path
) -> None:
    result = alphaswarm("spec", "hash", written(tmp_path, "bad.yaml", TWO_FAULTS))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "3 faults" in result.stderr


def test_registering_twice_adds_nothing_and_the_list_shows_it_once(
    alphaswarm: CommandLine, spec_file: Path
) -> None:
    assert "registered\n" in alphaswarm("spec", "register", str(spec_file)).stdout
    assert "was registered already" in alphaswarm("spec", "register", str(spec_file)).stdout
    (row,) = json.loads(alphaswarm("spec", "list", "--json").stdout)["specs"]
    assert row["key"] == load_spec(spec_file).key
    assert row["seeds"] == 2
    assert load_spec(spec_file).key in alphaswarm("spec", "list").stdout


def test_one_bad_file_among_several_registers_none(
    alphaswarm: CommandLine, tmp_path: Path, spec_file: Path
) -> None:
    bad = written(tmp_path, "bad.yaml", TWO_FAULTS)
    assert alphaswarm("spec", "register", str(spec_file), bad).exit_code == 2
    alphaswarm("init")
    assert "no spec is registered" in alphaswarm("spec", "list").stdout


def test_the_list_of_a_home_that_is_not_there_says_how_to_make_one(alphaswarm: CommandLine) -> None:
    result = alphaswarm("spec", "list")
    assert result.exit_code == 1
    assert "alphaswarm init" in result.stderr
    assert alphaswarm.composed == 0


def test_a_diff_shows_each_field_old_and_new(
    alphaswarm: CommandLine, tmp_path: Path, spec_file: Path
) -> None:
    text = spec_file.read_text().replace("total_timesteps: 1000", "total_timesteps: 2000")
    other = written(
        tmp_path, "other.yaml", text.replace("mlflow: {register_model_as: momentum}\n", "")
    )
    result = alphaswarm("spec", "diff", str(spec_file), other)
    assert result.exit_code == 0
    assert "training.total_timesteps: 1000 → 2000" in result.stdout
    assert 'mlflow.register_model_as: "momentum" → (absent)' in result.stdout
    assert "training.seed" not in result.stdout


def test_a_diff_of_a_key_and_its_file_finds_the_same_content(
    alphaswarm: CommandLine, spec_file: Path
) -> None:
    alphaswarm("spec", "register", str(spec_file))
    result = alphaswarm("spec", "diff", load_spec(spec_file).key, str(spec_file), "--json")
    assert json.loads(result.stdout)["changes"] == []


def test_an_empty_block_against_an_absent_one_is_a_change(
    alphaswarm: CommandLine, tmp_path: Path, spec_file: Path
) -> None:
    without = spec_file.read_text().replace("promotion: {min_sharpe: 0.5}\n", "")
    none = written(tmp_path, "none.yaml", without)
    empty = written(tmp_path, "empty.yaml", without + "promotion: {}\n")
    assert "promotion: (absent) → {}" in alphaswarm("spec", "diff", none, empty).stdout
    full = alphaswarm("spec", "diff", empty, str(spec_file)).stdout
    assert full.splitlines()[1:] == ["  promotion.min_sharpe: (absent) → 0.5"]


def test_files_alone_load_no_orchestrator(spec_file: Path) -> None:
    program = (
        "import sys\nfrom alphaswarm_assets.cli import app\n"
        "try:\n    app(['spec', 'check', sys.argv[1]])\n"
        "except SystemExit as end:\n    assert end.code == 0, end.code\n"
        "heavy = {'dagster', 'torch', 'mlflow', 'pyiceberg', 'pyarrow', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run(
        [sys.executable, "-c", program, str(spec_file)],
        check=True,
        capture_output=True,
        cwd=Path.cwd(),
    )
