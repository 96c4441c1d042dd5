"""``alphaswarm ui``: the Dagster UI and its daemon over this home, until Ctrl-C."""

from __future__ import annotations

from typing import Annotated

import typer

from alphaswarm_assets.cli.place import place_of


def ui(
    ctx: typer.Context,
    *,
    port: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=65535,
            help="Port on localhost. Default: 3000, or the next that is free.",
            show_default=False,
        ),
    ] = None,
    daemon: Annotated[
        bool,
        typer.Option(
            "--daemon/--no-daemon", help="Also run the daemon, which drives what the UI asks for."
        ),
    ] = True,
) -> None:
    """Open the asset graph, runs and verdicts of this home in the browser, on localhost, until Ctrl-C.

    The daemon obeys what is asked for in the UI (the job `research`). Logs are in the folder logs of the home.

    Example:  alphaswarm ui --port 4000
    """
    from alphaswarm_assets.cli.serving import serve

    serve(place_of(ctx).make(), port=port, with_daemon=daemon)
