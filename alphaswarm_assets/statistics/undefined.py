"""A number that may not exist: `Measured` is a finite float, or `Undefined` with its reason."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from alphaswarm_assets.errors import InvalidInputError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Undefined:
    """Why there is no number where one was asked for."""

    reason: str
    """What is missing or degenerate, in words a person reads on a verdict's page."""


Measured: TypeAlias = float | Undefined
"""A finite number, or the reason there is none; never NaN, never infinite."""


def measured(value: float, name: str) -> Measured:
    """Return *value*, or `Undefined` when the arithmetic left the range of a float64.

    Parameters
    ----------
    value : float
        Any float, NaN and infinities included.
    name : str
        What was computed, for the reason: ``"sharpe"``.
    """
    if math.isfinite(value):
        return value
    return Undefined(f"{name} does not fit a float64")


def defined(answer: T | Undefined) -> T:
    """Return *answer* where the caller cannot go on without it.

    Parameters
    ----------
    answer : T or Undefined
        What a statistic answered.

    Raises
    ------
    InvalidInputError
        With its reason, if *answer* is undefined.
    """
    if isinstance(answer, Undefined):
        raise InvalidInputError(f"a value is needed here: {answer.reason}")
    return answer
