"""What the fault tests share: disks that are nearly full, processes to kill, and a home to put back as it was."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.faults.commands import start as start_command
from tests.faults.disks import mounting
from tests.faults.homes import Shelf, make_shelf
from tests.faults.standing import Standing, standing_of
from tests.ports.children import starting
from tests.ports.redis_servers import serving

start = pytest.fixture(starting, name="start")
disk = pytest.fixture(mounting, name="disk")
redis_server = pytest.fixture(serving, name="redis_server")


@dataclass(frozen=True, kw_only=True)
class Undisturbed:
    """A run of the tiny study that nobody disturbed."""

    standing: Standing
    startup_s: float
    """CPU seconds until it had its plan."""
    work_s: float
    """CPU seconds from there to its end."""


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    return make_shelf(tmp_path_factory.mktemp("faults"))


@pytest.fixture(scope="session")
def undisturbed(shelf: Shelf) -> Undisturbed:
    """Run the study once with the real command, and keep the home as ``finished``."""
    shelf.put_back("initialised")
    command = start_command(shelf.home, *shelf.run_arguments)
    assert command.wait_for(lambda: "12 cells" in command.err), command.err
    startup_s = command.cpu_s()
    ended = command.wait()
    assert ended.code == 0, ended.err
    shelf.keep("finished")
    return Undisturbed(
        standing=standing_of(shelf.home, shelf.spec),
        startup_s=startup_s,
        work_s=ended.cpu_s - startup_s,
    )
