"""The `alphaswarm` command: thin over specs, drive and the composition root. Nothing heavy loads before it is used."""

from __future__ import annotations

from alphaswarm_assets.cli.app import app

__all__ = ["app"]
