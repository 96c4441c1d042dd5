"""The tiny study as it is when nobody disturbs it: what every disturbed run of it is compared with."""

from __future__ import annotations

from dataclasses import dataclass

from tests.faults.commands import start
from tests.faults.homes import Shelf
from tests.faults.standing import Standing, standing_of


@dataclass(frozen=True, kw_only=True)
class Undisturbed:
    """A run that nobody disturbed."""

    standing: Standing
    startup_s: float
    """CPU seconds until it had its plan."""
    work_s: float
    """CPU seconds from there to its end."""


def run_undisturbed(shelf: Shelf) -> Undisturbed:
    """Run the study of *shelf* once with the real command, and keep the home as ``finished``."""
    shelf.put_back("initialised")
    command = start(shelf.home, *shelf.run_arguments)
    assert command.wait_for(lambda: "12 cells" in command.err), command.err
    startup_s = command.cpu_s()
    ended = command.wait()
    assert ended.code == 0, ended.err
    shelf.keep("finished")
    standing = standing_of(shelf.home, shelf.spec)
    assert standing.is_settled, standing
    return Undisturbed(standing=standing, startup_s=startup_s, work_s=ended.cpu_s - startup_s)
