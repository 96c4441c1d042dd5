"""``alphaswarm demo``: the two example specs, from real bars to a verdict each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from alphaswarm_assets.cli.consoles import print_json, standard_error, standard_output
from alphaswarm_assets.cli.errors import finish
from alphaswarm_assets.cli.options import JsonFlag
from alphaswarm_assets.cli.place import place_of


def demo(
    ctx: typer.Context,
    *,
    specs: Annotated[
        Path,
        typer.Option(metavar="FOLDER", help="Folder whose demo-*.yaml are run.", show_default=True),
    ] = Path("specs"),
    as_json: JsonFlag = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show nothing before the end.")
    ] = False,
) -> None:
    """Run the example specs: one that its gates refuse and one that they pass, with the baselines beside both.

    The second time nothing is made again, and the counts say so.

    Example:  alphaswarm demo
    """
    from alphaswarm_assets.cli.demonstration import demo_specs, demonstrate, show_summary

    found = demo_specs(specs)
    console = standard_error() if as_json else standard_output()
    place = place_of(ctx)
    endings = demonstrate(place.make(), found, console, quiet=quiet, tell=not as_json)
    if as_json:
        print_json({"runs": [ending.to_json() for ending in endings]})
    else:
        show_summary(console, endings)
    finish(max(ending.exit_code for ending in endings))
