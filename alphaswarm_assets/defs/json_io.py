"""Hand-offs between the ops of one asset, as JSON and nothing else: no object is ever pickled."""

import json
from pathlib import Path
from typing import Any

import dagster as dg

from alphaswarm_assets.records.canonical import canonical_json


class JsonHandOff(dg.IOManager):
    """Writes what an op returns as canonical JSON under the run's folder, and reads it back."""

    def __init__(self, folder: Path) -> None:
        """Keep the hand-offs under *folder*. It is no config: the UI would ask for it at every launch."""
        self._folder = folder

    def handle_output(self, context: dg.OutputContext, obj: object) -> None:
        """Write *obj*; what has no JSON form is refused with its path."""
        path = self._path(context)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(canonical_json(obj), encoding="utf-8")

    def load_input(self, context: dg.InputContext) -> Any:
        """Read what the upstream op returned."""
        upstream = context.upstream_output
        if upstream is None:
            raise dg.DagsterInvariantViolationError("a hand-off has an op before it")
        return json.loads(self._path(upstream).read_text(encoding="utf-8"))

    def _path(self, context: dg.OutputContext) -> Path:
        return self._folder.joinpath(*context.get_identifier()).with_suffix(".json")
