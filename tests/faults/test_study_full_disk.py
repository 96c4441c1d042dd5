"""A disk that fills up at stage after stage of a study: a clear error, nothing lost, the same digests in the end."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.homes import Shelf
from tests.faults.standing import require_whole, standing_of
from tests.faults.studies import Undisturbed

pytestmark = pytest.mark.faults

CAUSE = "the disk is full or over quota"
WHAT_TO_DO = "Free some space and run the same command again; nothing half-written was kept."


def mount(*arguments: object) -> None:
    subprocess.run(["mount", "-t", "tmpfs", *map(str, arguments)], check=True, capture_output=True)


@pytest.fixture
def disk(shelf: Shelf, undisturbed: Undisturbed) -> Iterator[Path]:
    """The home, initialised, on a disk of its own; stores hold absolute paths, so it is mounted where the home is."""
    shutil.rmtree(shelf.home, ignore_errors=True)
    shelf.home.mkdir()
    try:
        mount("-o", "size=64m", "tmpfs", shelf.home)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"a small disk cannot be mounted here, which needs root: {error}")
    try:
        shutil.copytree(shelf.folder / "initialised", shelf.home, dirs_exist_ok=True)
        yield shelf.home
    finally:
        subprocess.run(["umount", "-l", str(shelf.home)], check=True)


def used_bytes(folder: Path) -> int:
    state = os.statvfs(folder)
    return (state.f_blocks - state.f_bfree) * state.f_frsize


def test_a_study_goes_on_from_every_stage_at_which_the_disk_was_full(
    disk: Path, shelf: Shelf, undisturbed: Undisturbed
) -> None:
    spare_bytes, stages = (20_000, 150_000, 600_000, 900_000, 1_100_000), set[str]()
    for spare in spare_bytes:
        mount("-o", f"remount,size={used_bytes(disk) + spare}", "tmpfs", disk)
        ended = shelf.run()
        if ended.code == 0:
            break
        told = " ".join([ended.err, *(ended.report["failed"].values() if ended.out else ())])
        assert ended.code == 1, ended.err
        assert CAUSE in told
        assert WHAT_TO_DO in told
        require_whole(disk)
        stages.add(last_stage(ended.err))
    mount("-o", "remount,size=64m", "tmpfs", disk)
    ended = shelf.run()

    assert ended.code == 0, ended.err
    assert ended.report["failed"] == {}
    assert standing_of(disk, shelf.spec) == undisturbed.standing
    assert len(stages) >= 3, f"the disk was full at {sorted(stages)} alone"


def last_stage(told: str) -> str:
    """Return the stage of the cell that was being made."""
    cells = [line.split() for line in told.splitlines() if line.startswith("[") and "[" in line[1:]]
    return cells[-1][1] if cells else "before the first"
