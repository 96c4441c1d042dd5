"""Every exception this project raises on purpose.

* AlphaSwarmError
  x InvalidSpecError        - a description that can never be carried out; lists every fault with its path
  x NotYetSupportedError    - a valid field whose engine this version does not have; names the field
  x InvalidInputError       - an array, table or argument that is not what the callee needs
  x MarketDataError         - bars or a window that cannot be used: unknown symbol, no rows, bad prices
  x MissingArtifactError    - an artifact that should be there and is not
  x StaleArtifactError      - an artifact whose digest, or whose inputs' digests, are not the ones recorded
  x LedgerError             - an append-only ledger whose chain does not hold
  x StoreError              - a store that could not be written or opened: disk full, locked, not initialised
  x RefusedError            - a step that may not go on: no PASS, halted, expired
  x BusyError               - another process holds the lock
  x DivergedError           - a training whose loss is no longer a number

A gate that says no is not an error: it is a `Verdict`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class AlphaSwarmError(Exception):
    """Base of every exception raised on purpose."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """One thing wrong with a spec."""

    path: str
    """Where, in the user's field names: ``training.seed``, ``dataset.symbols[2]``."""
    problem: str
    """What was expected and what was there."""
    hint: str | None = None
    """What to do, when there is a good guess."""

    def __str__(self) -> str:
        """One line: path, problem, hint."""
        return f"{self.path}: {self.problem}" + (f" ({self.hint})" if self.hint else "")


class InvalidSpecError(AlphaSwarmError, ValueError):
    """A spec with at least one fault; `faults` holds all of them."""

    def __init__(self, source: str, faults: Sequence[Fault]) -> None:
        """Name the *source* (a file or a key) and every one of its *faults*."""
        lines = "\n".join(f"  - {fault}" for fault in faults)
        many = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        super().__init__(f"{source} is not a valid research spec, {many}:\n{lines}")
        self.source = source
        self.faults = tuple(faults)

    def __reduce__(self) -> tuple[type[InvalidSpecError], tuple[str, tuple[Fault, ...]]]:
        """Rebuild from source and faults, so that the error survives the way between two processes."""
        return type(self), (self.source, self.faults)


class NotYetSupportedError(AlphaSwarmError):
    """A spec asks, in valid fields, for engines this version does not have."""

    def __init__(self, source: str, faults: Sequence[Fault]) -> None:
        """Name every field that asks for what is not there."""
        lines = "\n".join(f"  - {fault}" for fault in faults)
        super().__init__(
            f"{source} is valid but cannot be run by this version:\n{lines}\n"
            "Change these fields, or run it with a version that has the engine."
        )
        self.source = source
        self.faults = tuple(faults)

    def __reduce__(self) -> tuple[type[NotYetSupportedError], tuple[str, tuple[Fault, ...]]]:
        """Rebuild from source and faults, so that the error survives the way between two processes."""
        return type(self), (self.source, self.faults)


class InvalidInputError(AlphaSwarmError, ValueError):
    """An array, table or argument is not what the callee needs."""


class MarketDataError(AlphaSwarmError, ValueError):
    """Bars or a window that cannot be used."""


class MissingArtifactError(AlphaSwarmError, LookupError):
    """An artifact that should be in the store is not there."""


class StaleArtifactError(AlphaSwarmError):
    """An artifact is not the one that was recorded, or was made from inputs that have changed."""


class LedgerError(AlphaSwarmError):
    """A hash-chained ledger does not hold."""


class StoreError(AlphaSwarmError, OSError):
    """A store could not be opened or written."""


class RefusedError(AlphaSwarmError):
    """A step that may not go on."""


class BusyError(AlphaSwarmError):
    """Another process holds the lock this step needs."""


class DivergedError(AlphaSwarmError, ArithmeticError):
    """A training whose loss is no longer a number; trying it again gives the same."""
