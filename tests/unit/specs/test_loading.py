from __future__ import annotations

import re
import time
from datetime import date
from pathlib import Path

import pytest

from alphaswarm_assets.errors import InvalidSpecError
from alphaswarm_assets.specs.loading import load_spec, parse_spec, validate_spec

VALID = """\
name: two-stocks
dataset:
  symbols: [AAPL, IBM]
  start: 2005-01-03
  end: 2012-12-31
training:
  seed: 7
  total_timesteps: 200_000
  learning_rate: 1e-3
"""


def _faults(text: str) -> list[str]:
    with pytest.raises(InvalidSpecError) as caught:
        parse_spec(text, source="study.yaml")
    return [str(fault) for fault in caught.value.faults]


def _with(section: str) -> list[str]:
    return _faults(VALID + section)


def test_a_valid_text_is_read() -> None:
    spec = parse_spec(VALID, source="study.yaml")
    assert spec.dataset.symbols == ("AAPL", "IBM")
    assert (spec.dataset.start, spec.dataset.end) == (date(2005, 1, 3), date(2012, 12, 31))
    assert spec.training.total_timesteps == 200_000
    assert spec.training.learning_rate == 0.001


def test_every_fault_is_listed_at_once_with_the_users_paths() -> None:
    text = """\
name: Two Stocks
dataset: {sybmols: [AAPL], start: 2012-01-02, end: 2011-01-03, features: [return_1, retrun_5]}
walk_forward: {n_blocks: 12}
training:
  total_timesteps: 0
  n_envs: 2
  n_steps: 4
  learning_rate: true
  hidden_sizes: [64, 0]
  advantage: {class_name: GAEAdvantage, kwargs: {x: .nan}}
evaluation: {n_seeds: 3, seed_list: [1, 2], episodes: 0, bootstrap: {alpha: 1}}
promotion: {min_seeds: 2.5}
mlflow: {}
"""
    paths = [fault.partition(":")[0] for fault in _faults(text)]
    assert paths == [
        "dataset.end",
        "dataset.features[1]",
        "dataset.sybmols",
        "evaluation.bootstrap.alpha",
        "evaluation.episodes",
        "evaluation.seed_list",
        "mlflow.register_model_as",
        "name",
        "promotion.min_seeds",
        "training.advantage.class",
        "training.advantage.class_name",
        "training.advantage.kwargs.x",
        "training.batch_size",
        "training.hidden_sizes[1]",
        "training.learning_rate",
        "training.seed",
        "training.total_timesteps",
        "walk_forward.n_blocks",
    ]


@pytest.mark.parametrize(
    ("section", "fault"),
    [
        (
            "promotoin: {min_sharpe: 1}",
            "promotoin: is not a field of a spec (did you mean 'promotion'?)",
        ),
        (
            "promotion: {min_sharp: 1}",
            "promotion.min_sharp: is not a field of a spec (did you mean 'min_sharpe'?)",
        ),
        (
            "evaluation: {bootstrap: {n_resample: 500}}",
            "evaluation.bootstrap.n_resample: is not a field of a spec (did you mean 'n_resamples'?)",
        ),
        (
            "environment: {pipeline: [{class: A}, {clas: B, class: B}]}",
            "environment.pipeline[1].clas: is not a field of a spec (did you mean 'class'?)",
        ),
        (
            "mlflow: {register_model_as: m, uri: x}",
            "mlflow.uri: is not a field of a spec (known fields here: register_model_as)",
        ),
        (
            "environment: {engine: portfoilo}",
            (
                "environment.engine: input should be 'portfolio', 'event', 'vector' or 'lob', was 'portfoilo' "
                "(did you mean 'portfolio'?)"
            ),
        ),
        ("function-after: 1", "function-after: is not a field of a spec (known fields here: "),
    ],
)
def test_a_misspelt_key_or_choice_gets_a_suggestion(section: str, fault: str) -> None:
    assert [found.startswith(fault) for found in _with(section)] == [True]


def test_an_unknown_feature_gets_a_suggestion_and_the_list() -> None:
    (fault,) = _faults(
        "name: a\ndataset: {features: [volatilty_21]}\ntraining: {seed: 1, total_timesteps: 1}"
    )
    assert fault.startswith("dataset.features[0]: must be one of return_1, return_5, ")
    assert fault.endswith("was 'volatilty_21'; did you mean 'volatility_21'?")


def test_twelve_blocks_are_refused_with_the_reason() -> None:
    assert _with("walk_forward: {n_blocks: 12}") == [
        (
            "walk_forward.n_blocks: input should be less than or equal to 9, was 12 "
            "(the graph has folds f0 to f7: at most 9 blocks)"
        )
    ]


@pytest.mark.parametrize(
    "value", ["true", "false", "'7'", "7.0", "1e5", ".nan", "null", "[7]", "-1", "2**3"]
)
def test_what_is_no_integer_is_no_seed(value: str) -> None:
    (fault,) = _faults(f"name: a\ntraining: {{seed: {value}, total_timesteps: 1}}")
    assert fault.startswith("training.seed: ")


def test_a_whole_number_written_as_a_float_is_refused_with_the_integer_to_write() -> None:
    (fault,) = _faults("name: a\ntraining: {seed: 1, total_timesteps: 1e5}")
    assert (
        fault
        == "training.total_timesteps: input should be a valid integer, was 100000.0 (write 100000)"
    )


@pytest.mark.parametrize("value", ["true", "'10'", ".nan", ".inf", "-.inf", "1e999", "-1"])
def test_what_is_no_finite_number_in_range_is_no_cost(value: str) -> None:
    (fault,) = _with(f"environment: {{cost_bps: {value}}}")
    assert fault.startswith("environment.cost_bps: ")


def test_a_number_that_is_not_finite_is_refused_inside_free_arguments_too() -> None:
    (fault,) = _with("environment: {slippage: {class: A, kwargs: {deep: [1, {x: .inf}]}}}")
    assert fault == "environment.slippage.kwargs.deep[1].x: must be a finite number, was inf"


@pytest.mark.parametrize(
    "value", ["2013-02-30", "2013-2-3", "20130203", "2013-02-03 10:00:00", "soon"]
)
def test_what_is_no_day_is_no_start(value: str) -> None:
    (fault,) = _faults(
        f"name: a\ndataset: {{start: {value}}}\ntraining: {{seed: 1, total_timesteps: 1}}"
    )
    assert fault.startswith("dataset.start: input should be a valid date")


def test_a_symbol_that_yaml_reads_as_a_boolean_is_refused_with_the_remedy() -> None:
    (fault,) = _faults(
        "name: a\ndataset: {symbols: [IBM, ON]}\ntraining: {seed: 1, total_timesteps: 1}"
    )
    assert fault.startswith(
        "dataset.symbols[1]: input should be a valid string, was True (put it in quotes"
    )


def test_a_section_left_empty_is_refused_with_the_remedy() -> None:
    assert _with("walk_forward:\n") == [
        "walk_forward: input should be an object, was None (leave it out, or give its fields)"
    ]


def test_a_section_of_the_wrong_kind_and_a_missing_section_are_two_faults() -> None:
    assert _faults("name: a\ndataset: [1]") == [
        "dataset: input should be an object, was [1]",
        "training: is required and was not given",
    ]


def test_a_value_that_is_no_plain_value_is_refused_by_path() -> None:
    (fault,) = _with("description: !!binary aGVsbG8=")
    assert fault == "description: must be text, a number, a date, a list or a mapping, was bytes"


def test_a_huge_number_is_a_fault_and_no_crash() -> None:
    (fault,) = _faults("name: a\ntraining: {seed: 0x" + "f" * 5000 + ", total_timesteps: 1}")
    assert fault == "training.seed: must be a number of at most 1024 bits, was one of 20000"


def test_an_alias_bomb_in_a_file_fails_fast(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    path = tmp_path / "bomb.yaml"
    path.write_text("\n".join(lines))
    started = time.perf_counter()
    with pytest.raises(InvalidSpecError, match=re.escape(str(path)) + r".*\n.*write the value out"):
        load_spec(path)
    assert time.perf_counter() - started < 0.5


def test_a_file_is_read_and_named_in_errors(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(VALID, encoding="utf-8-sig")
    assert load_spec(path) == parse_spec(VALID, source="x")
    path.write_bytes(b"name: \xff\xfe")
    for broken in (path, tmp_path, tmp_path / "none.yaml"):
        with pytest.raises(InvalidSpecError, match="could not be read") as caught:
            load_spec(broken)
        assert caught.value.source == str(broken)


def test_a_mapping_is_validated_as_a_text_is() -> None:
    spec = validate_spec(
        {
            "name": "two-stocks",
            "dataset": {
                "symbols": ("AAPL", "IBM"),
                "start": date(2005, 1, 3),
                "end": "2012-12-31",
            },
            "training": {"seed": 7, "total_timesteps": 200_000, "learning_rate": 0.001},
        },
        source="mapping",
    )
    assert spec == parse_spec(VALID, source="text")
