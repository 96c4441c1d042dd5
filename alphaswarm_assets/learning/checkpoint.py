"""Checkpoints: a trained policy as two files, safetensors and JSON, checked on the way in; nothing is unpickled."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
import safetensors
from safetensors import numpy as tensors

from alphaswarm_assets.arrays import AnyArray, Float32Array, Float64Array
from alphaswarm_assets.errors import InvalidInputError, StaleArtifactError
from alphaswarm_assets.learning.normalizer import Normalizer
from alphaswarm_assets.learning.policy import Policy
from alphaswarm_assets.records.canonical import JsonObject, digest_bytes, pretty_json

FORMAT = "alphaswarm.policy/1"
"""Changes whenever the meaning of a field or an array does."""

TENSORS_FILE, JSON_FILE = "policy.safetensors", "policy.json"

CurveRow: TypeAlias = dict[str, "int | float | None"]
"""One row of a learning curve: step, mean_episode_return (sum of rewards, mean over the episodes that ended since the
row before; None if none did), policy_loss, value_loss, entropy, approx_kl, clip_fraction, explained_variance."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TrainedPolicy:
    """A policy with how it came about."""

    policy: Policy
    curve: tuple[CurveRow, ...]
    meta: JsonObject
    """Seed, training window, steps and updates actually done."""


def policy_files(trained: TrainedPolicy) -> dict[str, bytes]:
    """Return *trained* as files by name; the same policy gives the same bytes."""
    policy = trained.policy
    arrays: dict[str, AnyArray] = {**policy.parameters, **policy.normalizer.tensors()}
    # It writes the memory as it lies: a transposed view would come back as another matrix.
    data = tensors.save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    description = {
        "format": FORMAT,
        "symbols": list(policy.symbols),
        "feature_names": list(policy.normalizer.feature_names),
        "hidden_sizes": list(policy.hidden_sizes),
        "tensors_sha256": digest_bytes(data),
        "meta": trained.meta,
        "curve": list(trained.curve),
    }
    return {TENSORS_FILE: data, JSON_FILE: pretty_json(description).encode()}


def read_policy(files: Mapping[str, bytes]) -> TrainedPolicy:
    """Return the policy that `policy_files` wrote.

    Raises
    ------
    InvalidInputError
        If a file is missing, is not what its name says, or its arrays are not this policy's.
    StaleArtifactError
        If the format is another version's, or the arrays are not the ones the JSON was written with.
    """
    for name in (TENSORS_FILE, JSON_FILE):
        if name not in files:
            raise InvalidInputError(
                f"a policy needs {TENSORS_FILE} and {JSON_FILE}, {name} was not there"
            )
    description = _description(files[JSON_FILE])
    found = digest_bytes(files[TENSORS_FILE])
    if description["tensors_sha256"] != found:
        raise StaleArtifactError(
            f"{TENSORS_FILE} must have SHA-256 {description['tensors_sha256']}, as {JSON_FILE} says, was {found}. "
            "Take both files from the same checkpoint."
        )
    try:
        arrays = tensors.load(files[TENSORS_FILE])
        normalizer = Normalizer(
            feature_names=tuple(cast("list[str]", description["feature_names"])),
            mean=cast("Float64Array", arrays.pop("normalizer.mean")),
            std=cast("Float64Array", arrays.pop("normalizer.std")),
        )
        policy = Policy(
            symbols=tuple(cast("list[str]", description["symbols"])),
            hidden_sizes=tuple(cast("list[int]", description["hidden_sizes"])),
            normalizer=normalizer,
            parameters=cast("dict[str, Float32Array]", arrays),
        )
    except (KeyError, TypeError, safetensors.SafetensorError) as error:
        raise InvalidInputError(f"{TENSORS_FILE} does not hold a policy: {error!r}") from error
    curve = tuple(cast("list[CurveRow]", description["curve"]))
    return TrainedPolicy(policy=policy, curve=curve, meta=cast("JsonObject", description["meta"]))


def _description(data: bytes) -> JsonObject:
    try:
        raw = json.loads(data)
    except ValueError as error:
        raise InvalidInputError(f"{JSON_FILE} must be JSON, was {data[:40]!r}") from error
    if not isinstance(raw, dict):
        raise InvalidInputError(f"{JSON_FILE} must be a JSON object, was {type(raw).__name__}")
    description = cast("JsonObject", raw)
    if description.get("format") != FORMAT:
        raise StaleArtifactError(
            f"{JSON_FILE} must have format {FORMAT!r}, was {description.get('format')!r}"
        )
    needed = {"symbols", "feature_names", "hidden_sizes", "tensors_sha256", "meta", "curve"}
    if missing := sorted(needed - set(description)):
        raise InvalidInputError(f"{JSON_FILE} lacks {', '.join(missing)}")
    return description
