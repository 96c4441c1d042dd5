"""What a halt says, whichever switch it stands on."""

from __future__ import annotations

UNREACHABLE = "halt switch unreachable"
"""How the reason starts when the switch could not be read, which means halted."""


def worded(reason: str) -> str:
    """Return *reason*, or words for a blank one: a brake is not refused for want of them."""
    return reason.strip() or "no reason given"


def unreachable(cause: str) -> str:
    """Return the reason that stands for a switch that could not be read."""
    return f"{UNREACHABLE}: {cause}"
