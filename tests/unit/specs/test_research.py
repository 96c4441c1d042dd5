from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.records.canonical import canonical_json, digest_bytes
from alphaswarm_assets.specs.loading import validate_spec
from alphaswarm_assets.specs.research import ResearchSpec, check_key
from alphaswarm_assets.streams import battery_seeds


def _spec(**sections: Any) -> ResearchSpec:
    training = {"seed": 7, "total_timesteps": 1000} | sections.pop("training", {})
    return validate_spec({"name": "study", "training": training, **sections}, source="test")


def test_the_hash_is_the_sha256_of_the_canonical_json_without_absent_fields() -> None:
    spec = _spec()
    text = canonical_json(spec.canonical())
    assert "null" not in text
    assert spec.snapshot_hash() == digest_bytes(text.encode())


def test_the_key_is_the_name_and_twelve_digits_of_the_hash() -> None:
    spec = _spec()
    assert spec.key == f"study-{spec.snapshot_hash()[:12]}"
    assert check_key(spec.key) == spec.key


@pytest.mark.parametrize(
    "key",
    [
        "",
        "study",
        "study-0123456789AB",
        "study-0123456789a",
        "Study-0123456789ab",
        "-study-0123456789ab",
        "f0|study-0123456789ab",
        "study-0123456789ab\n",
        "../study-0123456789ab",
    ],
)
def test_what_cannot_be_a_partition_key_is_refused(key: str) -> None:
    with pytest.raises(InvalidInputError, match="a spec key must look like"):
        check_key(key)


def test_seeds_are_literal_forked_or_the_training_seed_alone() -> None:
    assert _spec(evaluation={"seed_list": [5, 3, 9]}).seeds == (5, 3, 9)
    assert _spec(evaluation={"n_seeds": 4}).seeds == battery_seeds(7, 4)
    assert _spec().seeds == (7,)


@pytest.mark.parametrize(
    ("n_blocks", "folds"),
    [(1, ("f0",)), (2, ("f0",)), (4, ("f0", "f1", "f2")), (9, tuple(f"f{k}" for k in range(8)))],
)
def test_a_spec_of_k_blocks_has_k_less_one_folds(n_blocks: int, folds: tuple[str, ...]) -> None:
    assert _spec(walk_forward={"n_blocks": n_blocks}).folds == folds


def test_a_spec_is_frozen() -> None:
    spec = _spec()
    with pytest.raises(ValidationError, match="frozen"):
        spec.name = "other"  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(ValidationError, match="frozen"):
        spec.training.seed = 8  # pyright: ignore[reportAttributeAccessIssue]


def test_an_integer_where_a_number_is_asked_gives_the_hash_of_the_float() -> None:
    whole, decimal = _spec(environment={"cost_bps": 5}), _spec(environment={"cost_bps": 5.0})
    assert whole.snapshot_hash() == decimal.snapshot_hash()


def test_a_default_written_out_gives_the_hash_of_the_default() -> None:
    assert _spec(walk_forward={"n_blocks": 4}).snapshot_hash() == _spec().snapshot_hash()


def test_the_order_of_symbols_and_seeds_counts() -> None:
    one = _spec(dataset={"symbols": ["A", "B"]}, evaluation={"seed_list": [1, 2]})
    other = _spec(dataset={"symbols": ["B", "A"]}, evaluation={"seed_list": [1, 2]})
    third = _spec(dataset={"symbols": ["A", "B"]}, evaluation={"seed_list": [2, 1]})
    assert len({one.snapshot_hash(), other.snapshot_hash(), third.snapshot_hash()}) == 3


def test_the_look_back_is_that_of_the_longest_feature() -> None:
    assert _spec(dataset={"features": ["return_1", "volume_ratio_21"]}).dataset.look_back_bars == 21
    assert _spec().dataset.look_back_bars == 63
