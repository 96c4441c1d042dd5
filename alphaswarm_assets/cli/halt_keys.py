"""Keys of the halt switch that stand for more than one spec."""

from __future__ import annotations

from typing import Final

EVERYTHING: Final = "all"
"""Halts every spec; no spec key can be this word, since a key ends in its hash."""
