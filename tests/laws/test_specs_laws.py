"""What always holds for specs and streams: one hash a meaning, one error a fault, no stream moved by another."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from alphaswarm_assets.errors import InvalidSpecError
from alphaswarm_assets.specs.dataset import LOOK_BACK_BARS
from alphaswarm_assets.specs.loading import parse_spec, validate_spec
from alphaswarm_assets.specs.research import check_key
from alphaswarm_assets.streams import Streams, battery_seeds

SEEDS = st.integers(0, 2**63 - 1)
UNIT = st.floats(0, 1, exclude_min=True, exclude_max=True)
NAMES = st.from_regex(r"[a-z0-9][a-z0-9-]{0,39}", fullmatch=True)


# JSON writes what lies beyond as two halves, which YAML does not put together, and control characters as they are.
TEXT = st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs", "Cc"])


def _some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


FREE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | UNIT | st.text(TEXT, max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(TEXT, max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
COMPONENTS = st.fixed_dictionaries(
    {"class": st.text(TEXT, min_size=1, max_size=8)},
    optional={"kwargs": st.dictionaries(st.text(TEXT, max_size=4), FREE)},
)
SPECS = st.fixed_dictionaries(
    {
        "name": NAMES,
        "training": st.fixed_dictionaries(
            {"seed": SEEDS, "total_timesteps": st.integers(1, 10**9)},
            optional={
                "gamma": UNIT,
                "n_envs": st.integers(8, 100),
                "hidden_sizes": st.lists(st.integers(1, 512), min_size=1, max_size=3),
                "advantage": COMPONENTS,
            },
        ),
    },
    optional={
        "description": st.text(TEXT, max_size=20),
        "dataset": _some(
            symbols=st.lists(
                st.from_regex(r"[A-Z]{1,5}", fullmatch=True), min_size=1, max_size=4, unique=True
            ),
            start=st.dates(date(1990, 1, 1), date(2010, 1, 1)).map(str),
            features=st.lists(st.sampled_from(sorted(LOOK_BACK_BARS)), min_size=1, unique=True),
        ),
        "walk_forward": _some(n_blocks=st.integers(1, 9), purge_bars=st.integers(0, 99)),
        "evaluation": _some(n_seeds=st.integers(1, 30), compute_dsr=st.booleans()),
        "promotion": st.none()
        | _some(min_sharpe=st.floats(-5, 5), require_ci_positive=st.booleans()),
        "paper": st.none() | _some(max_drawdown=UNIT, max_episodes=st.integers(1, 99)),
    },
)


class _Quoting(yaml.SafeDumper):
    """Writes every text in quotes, since YAML 1.1 and its readers differ on what `0e0` is without."""


_Quoting.add_representer(
    str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')
)


def _shuffled(value: Any, random: Any) -> Any:
    if isinstance(value, dict):
        keys = list(value)
        random.shuffle(keys)
        return {key: _shuffled(value[key], random) for key in keys}
    return [_shuffled(item, random) for item in value] if isinstance(value, list) else value


@given(SPECS, st.randoms(use_true_random=False))
def test_the_hash_depends_on_what_is_said_and_never_on_how(
    raw: dict[str, Any], random: Any
) -> None:
    spec = validate_spec(raw, source="law")
    text = yaml.dump(_shuffled(raw, random), Dumper=_Quoting, sort_keys=False)
    assert parse_spec(text, source="law").snapshot_hash() == spec.snapshot_hash()
    assert parse_spec(json.dumps(raw), source="law").snapshot_hash() == spec.snapshot_hash()


@given(SPECS)
def test_the_canonical_form_is_a_fixed_point(raw: dict[str, Any]) -> None:
    spec = validate_spec(raw, source="law")
    again = validate_spec(spec.canonical(), source="registry")
    assert again.canonical() == spec.canonical()
    assert again.snapshot_hash() == spec.snapshot_hash()
    assert check_key(spec.key) == spec.key


@given(SPECS, SPECS)
def test_two_specs_have_one_hash_only_if_they_say_the_same(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    first, second = validate_spec(one, source="law"), validate_spec(other, source="law")
    assert (first.snapshot_hash() == second.snapshot_hash()) == (
        first.canonical() == second.canonical()
    )


@given(SPECS, st.text(alphabet="abcdefghijklmnopqrstuvwxyz_", min_size=1))
def test_a_field_nobody_knows_is_always_refused(raw: dict[str, Any], name: str) -> None:
    known = {"name", "description", "study", "dataset", "walk_forward", "environment", "training"}
    if name in known | {"evaluation", "promotion", "mlflow", "paper"}:
        return
    with pytest.raises(InvalidSpecError) as caught:
        validate_spec(raw | {name: 1}, source="law")
    assert [fault.path for fault in caught.value.faults] == [name]


@given(st.text(alphabet="ab01.:,-[]{}&*!|>'\"?%@#~<= \n\t_eEnNyY\ufeff\x00é", max_size=60))
@example("!!float")
@example("? [a]\n: b")
@example("%YAML 9.9\n---\na: b")
@example("a: !!map [b]")
@example("a: !!set [b]")
@example("a: !!omap [[b]]")
@example("<<: [1]")
@example("a: 1:99999999999999999999")
@example("!!str {a: b}: c")
def test_no_text_breaks_the_reader_in_another_way_than_by_faults(text: str) -> None:
    with pytest.raises(InvalidSpecError) as caught:
        parse_spec(text, source="law")
    assert caught.value.faults


@settings(max_examples=50)
@given(
    st.dictionaries(
        st.sampled_from(["name", "dataset", "training", "evaluation", "promotion", "paper", "x"])
        | st.integers(),
        st.recursive(
            st.none()
            | st.booleans()
            | st.integers()
            | st.floats()
            | st.text()
            | st.binary()
            | st.dates(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
            max_leaves=8,
        ),
    )
)
def test_no_mapping_breaks_the_validation_in_another_way_than_by_faults(
    raw: dict[Any, Any],
) -> None:
    with pytest.raises(InvalidSpecError) as caught:
        validate_spec(raw, source="law")
    assert len({(fault.path, fault.problem) for fault in caught.value.faults}) == len(
        caught.value.faults
    )


@given(SEEDS, st.integers(0, 60), st.integers(0, 60))
def test_a_longer_battery_starts_with_a_shorter_one(seed: int, n: int, more: int) -> None:
    longer = battery_seeds(seed, n + more)
    assert longer[:n] == battery_seeds(seed, n)
    assert len(set(longer)) == n + more


@given(
    SEEDS,
    st.lists(st.text(alphabet="ab/0", max_size=4), min_size=2, max_size=5, unique=True),
    st.integers(0, 99),
)
def test_drawing_from_one_stream_never_shifts_another(seed: int, names: list[str], n: int) -> None:
    alone = {name: Streams(seed).generator(name).random(3).tolist() for name in names}
    family = Streams(seed)
    together = {name: family.generator(name) for name in names}
    for name in reversed(names[1:]):
        together[name].random(n)
    assert together[names[0]].random(3).tolist() == alone[names[0]]
    assert len({tuple(numbers) for numbers in alone.values()}) == len(names)
