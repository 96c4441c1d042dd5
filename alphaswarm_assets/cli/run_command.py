"""``alphaswarm run``: one spec, from its bars to a verdict."""

from __future__ import annotations

from typing import Annotated

import typer

from alphaswarm_assets.cli.consoles import print_json, standard_error, standard_output
from alphaswarm_assets.cli.errors import finish
from alphaswarm_assets.cli.options import JsonFlag, SpecArgument
from alphaswarm_assets.cli.place import place_of


def run(
    ctx: typer.Context,
    spec: SpecArgument,
    *,
    fold: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FOLD",
            help="Only this fold (f0, f1, …); may be given again.",
            show_default=False,
        ),
    ] = None,
    parallel: Annotated[
        bool,
        typer.Option("--parallel", help="Train the seeds of a fold in processes of their own."),
    ] = False,
    as_json: JsonFlag = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show nothing before the end.")
    ] = False,
) -> None:
    """Make everything the SPEC asks for that is not current, then tell the verdict with its reasons.

    What is current is never made again.
    What failed or was interrupted is resumed by the same command.
    A REJECT is an answer and exits with 0, a cell that failed with 1,
    Ctrl-C with 130, a spec that another process drives with 75.

    Example:  alphaswarm run my-spec.yaml   or, one fold alone:  alphaswarm run my-spec.yaml --fold f0
    """
    from alphaswarm_assets.cli.driving import drive_and_watch
    from alphaswarm_assets.cli.references import find_spec
    from alphaswarm_assets.cli.report import show_ending

    place = place_of(ctx)
    research = find_spec(spec, lambda: place.open().specs)
    unknown = sorted(set(fold or ()) - set(research.folds))
    if unknown:
        there = ", ".join(research.folds)
        raise typer.BadParameter(
            f"{research.key} has the folds {there}, was asked for {', '.join(unknown)}",
            param_hint="--fold",
        )
    house = place.make()
    shown_on = standard_error() if as_json else standard_output()
    ending = drive_and_watch(
        house, research, shown_on, folds=fold or None, parallel=parallel, quiet=quiet
    )
    if as_json:
        print_json(ending.to_json())
    else:
        show_ending(shown_on, ending)
    finish(ending.exit_code)
