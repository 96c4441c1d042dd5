"""``alphaswarm init``: the home folder and every store in it."""

from __future__ import annotations

import typer
from rich.text import Text

from alphaswarm_assets.cli.consoles import say, standard_output
from alphaswarm_assets.cli.place import place_of


def init(ctx: typer.Context) -> None:
    """Create the home folder with every store in it, once; doing it again changes nothing.

    Other commands do this by themselves where they need it.

    Example:  alphaswarm init   or elsewhere:  alphaswarm --home /data/alphaswarm init
    """
    house = place_of(ctx).compose(place_of(ctx).home)
    created = house.initialise()
    console = standard_output()
    if created:
        held = ", ".join(
            sorted(
                path.name for path in house.home.iterdir() if path.is_dir() and path.name != "tmp"
            )
        )
        say(console, Text.assemble(("made ", "bold green"), f"{house.home} with {held}"))
    else:
        say(console, f"{house.home} is there already; nothing was changed")
    say(
        console,
        "next: alphaswarm demo · alphaswarm spec check FILE · alphaswarm run FILE · alphaswarm ui",
    )
