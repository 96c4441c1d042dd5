"""``alphaswarm spec``: check, hash, register, list and compare specs. Files alone need no store and no orchestrator."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from alphaswarm_assets.cli.consoles import print_json, standard_output
from alphaswarm_assets.cli.errors import ExitCode, finish
from alphaswarm_assets.cli.options import JsonFlag
from alphaswarm_assets.cli.place import place_of

specs = typer.Typer(
    name="spec",
    no_args_is_help=True,
    help="Check, hash, register, list and compare research specs.",
)

FilesArgument = Annotated[
    list[Path], typer.Argument(metavar="FILE...", help="YAML files.", show_default=False)
]


@specs.command()
def check(ctx: typer.Context, files: FilesArgument, *, as_json: JsonFlag = False) -> None:
    """List every fault of the FILEs with its path, and what cannot be run here; exit 1 if there is any.

    Example:  alphaswarm spec check specs/*.yaml
    """
    from alphaswarm_assets.cli.sources import source_names
    from alphaswarm_assets.cli.spec_views import check_file, show_checked

    home = place_of(ctx).folder
    checked = [check_file(path, home) for path in files]
    if as_json:
        print_json({"specs": [one.to_json() for one in checked], "sources": source_names(home)})
    else:
        show_checked(standard_output(), checked)
        typer.echo(f"bar sources here: {', '.join(source_names(home))}")
    if not all(one.runnable for one in checked):
        finish(ExitCode.FAILED)


@specs.command("hash")
def hash_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A YAML file.", show_default=False)],
    *,
    as_json: JsonFlag = False,
) -> None:
    """Print the SHA-256 of a spec and its key: the identity of everything that is made from it.

    Example:  alphaswarm spec hash specs/demo-pass.yaml
    """
    from alphaswarm_assets.specs.loading import load_spec

    spec = load_spec(file)
    if as_json:
        print_json({"file": str(file), "key": spec.key, "hash": spec.snapshot_hash()})
    else:
        typer.echo(f"{spec.snapshot_hash()}  {spec.key}")


@specs.command()
def register(ctx: typer.Context, files: FilesArgument, *, as_json: JsonFlag = False) -> None:
    """Add the specs to the registry; the same content again adds nothing. `run` does this by itself.

    Example:  alphaswarm spec register specs/*.yaml
    """
    from alphaswarm_assets.specs.loading import load_spec

    loaded = [load_spec(path) for path in files]
    registry = place_of(ctx).make().specs
    rows = [
        {"file": str(path), "key": spec.key, "added": registry.register(spec)}
        for path, spec in zip(files, loaded, strict=True)
    ]
    if as_json:
        print_json({"specs": rows})
        return
    for row in rows:
        typer.echo(f"{row['key']}  {'registered' if row['added'] else 'was registered already'}")


@specs.command("list")
def list_(ctx: typer.Context, *, as_json: JsonFlag = False) -> None:
    """List every registered spec, oldest first.

    Example:  alphaswarm spec list
    """
    from alphaswarm_assets.cli.spec_views import list_rows, show_listed

    rows = list_rows(place_of(ctx).open().specs)
    if as_json:
        print_json({"specs": rows})
    else:
        show_listed(standard_output(), rows)


@specs.command()
def diff(
    ctx: typer.Context,
    a: Annotated[
        str,
        typer.Argument(metavar="A", help="A YAML file or a registered key.", show_default=False),
    ],
    b: Annotated[
        str,
        typer.Argument(metavar="B", help="A YAML file or a registered key.", show_default=False),
    ],
    *,
    as_json: JsonFlag = False,
) -> None:
    """Show every field in which two specs differ, old and new, defaults filled in.

    Example:  alphaswarm spec diff ppo-5e21a0b1c2d3 specs/demo-pass.yaml
    """
    from alphaswarm_assets.cli.references import find_spec
    from alphaswarm_assets.cli.spec_views import changes, show_changes

    old, new = (find_spec(name, lambda: place_of(ctx).open().specs) for name in (a, b))
    rows = changes(old, new)
    if as_json:
        print_json({"a": old.key, "b": new.key, "changes": [row.to_json() for row in rows]})
    else:
        show_changes(standard_output(), old, new, rows)
