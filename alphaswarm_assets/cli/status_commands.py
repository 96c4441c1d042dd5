"""``alphaswarm status`` and ``alphaswarm verdict``: what there is, what runs, what is halted, what was decided."""

from __future__ import annotations

import typer

from alphaswarm_assets.cli.consoles import print_json, say, standard_error, standard_output
from alphaswarm_assets.cli.errors import ExitCode, finish
from alphaswarm_assets.cli.options import JsonFlag, MaybeSpecArgument, SpecArgument
from alphaswarm_assets.cli.place import place_of


def status(
    ctx: typer.Context, spec: MaybeSpecArgument = None, *, as_json: JsonFlag = False
) -> None:
    """Show every registered spec, or the cells of one: what is current, what runs and how far, what is halted.

    Example:  alphaswarm status   or, every cell of one:  alphaswarm status my-spec.yaml
    """
    from alphaswarm_assets.cli.references import find_spec
    from alphaswarm_assets.cli.standing import standing_of, standings
    from alphaswarm_assets.cli.status_views import show_one, show_overview, status_json

    house = place_of(ctx).open()
    halts = house.halts.engaged()
    one = find_spec(spec, lambda: house.specs) if spec is not None else None
    found = [standing_of(house, one)] if one is not None else standings(house)
    if as_json:
        print_json(status_json(house.home, found, halts))
    elif spec is None:
        show_overview(standard_output(), found, halts)
    else:
        show_one(standard_output(), found[0], halts)


def verdict(ctx: typer.Context, spec: SpecArgument, *, as_json: JsonFlag = False) -> None:
    """Show the latest verdict on the SPEC: the decision, each gate's evidence, the baselines; exit 1 if there is none.

    Example:  alphaswarm verdict my-spec.yaml
    """
    from alphaswarm_assets.cli.references import find_spec
    from alphaswarm_assets.cli.standing import verdict_on
    from alphaswarm_assets.cli.verdict_view import show_verdict, verdict_json

    house = place_of(ctx).open()
    key = find_spec(spec, lambda: house.specs).key
    view = verdict_on(house, key)
    if as_json:
        print_json({"key": key, "verdict": verdict_json(view)})
    elif view is not None:
        show_verdict(standard_output(), view)
    if view is None:
        say(standard_error(), f"{key} was never judged. Run it: alphaswarm run {spec}")
        finish(ExitCode.FAILED)
