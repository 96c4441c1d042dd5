"""The command line itself: the global options, and every command by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from alphaswarm_assets import __version__
from alphaswarm_assets.cli.demo_command import demo
from alphaswarm_assets.cli.errors import Guarded
from alphaswarm_assets.cli.halt_commands import halt, resume
from alphaswarm_assets.cli.init_command import init
from alphaswarm_assets.cli.place import Compose, Place, compose_house
from alphaswarm_assets.cli.run_command import run
from alphaswarm_assets.cli.spec_commands import specs
from alphaswarm_assets.cli.status_commands import status, verdict
from alphaswarm_assets.cli.ui_command import ui

app = typer.Typer(
    name="alphaswarm",
    cls=Guarded,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(*, wanted: bool) -> None:
    if wanted:
        typer.echo(f"alphaswarm {__version__}")
        raise typer.Exit


@app.callback()
def main(
    ctx: typer.Context,
    *,
    home: Annotated[
        Path | None,
        typer.Option(
            envvar="ALPHASWARM_HOME",
            metavar="PATH",
            help="Folder that holds everything that is made. Default: .alphaswarm in the working directory.",
        ),
    ] = None,
    version: Annotated[  # noqa: ARG001 -- its callback acts
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", is_eager=True, callback=_version
        ),
    ] = False,
) -> None:
    """From one research spec and real bars to an auditable promotion verdict.

    Start with:  alphaswarm demo   or:  alphaswarm run my-spec.yaml

    [bold]Exit codes[/bold]
    0    done; a REJECT is an answer, so it is 0 too
    1    something failed or was refused, and the message says what
    2    an invalid spec or command line
    70   a fault of this program; its traceback is in the logs of the home
    75   another process drives the spec; try again later
    130  interrupted; the same command resumes
    """
    compose: Compose = ctx.obj or compose_house
    ctx.obj = Place(home=home, compose=compose)


app.command()(init)
app.add_typer(specs)
app.command()(run)
app.command()(status)
app.command()(verdict)
app.command()(halt)
app.command()(resume)
app.command()(ui)
app.command()(demo)
