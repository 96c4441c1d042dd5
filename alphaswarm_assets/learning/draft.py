"""Drafts: a half-done training as bytes, which a later run goes on from as if nothing had happened."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
import safetensors
from safetensors import numpy as tensors

from alphaswarm_assets.arrays import AnyArray
from alphaswarm_assets.markets.panel import Block, Panel
from alphaswarm_assets.records.canonical import JsonObject, canonical_json, digest_json
from alphaswarm_assets.specs.environment import EnvironmentSpec
from alphaswarm_assets.specs.training import TrainingSpec

DRAFT_FORMAT = "alphaswarm.ppo-draft/1"
"""Changes whenever a draft of before would be read wrongly or would not lead to the same bits."""

_KEY = "state"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class State:
    """Everything that training holds between two updates."""

    arrays: Mapping[str, AnyArray]
    facts: JsonObject
    """JSON: counters, the state of each stream, the curve so far."""


def fingerprint(
    *,
    panel: Panel,
    window: Block,
    training: TrainingSpec,
    environment: EnvironmentSpec,
    seed: int,
    libraries: Mapping[str, str],
) -> str:
    """Return a digest of all that decides the bits of a training run; a draft of another one is not gone on from."""
    market = hashlib.sha256()
    for name, array in panel.tensors().items():
        market.update(f"{name} {array.dtype} {array.shape}".encode())
        market.update(np.ascontiguousarray(array[window.start : window.stop]).tobytes())
    return digest_json(
        {
            "format": DRAFT_FORMAT,
            "market": market.hexdigest(),
            "symbols": list(panel.symbols),
            "features": list(panel.feature_names),
            "window": [window.start, window.stop],
            "training": training.model_dump(mode="json", by_alias=True),
            "environment": environment.model_dump(mode="json", by_alias=True),
            "seed": seed,
            "libraries": dict(libraries),
        }
    )


def encode_draft(state: State, run: str) -> bytes:
    """Return *state* of the training run with fingerprint *run* as bytes."""
    facts = canonical_json({"run": run, **state.facts})
    arrays = {name: np.ascontiguousarray(array) for name, array in state.arrays.items()}
    return tensors.save(arrays, metadata={_KEY: facts})


def decode_draft(data: bytes, run: str) -> State | None:
    """Return the state in *data*, or None if it is no draft of the training run with fingerprint *run*."""
    try:
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        facts = cast("JsonObject", json.loads(header["__metadata__"][_KEY]))
        arrays = tensors.load(data)
    except (ValueError, KeyError, TypeError, safetensors.SafetensorError):
        return None
    if facts.pop("run", None) != run:
        return None
    return State(arrays=arrays, facts=facts)


def stream_state(generator: np.random.Generator) -> JsonObject:
    """Return where a PCG64 *generator* stands; its 128-bit numbers as text."""
    state = generator.bit_generator.state
    return {
        "state": str(state["state"]["state"]),
        "inc": str(state["state"]["inc"]),
        "has_uint32": int(state["has_uint32"]),
        "uinteger": int(state["uinteger"]),
    }


def restore_stream(generator: np.random.Generator, state: Mapping[str, object]) -> None:
    """Put *generator* where `stream_state` found one."""
    generator.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": int(cast("str", state["state"])), "inc": int(cast("str", state["inc"]))},
        "has_uint32": cast("int", state["has_uint32"]),
        "uinteger": cast("int", state["uinteger"]),
    }
