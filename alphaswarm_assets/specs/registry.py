"""The registry of specs: an append-only map from partition key to the spec itself."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import cast

from alphaswarm_assets.errors import Fault, InvalidSpecError, LedgerError
from alphaswarm_assets.records.canonical import JsonObject
from alphaswarm_assets.records.ledger import Ledger
from alphaswarm_assets.specs.loading import validate_spec
from alphaswarm_assets.specs.research import ResearchSpec, check_key


@dataclass(frozen=True, slots=True)
class SpecRegistry:
    """Specs by key, in a hash-chained ledger."""

    ledger: Ledger

    def register(self, spec: ResearchSpec) -> bool:
        """Add *spec* and return True; registering the same content again adds nothing and returns False.

        Raises
        ------
        InvalidSpecError
            If another content stands under the same key.
        """
        key, snapshot = check_key(spec.key), spec.snapshot_hash()
        held = self._bodies().get(key)
        if held is None:
            body: JsonObject = {"key": key, "hash": snapshot, "spec": spec.canonical()}
            self.ledger.append(body)
            return True
        if held["hash"] != snapshot:
            fault = Fault(
                path="name",
                problem=f"key {key!r} already stands for hash {held['hash']}, was {snapshot}",
                hint="give the spec another name",
            )
            raise InvalidSpecError(key, [fault])
        return False

    def get(self, key: str) -> ResearchSpec:
        """Return the spec registered under *key*.

        Raises
        ------
        InvalidSpecError
            If no spec has this key, or the one that has it no longer hashes to what was registered.
        """
        bodies = self._bodies()
        if key not in bodies:
            close = difflib.get_close_matches(key, list(bodies), n=1)
            hint = (
                f"did you mean {close[0]!r}?"
                if close
                else "register it: alphaswarm spec register FILE"
            )
            raise InvalidSpecError(
                key, [Fault(path="(key)", problem="is not registered", hint=hint)]
            )
        body = bodies[key]
        spec = validate_spec(cast("dict[str, object]", body["spec"]), source=key)
        if spec.snapshot_hash() != body["hash"] or spec.key != key:
            problem = f"hashes to {spec.snapshot_hash()} now and was registered as {body['hash']}"
            hint = "this version reads the spec differently; run it with the version that registered it"
            raise InvalidSpecError(key, [Fault(path="(hash)", problem=problem, hint=hint)])
        return spec

    def keys(self) -> list[str]:
        """Return every key, oldest first."""
        return list(self._bodies())

    def _bodies(self) -> dict[str, JsonObject]:
        bodies: dict[str, JsonObject] = {}
        for row in self.ledger.rows():
            missing = {"key", "hash", "spec"} - row.body.keys()
            if missing:
                raise LedgerError(
                    f"row {row.index} is no registered spec, it lacks {sorted(missing)}"
                )
            held = bodies.setdefault(cast("str", row.body["key"]), row.body)
            if held["hash"] != row.body["hash"]:
                raise LedgerError(
                    f"key {row.body['key']!r} stands for two specs, {held['hash']} and, in row {row.index}, "
                    f"{row.body['hash']}. Restore the ledger from a copy; do not edit it."
                )
        return bodies
