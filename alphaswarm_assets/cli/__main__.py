"""``python -m alphaswarm_assets.cli``: the command where its script is not on the path."""

from __future__ import annotations

from alphaswarm_assets.cli.app import app

app(prog_name="alphaswarm")
