"""The same spec in empty folders gives the same content, whatever the folder, hash seed, threads and processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from alphaswarm_assets.specs.loading import load_spec
from tests.faults.commands import start
from tests.faults.homes import opened
from tests.faults.standing import digests_of
from tests.graph.conftest import TINY, write_bars

pytestmark = pytest.mark.timeout(600)


def study(folder: Path, *options: str, **variables: str) -> dict[str, str | None]:
    """Run the tiny study with the real command in *folder* and return the content digest of every cell."""
    folder.mkdir(parents=True)
    spec_file, home = folder / "tiny.yaml", folder / "home"
    spec_file.write_text(TINY, encoding="utf-8")
    write_bars(home / "bars" / "tiny.csv")
    ended = start(home, "run", spec_file, "--json", *options, variables=variables).wait()
    assert ended.code == 0, ended.err
    with opened(home) as house:
        return digests_of(house, load_spec(spec_file))


@pytest.fixture(scope="session")
def digests(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | None]:
    """The study in one folder, on one thread, under one hash seed, in one process."""
    folder = tmp_path_factory.mktemp("first") / "study"
    return study(folder, OMP_NUM_THREADS="1", PYTHONHASHSEED="0")


def test_another_folder_another_hash_seed_and_more_threads_give_the_same_content(
    tmp_path: Path, digests: dict[str, str | None]
) -> None:
    folder = tmp_path / "deep in another folder" / "study"
    again = study(folder, OMP_NUM_THREADS="2", MKL_NUM_THREADS="2", PYTHONHASHSEED="4711")

    assert len(again) == 12
    assert None not in again.values()
    assert again == digests


def test_step_processes_give_the_same_content(
    tmp_path: Path, digests: dict[str, str | None]
) -> None:
    assert study(tmp_path / "study", "--parallel", PYTHONHASHSEED="17") == digests
