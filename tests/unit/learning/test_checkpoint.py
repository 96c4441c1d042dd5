from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from alphaswarm_assets.errors import AlphaSwarmError, InvalidInputError, StaleArtifactError
from alphaswarm_assets.learning.checkpoint import TrainedPolicy, policy_files, read_policy
from alphaswarm_assets.learning.normalizer import Normalizer
from alphaswarm_assets.learning.policy import Policy, initial_parameters, parameter_shapes
from alphaswarm_assets.streams import Streams


@pytest.fixture
def trained() -> TrainedPolicy:
    shapes = parameter_shapes(2 * 3 + 2 * 2 + 1, (6, 5), 2)
    return TrainedPolicy(
        policy=Policy(
            symbols=("A", "B"),
            hidden_sizes=(6, 5),
            normalizer=Normalizer(
                feature_names=("x", "y", "z"),
                mean=np.array([0.1, -2.0, 3.0]),
                std=np.array([1.0, 0.25, 7.0]),
            ),
            parameters=initial_parameters(
                shapes, initial_log_std=-0.5, random=Streams(3).generator("init")
            ),
        ),
        curve=({"step": 64, "mean_episode_return": None, "policy_loss": 0.1 + 0.2},),
        meta={"seed": 3, "window": [0, 50]},
    )


def test_a_policy_comes_back_bit_for_bit(trained: TrainedPolicy) -> None:
    back = read_policy(policy_files(trained))
    assert back.curve == trained.curve
    assert back.meta == trained.meta
    assert back.policy.symbols == trained.policy.symbols
    assert back.policy.hidden_sizes == (6, 5)
    assert all((back.policy.parameters[k] == v).all() for k, v in trained.policy.parameters.items())
    assert (back.policy.normalizer.std == trained.policy.normalizer.std).all()
    inputs = (np.ones((1, 2, 3)), np.ones((1, 2), dtype=np.bool_), np.zeros((1, 2)))
    assert (back.policy.target_weights(*inputs) == trained.policy.target_weights(*inputs)).all()


def test_a_transposed_parameter_comes_back_as_itself(trained: TrainedPolicy) -> None:
    parameters = {
        name: np.asfortranarray(array) for name, array in trained.policy.parameters.items()
    }
    policy = replace(trained.policy, parameters=parameters)
    back = read_policy(policy_files(replace(trained, policy=policy)))
    assert all((back.policy.parameters[k] == v).all() for k, v in parameters.items())


def test_writing_twice_gives_the_same_bytes(trained: TrainedPolicy) -> None:
    files = policy_files(trained)
    assert policy_files(read_policy(files)) == files


@pytest.mark.parametrize("name", ["policy.safetensors", "policy.json"])
def test_a_changed_byte_is_found(trained: TrainedPolicy, name: str) -> None:
    files = policy_files(trained)
    for at in range(0, len(files[name]), 37):
        changed = bytearray(files[name])
        changed[at] ^= 1
        try:
            back = read_policy({**files, name: bytes(changed)})
        except AlphaSwarmError:
            continue
        # What the JSON says beside the arrays is guarded by the artifact's manifest, not by the policy.
        assert name == "policy.json"
        assert all(
            (back.policy.parameters[k] == v).all() for k, v in trained.policy.parameters.items()
        )


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        (lambda f: f.pop("policy.json"), InvalidInputError, "policy.json was not there"),
        (lambda f: f.update({"policy.json": b"\x80\x04."}), InvalidInputError, "must be JSON"),
        (lambda f: f.update({"policy.json": b"[1]"}), InvalidInputError, "JSON object, was list"),
        (lambda f: f.update({"policy.json": b"{}"}), StaleArtifactError, "alphaswarm.policy/1"),
        (lambda f: f.update({"policy.safetensors": b""}), StaleArtifactError, "SHA-256"),
    ],
    ids=["missing", "a pickle", "no object", "no format", "other arrays"],
)
def test_a_bad_file_is_refused_with_the_reason(
    trained: TrainedPolicy, change: Any, error: type[Exception], said: str
) -> None:
    files = policy_files(trained)
    change(files)
    with pytest.raises(error, match=said):
        read_policy(files)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("symbols", ["A", "B", "C"], "must be finite float32 of shape"),
        ("hidden_sizes", [6], "missing or foreign"),
        ("feature_names", ["x"], "normaliser mean"),
        ("curve", None, "curve"),
    ],
)
def test_a_description_of_another_policy_is_refused(
    trained: TrainedPolicy, field: str, value: Any, said: str
) -> None:
    files = policy_files(trained)
    description = json.loads(files["policy.json"])
    description[field] = value
    if value is None:
        del description[field]
    files["policy.json"] = json.dumps(description).encode()
    with pytest.raises(InvalidInputError, match=said):
        read_policy(files)


def test_arrays_that_are_no_safetensors_are_refused(trained: TrainedPolicy) -> None:
    files = policy_files(trained)
    description = json.loads(files["policy.json"])
    files["policy.safetensors"] = b"\x80\x04\x95 a pickle, say"
    description["tensors_sha256"] = hashlib.sha256(files["policy.safetensors"]).hexdigest()
    files["policy.json"] = json.dumps(description).encode()
    with pytest.raises(InvalidInputError, match="does not hold a policy"):
        read_policy(files)
