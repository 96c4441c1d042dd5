"""How a command ends: exit codes, a message for every error raised on purpose, a log for every other."""

from __future__ import annotations

import os
import time
import traceback
from enum import IntEnum
from pathlib import Path
from typing import Any, NoReturn

import typer
from rich.text import Text
from typer.core import TyperGroup

from alphaswarm_assets.cli.consoles import say, standard_error
from alphaswarm_assets.errors import (
    AlphaSwarmError,
    BusyError,
    InvalidSpecError,
    NotYetSupportedError,
)


class ExitCode(IntEnum):
    """What the shell is told."""

    DONE = 0
    FAILED = 1
    INVALID = 2
    CRASHED = 70
    """EX_SOFTWARE: a fault of this program."""
    BUSY = 75
    """EX_TEMPFAIL: another process drives the spec; the same command works later."""
    INTERRUPTED = 130


class Guarded(TyperGroup):
    """The root command: no error leaves it as a traceback, and none is swallowed."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command and turn what it raises into a message and an exit code.

        Raises
        ------
        typer.Exit
            With the code that fits the error.
        """
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            say(standard_error(), "interrupted; nothing is lost, the same command resumes")
            raise typer.Exit(ExitCode.INTERRUPTED) from None
        except AlphaSwarmError as error:
            show_error(error)
            raise typer.Exit(exit_code_of(error)) from error
        except (typer.Abort, BrokenPipeError):
            raise
        except Exception as error:
            if hasattr(
                error, "exit_code"
            ):  # the parser's own: a usage error, or the exit a command asked for
                raise
            _show_crash(error, ctx.params.get("home") or Path(".alphaswarm"))
            raise typer.Exit(ExitCode.CRASHED) from error


def finish(code: int) -> NoReturn:
    """End the command with *code*.

    Raises
    ------
    typer.Exit
        Always.
    """
    raise typer.Exit(code)


def exit_code_of(error: AlphaSwarmError) -> ExitCode:
    """Return the exit code of an error raised on purpose."""
    if isinstance(error, BusyError):
        return ExitCode.BUSY
    if isinstance(error, InvalidSpecError | NotYetSupportedError):
        return ExitCode.INVALID
    return ExitCode.FAILED


def show_error(error: AlphaSwarmError) -> None:
    """Print the message of *error* on standard error."""
    say(standard_error(), Text.assemble(("error: ", "bold red"), str(error)))


def _show_crash(error: Exception, home: Path) -> None:
    lines = "".join(traceback.format_exception(error))
    summary = f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}"
    console = standard_error()
    say(console, Text.assemble(("unexpected error: ", "bold red"), summary))
    try:
        where = _write_crash(lines, home / "logs")
    except OSError as unwritable:
        say(console, f"its traceback could not be written under {home}: {unwritable}; it follows")
        say(console, lines)
    else:
        say(
            console,
            f"This is a fault of alphaswarm. Its traceback is in {where}; what was made is kept.",
        )


def _write_crash(lines: str, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    path = folder / f"crash-{stamp}-{os.getpid()}.log"
    path.write_text(lines, encoding="utf-8")
    return path
