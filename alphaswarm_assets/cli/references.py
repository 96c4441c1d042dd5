"""From what a person types to a spec: a YAML file, a registered key, or a name with one registered key."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from pathlib import Path

from alphaswarm_assets.errors import Fault, InvalidSpecError
from alphaswarm_assets.specs.loading import load_spec
from alphaswarm_assets.specs.registry import SpecRegistry
from alphaswarm_assets.specs.research import KEY_PATTERN, ResearchSpec


def is_file(reference: str) -> bool:
    """Return whether *reference* names a file rather than something registered."""
    return reference.endswith((".yaml", ".yml")) or os.sep in reference or Path(reference).is_file()


def find_spec(reference: str, registry: Callable[[], SpecRegistry]) -> ResearchSpec:
    """Return the spec *reference* stands for; the registry is opened only if it is no file.

    Raises
    ------
    InvalidSpecError
        If the file is faulty, or nothing registered fits; what is near is named.
    """
    if is_file(reference):
        return load_spec(Path(reference))
    specs = registry()
    return specs.get(
        reference if KEY_PATTERN.fullmatch(reference) else _only_key(reference, specs.keys())
    )


def _only_key(name: str, keys: list[str]) -> str:
    same = [key for key in keys if key.rpartition("-")[0] == name]
    if len(same) == 1:
        return same[0]
    if same:
        problem = f"stands for {len(same)} registered specs"
        hint = f"give one of the keys: {', '.join(same)}"
    else:
        names = sorted({key.rpartition("-")[0] for key in keys})
        close = difflib.get_close_matches(name, [*names, *keys], n=1)
        problem = "is no file, and no registered key or name"
        hint = (
            f"did you mean {close[0]!r}?"
            if close
            else "see what is registered: alphaswarm spec list"
        )
    raise InvalidSpecError(name, [Fault(path="(reference)", problem=problem, hint=hint)])
