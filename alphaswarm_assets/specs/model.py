"""The base of every spec: frozen, closed to unknown keys, strict about types."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class SpecModel(BaseModel):
    """A frozen description.

    A field added after the first release is optional and defaults to None: None is left out of the canonical JSON,
    so the hash of every older spec stays where it was.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        populate_by_name=False,
        validate_default=True,
        protected_namespaces=(),
    )
