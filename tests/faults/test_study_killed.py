"""kill -9 at random instants of a study: the same command ends with the same digests, and nothing is left behind."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from alphaswarm_assets.streams import Streams
from tests.faults.commands import PROC, Command, start
from tests.faults.homes import Shelf, make_shelf
from tests.faults.standing import require_whole, standing_of
from tests.faults.steps import PROGRAM, kill_before
from tests.faults.studies import Undisturbed, run_undisturbed

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(
        not (PROC / "self/stat").exists(),
        reason="an instant is a CPU time, which is read from /proc",
    ),
]

KILLED = -9
N_STEPS = 330
"""Steps of an undisturbed run that change the filesystem, about."""


def kill_and_resume(
    shelf: Shelf, undisturbed: Undisturbed, *, kills: int, kill_one: Callable[[], Command]
) -> None:
    """Kill *kills* runs, each going on from what the one before left, and let the last one end as undisturbed ones do.

    A run that ended before its instant came begins anew from an empty home.
    """
    shelf.put_back("initialised")
    while kills:
        command = kill_one()
        ended = command.wait()
        if ended.code == KILLED:
            kills -= 1
            assert command.is_gone(within_s=60.0)
            require_whole(shelf.home)
        else:
            assert ended.code == 0, ended.err
            assert standing_of(shelf.home, shelf.spec) == undisturbed.standing
            shelf.put_back("initialised")
    ended = shelf.run()
    assert ended.code == 0, ended.err
    assert ended.report["failed"] == {}
    assert standing_of(shelf.home, shelf.spec) == undisturbed.standing


def at_an_instant(
    shelf: Shelf,
    undisturbed: Undisturbed,
    instants: np.random.Generator,
    *options: str,
    group: bool,
) -> Callable[[], Command]:
    """Kill at a share of the CPU time of an undisturbed run, so that the load of the machine does not move it."""

    def kill_one() -> Command:
        at_s = undisturbed.startup_s + instants.uniform(-0.1, 0.4) * undisturbed.work_s
        command = start(shelf.home, *shelf.run_arguments, *options)
        command.wait_for(lambda: command.cpu_s() >= at_s)
        time.sleep(instants.uniform(0.0, 0.02))
        command.kill(group=group)
        return command

    return kill_one


def before_a_step(shelf: Shelf, instants: np.random.Generator) -> Callable[[], Command]:
    """Kill right before a step that changes the filesystem."""

    def kill_one() -> Command:
        at = int(instants.integers(1, N_STEPS * 2 // 5))
        return start(
            shelf.home,
            *shelf.run_arguments,
            program=("-c", PROGRAM),
            variables=kill_before(at, touching=str(shelf.home)),
        )

    return kill_one


@pytest.mark.parametrize(("life", "kills"), [("first", 5), ("second", 4)])
def test_a_study_killed_with_all_it_started_ends_the_same(
    shelf: Shelf, undisturbed: Undisturbed, life: str, kills: int
) -> None:
    instants = Streams(20).generator(f"instants/{life}")
    kill_one = at_an_instant(shelf, undisturbed, instants, group=True)
    kill_and_resume(shelf, undisturbed, kills=kills, kill_one=kill_one)


def test_a_study_killed_between_two_steps_of_the_filesystem_ends_the_same(
    shelf: Shelf, undisturbed: Undisturbed
) -> None:
    kill_one = before_a_step(shelf, Streams(20).generator("steps"))
    kill_and_resume(shelf, undisturbed, kills=4, kill_one=kill_one)


def test_a_study_killed_where_it_hurts_ends_the_same(
    shelf: Shelf, undisturbed: Undisturbed
) -> None:
    places = iter(
        [
            ("artifacts/objects", 6),  # an artifact is whole, and not yet in its place
            ("artifacts/memo", 2),  # a policy is stored and not remembered
            ("mlflow/artifacts/", 8),  # files of a model are half written
            (
                "ledgers/promotions.jsonl",
                1,
            ),  # a model is registered, and the ledger does not say so
        ]
    )

    def kill_one() -> Command:
        touching, step = next(places)
        return start(
            shelf.home,
            *shelf.run_arguments,
            program=("-c", PROGRAM),
            variables=kill_before(step, touching=touching),
        )

    kill_and_resume(shelf, undisturbed, kills=4, kill_one=kill_one)


def test_a_study_of_which_the_parent_alone_is_killed_ends_the_same(
    shelf: Shelf, undisturbed: Undisturbed
) -> None:
    instants = Streams(20).generator("instants/parent")
    kill_one = at_an_instant(shelf, undisturbed, instants, "--parallel", group=False)
    kill_and_resume(shelf, undisturbed, kills=3, kill_one=kill_one)


@pytest.mark.study
@pytest.mark.timeout(1800)
def test_twenty_studies_in_twenty_fresh_folders_are_killed_and_end_the_same(tmp_path: Path) -> None:
    instants = Streams(20).generator("instants/fresh")
    (tmp_path / "undisturbed").mkdir()
    undisturbed = run_undisturbed(make_shelf(tmp_path / "undisturbed"))
    for n in range(20):
        (tmp_path / str(n)).mkdir()
        shelf = make_shelf(tmp_path / str(n))
        at_s = undisturbed.startup_s + instants.uniform() * undisturbed.work_s
        command = start(shelf.home, *shelf.run_arguments)
        command.wait_for(lambda c=command, s=at_s: c.cpu_s() >= s)
        command.kill(group=True)
        command.wait()
        require_whole(shelf.home)
        ended = shelf.run()
        assert ended.code == 0, ended.err
        assert standing_of(shelf.home, shelf.spec) == undisturbed.standing


@pytest.mark.study
@pytest.mark.timeout(1800)
def test_whatever_the_step_of_the_filesystem_a_killed_study_ends_the_same(
    shelf: Shelf, undisturbed: Undisturbed
) -> None:
    kill_one = before_a_step(shelf, Streams(20).generator("steps/slow"))
    kill_and_resume(shelf, undisturbed, kills=40, kill_one=kill_one)
