from __future__ import annotations

import time
from datetime import date

import pytest

from alphaswarm_assets.errors import Fault, InvalidSpecError
from alphaswarm_assets.specs.reading import MAX_BYTES, plain, read_yaml

BILLION_LAUGHS = """\
a: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]
b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]
c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]
d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]
e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]
f: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e, *e]
g: &g [*f, *f, *f, *f, *f, *f, *f, *f, *f, *f]
h: &h [*g, *g, *g, *g, *g, *g, *g, *g, *g, *g]
name: *h
"""


def _fault_of(text: str) -> str:
    with pytest.raises(InvalidSpecError) as caught:
        read_yaml(text, source="study.yaml")
    (fault,) = caught.value.faults
    return str(fault)


def test_a_billion_laughs_is_refused_at_once_by_line() -> None:
    started = time.perf_counter()
    assert _fault_of(BILLION_LAUGHS) == (
        "line 2, column 8: is not valid YAML: an alias (*name) is not read here, write the value out"
    )
    assert time.perf_counter() - started < 0.5


def test_a_merge_of_an_alias_and_a_value_that_holds_itself_are_refused() -> None:
    assert "line 2, column 9: is not valid YAML: an alias" in _fault_of("a: &a {x: 1}\nb: {<<: *a}")
    assert "an alias" in _fault_of("a: &a [*a]")


def test_a_text_too_long_for_a_spec_is_refused_before_it_is_parsed() -> None:
    started = time.perf_counter()
    assert "must be at most 1000000 bytes long" in _fault_of("- a\n" * MAX_BYTES)
    assert time.perf_counter() - started < 0.5


@pytest.mark.parametrize("depth", [400, 20_000])
def test_a_text_nested_without_end_is_refused(depth: int) -> None:
    assert (
        _fault_of("a: " + "[" * depth + "]" * depth)
        == "(file): is not valid YAML: it is nested too deep"
    )


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [
        ("seed: 1\nseed: 2", "seed", 2),
        ("training:\n  seed: 1\n  gamma: 0.9\n  seed: 1", "seed", 4),
        ("a: {b: 1, 'b': 2}", "b", 1),
        ("1: a\n'1': b", "1", 2),
    ],
)
def test_a_key_given_twice_is_refused_by_line(text: str, key: str, line: int) -> None:
    fault = _fault_of(text)
    assert fault.startswith(f"line {line}, column ")
    assert f"key {key!r} is given twice" in fault


@pytest.mark.parametrize(
    "text",
    [
        "!!python/object/apply:os.system ['true']",
        "!!python/name:os.system",
        "!!python/tuple [1, 2]",
        "!mine {a: 1}",
        "!!bool maybe",
        "!!int ''",
        "!!float x",
        "!!null {a: 1}",
    ],
)
def test_a_tag_that_is_not_plain_yaml_or_does_not_fit_is_refused_by_line(text: str) -> None:
    assert _fault_of(f"name: a\nvalue: {text}").startswith("line 2, column 8: is not valid YAML: ")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "(file): must be a mapping of fields, was empty"),
        ("- a\n- b", "(file): must be a mapping of fields, was list"),
        ("just words", "(file): must be a mapping of fields, was str"),
        ("a: 1\n---\nb: 2", "line 2, column 1: is not valid YAML: but found another document"),
        (
            "a: [1",
            "line 1, column 6: is not valid YAML: expected ',' or ']', but got '<stream end>'",
        ),
        ('a: "\x07"', "(file): is not valid YAML: unacceptable character #x0007"),
    ],
)
def test_a_text_that_is_no_one_mapping_is_refused(text: str, problem: str) -> None:
    assert _fault_of(text).startswith(problem)


def test_numbers_read_as_people_write_them_and_dates_stay_text() -> None:
    raw = read_yaml("a: [1e-3, 3E4, -.5e+1, 1.5e3, 2, 1_000]\nb: 2013-03-01\nc: e3", source="s")
    assert raw["a"] == [0.001, 30000.0, -5.0, 1500.0, 2, 1000]
    assert raw["b"] == "2013-03-01"
    assert raw["c"] == "e3"


def test_plain_lists_every_value_without_a_form_by_its_path() -> None:
    faults: list[Fault] = []
    raw = {
        "a": {"day": date(2013, 3, 1), "blob": b"x"},
        "b": [1, float("nan"), {"c": {1, 2}}],
        True: "on",
        "half": "\ud800",
        "huge": 2**2000,
    }
    value = plain(raw, "", faults)
    assert value == {
        "a": {"day": "2013-03-01", "blob": None},
        "b": [1, None, {"c": None}],
        "half": None,
        "huge": None,
    }
    assert {fault.path: fault.problem for fault in faults} == {
        "a.blob": "must be text, a number, a date, a list or a mapping, was bytes",
        "b[1]": "must be a finite number, was nan",
        "b[2].c": "must be text, a number, a date, a list or a mapping, was set",
        "True": "a field's name must be text, was True",
        "half": "must be Unicode text, was text with half a character",
        "huge": "must be a number of at most 1024 bits, was one of 2001",
    }
