"""Component names a spec may use: built-ins, the names they were known under before, and entry points.

A `module_path` is looked up here and never imported blindly.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points
from types import MappingProxyType

from alphaswarm_assets.specs.environment import ComponentSpec

ENTRY_POINT_GROUP = "alphaswarm.components"
"""Packages add components under this group; the entry's name is ``<field>:<class>``."""

ADVANTAGES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "GAEAdvantage": ("alphaswarm_assets.learning.advantages", "alphaswarm.rl.advantage.gae"),
        "ReinforcePlusPlusAdvantage": ("alphaswarm.rl.advantage.reinforce_plus_plus",),
        "GRPOAdvantage": ("alphaswarm.rl.advantage.grpo",),
    }
)
"""Advantage estimators by name, with every path each is known under."""

SUPPORTED_ADVANTAGES = frozenset({"GAEAdvantage"})
"""Those this version can compute."""


def refusal(
    field: str, component: ComponentSpec, known: Mapping[str, tuple[str, ...]]
) -> str | None:
    """Return why *component* cannot be resolved for *field*, or None if its name is known."""
    paths = known.get(component.class_name)
    if paths is None:
        extra = {entry.name for entry in entry_points(group=ENTRY_POINT_GROUP)}
        if f"{field}:{component.class_name}" in extra:
            return None
        return f"must name a known component ({', '.join(sorted(known))}), was {component.class_name!r}"
    if component.module_path is not None and component.module_path not in paths:
        return f"module_path of {component.class_name} must be one of {list(paths)}, was {component.module_path!r}"
    return None
