from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.small_house import CommandLine


@pytest.fixture
def examples(tmp_path: Path, spec_file: Path) -> str:
    folder = tmp_path / "specs"
    folder.mkdir()
    for name in ("fast", "slow"):
        text = spec_file.read_text().replace("name: momentum", f"name: {name}")
        (folder / f"demo-{name}.yaml").write_text(text)
    (folder / "other.yaml").write_text("name: Not an example\n")
    return str(folder)


def test_the_demo_runs_every_example_and_tells_both_verdicts_side_by_side(
    alphaswarm: CommandLine, examples: str
) -> None:
    result = alphaswarm("demo", "--specs", examples)
    assert result.exit_code == 0
    summary = result.stdout.split("in short")[1]
    assert summary.count("REJECT") == 2
    assert "10 made, 0 current, 0 failed" in summary
    assert "http://127.0.0.1:3000" in summary


def test_the_second_demo_shows_by_its_counts_that_nothing_was_made(
    alphaswarm: CommandLine, examples: str
) -> None:
    alphaswarm("demo", "--specs", examples)
    runs = json.loads(alphaswarm("demo", "--specs", examples, "--json").stdout)["runs"]
    assert [(run["counts"]["made"], run["counts"]["current"]) for run in runs] == [(0, 10), (0, 10)]


def test_both_examples_are_registered_though_the_first_is_interrupted(
    alphaswarm: CommandLine, examples: str
) -> None:
    alphaswarm.house.orchestrator.interrupts.add("trained_checkpoint[f0]")
    result = alphaswarm("demo", "--specs", examples)
    assert result.exit_code == 130
    assert "the same command resumes" in result.stdout
    assert len(alphaswarm.house.specs.keys()) == 2


def test_a_folder_without_examples_is_named(alphaswarm: CommandLine, tmp_path: Path) -> None:
    result = alphaswarm("demo", "--specs", str(tmp_path))
    assert result.exit_code == 1
    assert str(tmp_path) in result.stderr
    assert not alphaswarm.house.home.exists()
