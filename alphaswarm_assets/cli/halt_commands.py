"""``alphaswarm halt`` and ``alphaswarm resume``: the brake on paper sessions."""

from __future__ import annotations

from typing import Annotated

import typer

from alphaswarm_assets.cli.consoles import print_json
from alphaswarm_assets.cli.options import JsonFlag, MaybeSpecArgument
from alphaswarm_assets.cli.place import Place, place_of
from alphaswarm_assets.ports import HALT_ALL

AllFlag = Annotated[bool, typer.Option("--all", help="Everything, whatever the spec.")]


def halt(
    ctx: typer.Context,
    spec: MaybeSpecArgument = None,
    *,
    everything: AllFlag = False,
    reason: Annotated[
        str, typer.Option(help="Why; whoever resumes is told.")
    ] = "halted by the operator",
    as_json: JsonFlag = False,
) -> None:
    """Stop the paper session of a SPEC, or all of them, within 50 steps; none starts until it is resumed.

    A halt that stands is left as it is, with its reason.

    Example:  alphaswarm halt my-spec.yaml --reason "prices look stale"   or:  alphaswarm halt --all
    """
    place = place_of(ctx)
    house = place.open()
    key = _key(place, spec, everything=everything)
    engaged = house.halts.engage(key, reason)
    standing = house.halts.reason(key) or reason
    if as_json:
        print_json({"key": key, "halted": True, "changed": engaged, "reason": standing})
    elif engaged:
        typer.echo(f"halted {_name(key)}: {standing}")
    else:
        typer.echo(f"{_name(key)} was halted already, and that stands: {standing}")


def resume(
    ctx: typer.Context,
    spec: MaybeSpecArgument = None,
    *,
    everything: AllFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Let a halted SPEC go, or lift the halt on everything, and say what it was halted for.

    Example:  alphaswarm resume my-spec.yaml   or:  alphaswarm resume --all
    """
    place = place_of(ctx)
    house = place.open()
    key = _key(place, spec, everything=everything)
    was = house.halts.release(key)
    left = house.halts.engaged()
    if as_json:
        print_json(
            {
                "key": key,
                "halted": False,
                "changed": was is not None,
                "reason": was,
                "still_halted": dict(left),
            }
        )
        return
    typer.echo(
        f"{_name(key)} goes on; it was halted for: {was}" if was else f"{_name(key)} was not halted"
    )
    for other, why in left.items():
        typer.echo(f"still halted: {_name(other)}, for: {why}")


def _key(place: Place, spec: str | None, *, everything: bool) -> str:
    from alphaswarm_assets.cli.references import find_spec
    from alphaswarm_assets.specs.research import KEY_PATTERN

    if (spec is None) != everything:
        raise typer.BadParameter("name one SPEC, or give --all", param_hint="SPEC")
    if spec is None:
        return HALT_ALL
    if KEY_PATTERN.fullmatch(spec):  # a brake asks no registry
        return spec
    return find_spec(spec, lambda: place.open().specs).key


def _name(key: str) -> str:
    return "everything" if key == HALT_ALL else key
