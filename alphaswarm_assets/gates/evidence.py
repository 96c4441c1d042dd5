"""What was measured about a study, as plain data: all a verdict is made from.

Evidence holds what was read, not what is acceptable. A file may hold anything, so a value that is no
number is kept as it is and found wanting by the gate that needs it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias, cast

from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.records.canonical import JsonObject
from alphaswarm_assets.statistics.undefined import Measured, Undefined

SCHEMA: Final = "alphaswarm.evidence/1"
"""Changes whenever the meaning of a field does."""

Scalar: TypeAlias = float | str | bool | None
"""What a JSON file may hold where a number is expected; an int counts as a float."""

UNITS: Final[Mapping[str, str]] = {
    "sharpe": "annual",
    "pbo": "probability",
    "dsr_probability": "probability",
    "total_return_ci_lo": "fraction",
}
"""The unit each reading must be in; in any other it is no evidence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """One measured number, or the reason there is none."""

    value: Scalar = None
    """None where nothing was measured; a value that is not finite is kept as its text."""
    reason: str | None = None
    """Why there is no value although it was looked for; None where nobody looked."""
    unit: str = ""
    """``annual``, ``probability``, ``fraction``: see `UNITS`."""
    scope: str = ""
    """What it was measured over: ``seeds``, ``configs``, ``battery``, ``ledger``, ``ensemble``."""

    def __post_init__(self) -> None:
        """Keep a value that has no JSON form as text."""
        object.__setattr__(self, "value", _in_json(self.value))

    @classmethod
    def of(cls, measured: Measured, *, unit: str, scope: str) -> Reading:
        """Read what a statistic answered: a number, or the reason for none."""
        if isinstance(measured, Undefined):
            return cls(reason=measured.reason, unit=unit, scope=scope)
        return cls(value=measured, unit=unit, scope=scope)

    def to_json(self) -> JsonObject:
        """Return the reading as JSON."""
        return {
            "value": self.value,
            "reason": self.reason,
            "unit": self.unit,
            "scope": self.scope,
        }

    @classmethod
    def from_json(cls, raw: object) -> Reading:
        """Rebuild what `to_json` wrote; what is not there reads as nothing measured."""
        entry = as_mapping(raw)
        value, reason = entry.get("value"), entry.get("reason")
        return cls(
            value=value if isinstance(value, float | int | str) else None,
            reason=reason if isinstance(reason, str) else None,
            unit=str(entry.get("unit", "")),
            scope=str(entry.get("scope", "")),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """Everything the gates of the seed profile look at."""

    n_seeds: Scalar = None
    """Seeds that were trained and evaluated."""
    n_distinct_seeds: Scalar = None
    """Seeds whose returns are not a copy of another's."""
    folds_expected: tuple[str, ...] = ()
    """Folds the spec has, by key: ``f0``, ``f1``."""
    folds_present: tuple[str, ...] = ()
    """Folds whose evaluation was read and verified."""
    sharpe: Reading = field(default_factory=Reading)
    """Annual Sharpe ratio, mean over seeds."""
    total_return_ci_lo: Reading = field(default_factory=Reading)
    """Lower bound of the interval of the mean total return over seeds."""
    pbo: Reading = field(default_factory=Reading)
    """Probability of backtest overfitting; scope ``seeds`` or ``configs``."""
    dsr_probability: Reading = field(default_factory=Reading)
    """Deflated Sharpe probability; scope ``battery`` or ``ledger``."""
    stale: tuple[str, ...] = ()
    """Why the evidence is not of what would be promoted; empty when it is."""

    def __post_init__(self) -> None:
        """Keep a count that has no JSON form as text."""
        object.__setattr__(self, "n_seeds", _in_json(self.n_seeds))
        object.__setattr__(self, "n_distinct_seeds", _in_json(self.n_distinct_seeds))

    def to_json(self) -> JsonObject:
        """Return the evidence as JSON; a verdict can be made again from its canonical form."""
        return {
            "schema": SCHEMA,
            "n_seeds": self.n_seeds,
            "n_distinct_seeds": self.n_distinct_seeds,
            "folds_expected": list(self.folds_expected),
            "folds_present": list(self.folds_present),
            "readings": {
                "sharpe": self.sharpe.to_json(),
                "total_return_ci_lo": self.total_return_ci_lo.to_json(),
                "pbo": self.pbo.to_json(),
                "dsr_probability": self.dsr_probability.to_json(),
            },
            "stale": list(self.stale),
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, object]) -> Evidence:
        """Rebuild what `to_json` wrote; a reading that is not there is missing evidence.

        Raises
        ------
        InvalidInputError
            If *raw* was written under another schema, or a list of it is not a list of strings.
        """
        if raw.get("schema") != SCHEMA:
            raise InvalidInputError(
                f"evidence schema must be {SCHEMA!r}, was {raw.get('schema')!r}"
            )
        entries = as_mapping(raw.get("readings"))
        return cls(
            n_seeds=_scalar(raw.get("n_seeds")),
            n_distinct_seeds=_scalar(raw.get("n_distinct_seeds")),
            folds_expected=_strings(raw, "folds_expected"),
            folds_present=_strings(raw, "folds_present"),
            sharpe=Reading.from_json(entries.get("sharpe")),
            total_return_ci_lo=Reading.from_json(entries.get("total_return_ci_lo")),
            pbo=Reading.from_json(entries.get("pbo")),
            dsr_probability=Reading.from_json(entries.get("dsr_probability")),
            stale=_strings(raw, "stale"),
        )


def as_mapping(raw: object) -> Mapping[str, object]:
    """Return *raw* if it is a JSON object, else an empty one."""
    return cast("Mapping[str, object]", raw) if isinstance(raw, Mapping) else {}


def _in_json(value: Scalar) -> Scalar:
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


def _scalar(value: object) -> Scalar:
    return value if isinstance(value, float | int | str) else None


def _strings(raw: Mapping[str, object], name: str) -> tuple[str, ...]:
    entries = raw.get(name)
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        raise InvalidInputError(f"evidence {name} must be a list of strings, was {entries!r}")
    texts = cast("Sequence[object]", entries)
    if not all(isinstance(text, str) for text in texts):
        raise InvalidInputError(f"evidence {name} must be a list of strings, was {entries!r}")
    return tuple(cast("Sequence[str]", texts))
