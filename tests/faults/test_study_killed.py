"""kill -9 at random instants of a study: the same command ends with the same digests, and nothing is left behind."""

from __future__ import annotations

import time

import pytest

from alphaswarm_assets.streams import Streams
from tests.faults.commands import PROC, start
from tests.faults.conftest import Undisturbed
from tests.faults.homes import Shelf
from tests.faults.standing import Standing, require_whole, standing_of

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(
        not (PROC / "self/stat").exists(),
        reason="instants are counted in CPU time, read from /proc",
    ),
]


def killed_and_resumed(
    shelf: Shelf,
    undisturbed: Undisturbed,
    *,
    life: str,
    kills: int,
    group: bool,
    options: tuple[str, ...] = (),
) -> Standing:
    """Kill the run *kills* times, each at an instant of its own, then let it end; a run that ended begins anew.

    An instant is a share of the CPU time of an undisturbed run, so that the load of the machine does not move it.
    """
    instants = Streams(20).generator(f"kills/{life}")
    left = kills
    shelf.put_back("initialised")
    while left:
        at_s = undisturbed.startup_s + instants.uniform(-0.1, 0.4) * undisturbed.work_s
        command = start(shelf.home, *shelf.run_arguments, *options)
        reached = command.wait_for(lambda c=command, s=at_s: c.cpu_s() >= s)
        time.sleep(instants.uniform(0.0, 0.02))
        command.kill(group=group)
        ended = command.wait()
        if reached and ended.code == -9:
            left -= 1
            assert (
                command.wait_for(lambda c=command: c.living() == 0, timeout_s=60)
                or command.living() == 0
            )
            require_whole(shelf.home)
        else:
            assert ended.code == 0, ended.err
            assert standing_of(shelf.home, shelf.spec) == undisturbed.standing
            shelf.put_back("initialised")
    ended = shelf.run(*options)
    assert ended.code == 0, ended.err
    assert ended.report["failed"] == {}
    return standing_of(shelf.home, shelf.spec)


@pytest.mark.parametrize("life", ["first", "second", "third"])
def test_killed_with_all_it_started_the_same_command_ends_the_same(
    shelf: Shelf, undisturbed: Undisturbed, life: str
) -> None:
    found = killed_and_resumed(shelf, undisturbed, life=life, kills=5, group=True)
    assert found == undisturbed.standing
