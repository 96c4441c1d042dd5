"""Canonical JSON and SHA-256: the identity of specs, artifacts and ledger rows."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

from alphaswarm_assets.errors import InvalidInputError

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
JsonObject: TypeAlias = dict[str, Json]

_MAX_DEPTH = 100


def canonical_json(value: object) -> str:
    """Return *value* as JSON with sorted keys, no spaces, ASCII only.

    Raises
    ------
    InvalidInputError
        If a number is not finite, a key is not a string, a value has no JSON form, or the nesting has no end; the
        path is named.
    """
    _refuse_what_has_no_form(value, "$", 0)
    return json.dumps(
        value,
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=True,
        allow_nan=False,
        default=_as_dict,
    )


def pretty_json(value: object) -> str:
    """Return *value* as canonical JSON in a form people read: sorted keys, two-space indent, final newline."""
    _refuse_what_has_no_form(value, "$", 0)
    text = json.dumps(
        value, sort_keys=True, indent=2, ensure_ascii=True, allow_nan=False, default=_as_dict
    )
    return text + "\n"


def digest_bytes(data: bytes) -> str:
    """Return the SHA-256 of *data* as 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def digest_json(value: object) -> str:
    """Return the SHA-256 of the canonical JSON of *value* as 64 hex digits."""
    return digest_bytes(canonical_json(value).encode())


def _as_dict(value: Mapping[str, object]) -> dict[str, object]:
    return dict(value)


def _refuse_what_has_no_form(value: object, path: str, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise InvalidInputError(
            f"a record is nested at most {_MAX_DEPTH} deep, was deeper at {path[:80]}..."
        )
    if value is None or isinstance(value, bool | int | str):
        return
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInputError(f"a number in a record must be finite, was {value!r} at {path}")
        return
    if isinstance(value, Mapping):
        for key, item in cast("Mapping[object, object]", value).items():
            if not isinstance(key, str):
                raise InvalidInputError(
                    f"a key in a record must be a string, was {key!r} at {path}"
                )
            _refuse_what_has_no_form(item, f"{path}.{key}", depth + 1)
        return
    if isinstance(value, list | tuple):
        for i, item in enumerate(cast("Sequence[object]", value)):
            _refuse_what_has_no_form(item, f"{path}[{i}]", depth + 1)
        return
    raise InvalidInputError(
        f"a record holds JSON values only, was {type(value).__name__} at {path}"
    )
