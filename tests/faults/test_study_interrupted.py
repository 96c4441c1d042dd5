"""Ctrl-C in the middle of a training: a clean end, and the same command goes on where it was, to the same digests."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from alphaswarm_assets.streams import Streams
from alphaswarm_resources.progress_fs import FileProgressBoard
from tests.faults.commands import PROC, Command, start
from tests.faults.homes import Shelf, opened
from tests.faults.standing import (
    UNFINISHED,
    digests_of,
    held_slots,
    require_whole,
    standing_of,
)
from tests.faults.studies import Undisturbed
from tests.graph.conftest import TINY

pytestmark = pytest.mark.faults

STEPS_AN_UPDATE = 8 * 32
"""``n_envs`` times ``n_steps`` of the tiny study."""

N_UPDATES = 500
"""Updates of the longer study: a few seconds."""

COUNTING = """
import os
from alphaswarm_resources.progress_fs import FileProgressBoard

post = FileProgressBoard.post

def count(board, topic, progress):
    with open(os.environ["COUNT_IN"], "a") as file:
        file.write(f"{progress.step}\\n")
    post(board, topic, progress)

FileProgressBoard.post = count

from alphaswarm_assets.cli.app import app
app(prog_name="alphaswarm")
"""
"""The real command, which notes every step that it posts."""


def longer(shelf: Shelf, n_updates: int) -> Path:
    """Write a spec like the tiny one, with one seed that learns longer."""
    steps, seeds = f"total_timesteps: {n_updates * STEPS_AN_UPDATE}", "n_seeds: 1"
    text = TINY.replace("total_timesteps: 2048", steps).replace("n_seeds: 2", seeds)
    path = shelf.folder / f"longer-{n_updates}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def arguments(spec: Path) -> tuple[object, ...]:
    return ("run", spec, "--fold", "f0", "--json")


def content(shelf: Shelf, spec_file: Path) -> dict[str, str | None]:
    from alphaswarm_assets.specs.loading import load_spec

    with opened(shelf.home) as house:
        return digests_of(house, load_spec(spec_file))


def undisturbed_content(shelf: Shelf, spec: Path) -> dict[str, str | None]:
    shelf.put_back("initialised")
    ended = start(shelf.home, *arguments(spec)).wait()
    assert ended.code == 0, ended.err
    return content(shelf, spec)


def stop_in_training(
    shelf: Shelf,
    spec: Path,
    *options: str,
    after: Callable[[int, int], bool],
    stop: Callable[[Command], None],
) -> Command:
    """Start the run of *spec* and stop it once *after* (steps done, steps in all) holds."""
    shelf.put_back("initialised")
    board = FileProgressBoard(shelf.home / "progress")
    command = start(shelf.home, *arguments(spec), *options)
    assert command.wait_for(lambda: any(after(at.step, at.total) for at in board.read("").values()))
    stop(command)
    return command


def resumed_steps(shelf: Shelf, spec: Path) -> list[int]:
    """Give the same command again, let it end, and return the steps it posted."""
    counted = shelf.folder / "counted"
    counted.unlink(missing_ok=True)
    resumed = start(
        shelf.home,
        *arguments(spec),
        program=("-c", COUNTING),
        variables={"COUNT_IN": str(counted)},
    ).wait()
    assert resumed.code == 0, resumed.err
    return [int(line) for line in counted.read_text().splitlines()]


@pytest.fixture(scope="module")
def expected(shelf: Shelf) -> dict[str, str | None]:
    """Content of the longer study when nobody interrupts it."""
    return undisturbed_content(shelf, longer(shelf, N_UPDATES))


@pytest.mark.parametrize(
    "options", [(), ("--parallel",)], ids=["in one process", "in step processes"]
)
def test_an_interrupted_training_is_canceled_and_goes_on_where_it_was(
    shelf: Shelf, expected: dict[str, str | None], options: tuple[str, ...]
) -> None:
    n_updates, spec = N_UPDATES, longer(shelf, N_UPDATES)
    command = stop_in_training(
        shelf, spec, *options, after=lambda step, total: step > total // 4, stop=Command.interrupt
    )
    ended = command.wait()

    assert ended.code == 130, ended.err
    assert ended.report["interrupted"] is True
    assert command.is_gone(within_s=10)
    with opened(shelf.home) as house:
        statuses = [run.status for run in house.instance.get_runs()]
        assert statuses.count(dg.DagsterRunStatus.CANCELED) == 1
        assert not set(UNFINISHED) & set(statuses)
        assert held_slots(house) == 0
    require_whole(shelf.home)

    steps = resumed_steps(shelf, spec)
    assert n_updates // 4 < n_updates - len(steps) < n_updates
    assert steps == list(range(steps[0], n_updates * STEPS_AN_UPDATE + 1, STEPS_AN_UPDATE))
    assert content(shelf, spec) == expected


@pytest.mark.skipif(
    not (PROC / "self/stat").exists(), reason="an instant is a CPU time, from /proc"
)
def test_whatever_the_instant_ctrl_c_ends_the_run_cleanly(
    shelf: Shelf, undisturbed: Undisturbed
) -> None:
    instants = Streams(20).generator("interrupts")
    shelf.put_back("initialised")
    codes: list[int] = []
    for _ in range(3):
        at_s = undisturbed.startup_s + instants.uniform(0.02, 0.3) * undisturbed.work_s
        command = start(shelf.home, *shelf.run_arguments)
        command.wait_for(lambda c=command, s=at_s: c.cpu_s() >= s)
        command.interrupt()
        ended = command.wait()
        codes.append(ended.code)
        with opened(shelf.home) as house:
            assert not [run for run in house.instance.get_runs() if run.status in UNFINISHED]
            assert held_slots(house) == 0
    assert set(codes[:2]) == {130}
    # The last ones may come too late: when the run has ended, or even the interpreter is about to.
    assert set(codes) <= {130, 0, -signal.SIGINT}
    assert shelf.run().code == 0
    assert standing_of(shelf.home, shelf.spec) == undisturbed.standing


@pytest.mark.study
def test_a_training_that_was_killed_goes_on_from_its_last_draft(shelf: Shelf) -> None:
    n_updates = 3000
    spec = longer(shelf, n_updates)
    expected = undisturbed_content(shelf, spec)
    drafts = shelf.home / "artifacts" / "drafts"
    command = stop_in_training(
        shelf,
        spec,
        after=lambda *_: any(drafts.glob("*.draft")),
        stop=lambda command: command.kill(group=True),
    )
    assert command.wait().code == -9
    assert len(resumed_steps(shelf, spec)) < n_updates * 9 // 10
    assert content(shelf, spec) == expected
