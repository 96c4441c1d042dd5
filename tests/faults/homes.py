"""One home folder that is put back as it was: stores hold absolute paths, so it always stands in the same place."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from alphaswarm_assets.definitions import House, compose
from alphaswarm_assets.specs.loading import load_spec
from alphaswarm_assets.specs.research import ResearchSpec
from tests.faults.commands import Ended, run
from tests.graph.conftest import TINY, write_bars


@dataclass(frozen=True)
class Shelf:
    """A place for one home, and states of it kept beside that place by name."""

    folder: Path

    @property
    def home(self) -> Path:
        """Where the home stands."""
        return self.folder / "home"

    @property
    def spec_file(self) -> Path:
        """The spec its command is given."""
        return self.folder / "tiny.yaml"

    @property
    def spec(self) -> ResearchSpec:
        """The spec its command is given."""
        return load_spec(self.spec_file)

    def keep(self, name: str) -> None:
        """Keep the state of the home as *name*."""
        shutil.copytree(self.home, self.folder / name)

    def put_back(self, name: str) -> Path:
        """Put the home back into the state *name* and return it."""
        shutil.rmtree(self.home, ignore_errors=True)
        shutil.copytree(self.folder / name, self.home)
        return self.home

    def run(self, *options: object) -> Ended:
        """Run ``alphaswarm run SPEC --json`` over the home to its end."""
        return run(self.home, *self.run_arguments, *options)

    @property
    def run_arguments(self) -> tuple[object, ...]:
        """What the command is given, after its home."""
        return ("run", self.spec_file, "--json")


def make_shelf(folder: Path) -> Shelf:
    """Return a shelf with the state ``initialised``: every store made, bars for the tiny study, nothing run."""
    shelf = Shelf(folder)
    shelf.spec_file.write_text(TINY, encoding="utf-8")
    write_bars(shelf.home / "bars" / "tiny.csv")
    ended = run(shelf.home, "init")
    assert ended.code == 0, ended.err
    shelf.keep("initialised")
    return shelf


@contextmanager
def opened(home: Path) -> Generator[House]:
    """Open the house over *home* in this process."""
    house = compose(home)
    with house.instance:
        yield house
