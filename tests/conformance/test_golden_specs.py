"""Hashes that never move: what stands here names partitions, artifacts and verdicts that exist already."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from alphaswarm_assets.specs.loading import load_spec, validate_spec
from alphaswarm_assets.specs.model import SpecModel
from alphaswarm_assets.specs.research import ResearchSpec
from alphaswarm_assets.specs.training import TrainingSpec

FOLDER = Path(__file__).parent / "specs"

GOLDEN = {
    "gated-portfolio": "9062463d84ed37f209ef4ebd5468971673708e49a5c7ecde6a0df21f432dd232",
    "advantage-extension": "8b6857cbfb8812454f9cf96490e1bbce7786a42224e9979631903e9e60e96542",
}


def _raw(name: str) -> dict[str, Any]:
    # PyYAML's own loader, so that what is compared was not read by the code under test.
    return yaml.safe_load((FOLDER / f"{name}.yaml").read_text())


def _hash(raw: dict[str, Any]) -> str:
    return validate_spec(raw, source="test").snapshot_hash()


def _leaves(raw: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in raw.items():
        if isinstance(value, dict) and "kwargs" not in path:
            yield from _leaves(value, (*path, key))
        elif value is not None:
            yield (*path, key)


def _reversed(value: object) -> object:
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(value)}
    return value


@pytest.mark.parametrize(("name", "expected"), GOLDEN.items())
def test_the_hash_of_a_legacy_spec_never_moves(name: str, expected: str) -> None:
    assert load_spec(FOLDER / f"{name}.yaml").snapshot_hash() == expected


@pytest.mark.parametrize(("name", "expected"), GOLDEN.items())
def test_the_order_of_keys_is_irrelevant(name: str, expected: str) -> None:
    raw = _reversed(_raw(name))
    assert isinstance(raw, dict)
    assert list(raw) != list(_raw(name))
    assert _hash(raw) == expected


@pytest.mark.parametrize(("name", "expected"), GOLDEN.items())
def test_what_was_registered_reads_back_to_the_same_hash(name: str, expected: str) -> None:
    canonical = load_spec(FOLDER / f"{name}.yaml").canonical()
    assert validate_spec(canonical, source="registry").snapshot_hash() == expected


@pytest.mark.parametrize(("name", "expected"), GOLDEN.items())
def test_a_field_written_as_null_is_a_field_left_out(name: str, expected: str) -> None:
    raw = _raw(name)
    for section, model in ResearchSpec.model_fields.items():
        if model.default is None and section not in raw:
            raw[section] = None
    raw["training"] = {"post_train_battery": None} | raw["training"]
    assert _hash(raw) == expected


class _AlphaSpec(SpecModel):
    budget: int | None = None


class _LaterTraining(TrainingSpec):
    controller: str | None = None
    replay: _AlphaSpec | None = None


class _LaterSpec(ResearchSpec):
    """The spec of a later release, whose new fields are optional and None, as `SpecModel` asks."""

    training: _LaterTraining  # pyright: ignore[reportIncompatibleVariableOverride]
    alphas: _AlphaSpec | None = None


@pytest.mark.parametrize(("name", "expected"), GOLDEN.items())
def test_fields_a_later_release_adds_do_not_move_the_hash(name: str, expected: str) -> None:
    text = load_spec(FOLDER / f"{name}.yaml").model_dump_json(by_alias=True)
    later = _LaterSpec.model_validate_json(text)
    assert later.snapshot_hash() == expected
    alphas = later.model_copy(update={"alphas": _AlphaSpec(budget=3)})
    assert alphas.snapshot_hash() != expected


def test_a_section_that_is_set_but_empty_is_a_new_version() -> None:
    raw = _raw("advantage-extension")
    hashes = {_hash(raw), _hash(raw | {"promotion": {}}), _hash(raw | {"paper": {}})}
    later = _LaterSpec.model_validate_json(
        validate_spec(raw, source="t").model_dump_json(by_alias=True)
    )
    hashes.add(later.model_copy(update={"alphas": _AlphaSpec()}).snapshot_hash())
    assert len(hashes) == 4


def test_null_inside_free_arguments_still_counts() -> None:
    raw = _raw("advantage-extension")
    del raw["training"]["advantage"]["kwargs"]["kl_coef"]
    assert _hash(raw) != GOLDEN["advantage-extension"]


@pytest.mark.parametrize("name", GOLDEN)
def test_taking_any_field_out_makes_another_spec_or_none(name: str) -> None:
    defaults = {
        ("training", "log_interval"),
        ("evaluation", "bootstrap", "n_resamples"),
        ("evaluation", "bootstrap", "alpha"),
        ("paper", "max_episodes"),
        ("paper", "duration_seconds"),
        ("paper", "approval_expiry_days"),
        ("dataset", "source"),
    }
    required = {("name",), ("training", "seed"), ("training", "total_timesteps")}
    required |= {("mlflow", "register_model_as"), ("training", "advantage", "class")}
    for path in _leaves(_raw(name)):
        raw = _raw(name)
        section = raw
        for key in path[:-1]:
            section = section[key]
        del section[path[-1]]
        if path in required:
            with pytest.raises(ValueError, match=r"\.".join(path)):
                _hash(raw)
        else:
            assert (_hash(raw) == GOLDEN[name]) == (path in defaults), path
