"""Consoles: what people read goes to standard output, what went wrong to standard error."""

from __future__ import annotations

import math
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from alphaswarm_assets.records.canonical import pretty_json

PIPE_WIDTH = 120
"""Columns where the output is no terminal; a key or a reason is never cut to fit, it wraps."""


def standard_output() -> Console:
    """Return the console of results; brackets in a name are no markup."""
    return _console(stderr=False)


def standard_error() -> Console:
    """Return the console of errors, and of everything but the result under ``--json``."""
    return _console(stderr=True)


def say(console: Console, text: str | Text) -> None:
    """Print a sentence: wrapped to a terminal, on one line everywhere else."""
    console.print(text, soft_wrap=not console.is_terminal)


def print_json(value: object) -> None:
    """Print *value* as one JSON object; a number that is not finite becomes null."""
    typer.echo(pretty_json(_finite(value)), nl=False)


def is_live(console: Console) -> bool:
    """Return whether *console* can be redrawn in place."""
    return console.is_terminal and not console.is_dumb_terminal


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    return console


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
