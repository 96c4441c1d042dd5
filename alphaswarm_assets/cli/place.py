"""Where a command works: the home folder, and how the composition root is opened over it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

import typer

from alphaswarm_assets.errors import StoreError

if TYPE_CHECKING:  # a command that needs no house pays for none
    from alphaswarm_assets.cli.house import House

Compose: TypeAlias = "Callable[[Path | None], House]"


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """The home of this command."""

    home: Path | None
    """As it was given; None where it was not."""
    compose: Compose

    @property
    def folder(self) -> Path:
        """The home folder."""
        return self.home if self.home is not None else Path(".alphaswarm")

    def make(self) -> House:
        """Return the house, creating its stores where they are missing."""
        house = self.compose(self.home)
        house.initialise()
        return house

    def open(self) -> House:
        """Return the house that is there.

        Raises
        ------
        StoreError
            If nothing was ever made here.
        """
        if not self.folder.is_dir():
            raise StoreError(
                f"there is no AlphaSwarm home at {self.folder}. Make it with: alphaswarm init "
                "(or name another: --home PATH)"
            )
        return self.make()


def place_of(ctx: typer.Context) -> Place:
    """Return the place the root command put into *ctx*."""
    return cast("Place", ctx.obj)


def compose_house(home: Path | None) -> House:
    """Return the real composition root over *home*."""
    from alphaswarm_assets.definitions import compose

    return cast("House", compose(home))
