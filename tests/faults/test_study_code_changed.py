"""Touching the README retrains nothing, touching the PPO file retrains: through the command, from a tree of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.faults.commands import ROOT, run
from tests.faults.homes import Shelf, opened
from tests.faults.standing import digests_of
from tests.faults.studies import Undisturbed

pytestmark = pytest.mark.faults

PACKAGES = (
    "alphaswarm_assets",
    "resources/alphaswarm_resources",
    "kernels/alphaswarm_kernels",
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the packages and of the README, as a checkout has them."""
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    (tmp_path / "README.md").write_text("AlphaSwarm\n", encoding="utf-8")
    return tmp_path


def made(shelf: Shelf, tree: Path) -> list[str]:
    ended = run(shelf.home, *shelf.run_arguments, root=tree)
    assert ended.code == 0, ended.err
    assert ended.report["failed"] == {}
    return [name.partition("[")[0] for name in ended.report["made"]]


def append(path: Path, line: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def test_the_readme_retrains_nothing_and_the_ppo_file_retrains(
    shelf: Shelf, undisturbed: Undisturbed, tree: Path
) -> None:
    shelf.put_back("finished")
    assert made(shelf, tree) == []

    append(tree / "README.md", "Another line.")
    append(tree / "alphaswarm_assets/cli/words.py", "# another line")
    assert made(shelf, tree) == []

    append(tree / "alphaswarm_assets/learning/ppo.py", "# another line")
    ended = run(shelf.home, *shelf.run_arguments, root=tree)
    assert ended.code == 0, ended.err
    assert "trained_checkpoint[f0|" in ended.err
    assert "(its code changed)" in ended.err
    assert [name.partition("[")[0] for name in ended.report["made"]] == ["trained_checkpoint"] * 2
    with opened(shelf.home) as house:
        assert digests_of(house, shelf.spec) == undisturbed.standing.digests
