"""Arguments and options that several commands share."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

SpecArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="SPEC",
        help="A YAML file, a registered key, or a name with one registered key.",
        show_default=False,
    ),
]

MaybeSpecArgument: TypeAlias = Annotated[
    str | None,
    typer.Argument(
        metavar="[SPEC]",
        help="A YAML file, a registered key, or a name with one registered key.",
        show_default=False,
    ),
]

JsonFlag: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--json", help="Print one JSON object on standard output, and nothing else there."
    ),
]
