"""YAML text in, plain values out; what a spec has no use for is refused by place before it can do harm."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Mapping
from datetime import date
from typing import Any, cast

import yaml

from alphaswarm_assets.errors import Fault, InvalidSpecError

MAX_BYTES = 1_000_000
"""A longer text is no spec."""

_MAX_DEPTH = 32
_MAX_BITS = 1024


class _Loader(yaml.SafeLoader):
    """Safe YAML that refuses aliases and a key given twice, reads 1e-3 as a number and leaves a date as text."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        # A few nested aliases stand for billions of values.
        if self.check_event(yaml.AliasEvent):
            event = cast("yaml.Event", self.peek_event())
            raise yaml.MarkedYAMLError(
                problem="an alias (*name) is not read here, write the value out",
                problem_mark=event.start_mark,
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key_node, _ in node.value if node.id == "mapping" else ():
            key = str(cast("object", key_node.value))
            if key in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"key {key!r} is given twice", problem_mark=key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep=deep)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> object:
        # A scalar under an explicit tag (`!!bool maybe`) leaves PyYAML as any of these, without its place.
        try:
            return cast("object", super().construct_object(node, deep=deep))
        except (ValueError, LookupError, AttributeError, TypeError) as error:
            raise yaml.MarkedYAMLError(
                problem=f"value does not fit its tag {node.tag!r}", problem_mark=node.start_mark
            ) from error


def _text(loader: yaml.SafeLoader, node: yaml.Node) -> str:
    return str(loader.construct_scalar(cast("yaml.ScalarNode", node)))


_Loader.add_constructor("tag:yaml.org,2002:timestamp", _text)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)[eE][-+]?[0-9]+$"),
    list("-+.0123456789"),
)


def read_yaml(text: str, *, source: str) -> Mapping[str, object]:
    """Return the one mapping in the YAML *text*; *source* names it in errors.

    Raises
    ------
    InvalidSpecError
        If the text is too long, not YAML, no mapping, or uses aliases; the line is named.
    """
    if len(text) > MAX_BYTES:
        problem = (
            f"must be at most {MAX_BYTES} bytes long; a spec describes a study, it holds no data"
        )
        raise InvalidSpecError(source, [Fault(path="(file)", problem=problem)])
    try:
        raw: object = yaml.load(text, Loader=_Loader)  # noqa: S506 -- a SafeLoader
    except (yaml.YAMLError, RecursionError) as error:
        raise InvalidSpecError(source, [_yaml_fault(error)]) from error
    if not isinstance(raw, Mapping):
        what = "empty" if raw is None else type(raw).__name__
        fault = Fault(path="(file)", problem=f"must be a mapping of fields, was {what}")
        raise InvalidSpecError(source, [fault])
    return cast("Mapping[str, object]", raw)


def plain(value: object, path: str, faults: list[Fault], depth: int = 0) -> object:
    """Return *value* as JSON has it, dates as text; add to *faults* what has no such form, and return None there."""
    problem = _problem_with(value, depth)
    if problem is not None:
        faults.append(Fault(path=path or "(file)", problem=problem))
        return None
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return _plain_mapping(cast("Mapping[object, object]", value), path, faults, depth)
    if isinstance(value, list | tuple):
        items = cast("list[object] | tuple[object, ...]", value)
        return [plain(item, f"{path}[{i}]", faults, depth + 1) for i, item in enumerate(items)]
    return value


def _plain_mapping(
    value: Mapping[object, object], path: str, faults: list[Fault], depth: int
) -> dict[str, object]:
    out: dict[str, object] = {}
    for key, item in value.items():
        here = f"{path}.{key}" if path else str(key)
        if isinstance(key, str):
            out[key] = plain(item, here, faults, depth + 1)
        else:
            hint = "put it in quotes: YAML reads on, off, yes, no and y as booleans"
            problem = f"a field's name must be text, was {key!r}"
            faults.append(Fault(path=here, problem=problem, hint=hint))
    return out


def _problem_with(value: object, depth: int) -> str | None:
    if depth > _MAX_DEPTH:
        return f"is nested more than {_MAX_DEPTH} deep"
    match value:
        case float() if not math.isfinite(value):
            return f"must be a finite number, was {value!r}"
        case int() if value.bit_length() > _MAX_BITS:
            return f"must be a number of at most {_MAX_BITS} bits, was one of {value.bit_length()}"
        case str() if any("\ud800" <= character <= "\udfff" for character in value):
            return "must be Unicode text, was text with half a character"
        case None | bool() | int() | float() | str() | date() | Mapping() | list() | tuple():
            return None
        case _:
            return (
                f"must be text, a number, a date, a list or a mapping, was {type(value).__name__}"
            )


def _yaml_fault(error: yaml.YAMLError | RecursionError) -> Fault:
    if isinstance(error, RecursionError):
        return Fault(path="(file)", problem="is not valid YAML: it is nested too deep")
    mark = getattr(error, "problem_mark", None)
    place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "(file)"
    problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
    return Fault(path=place, problem=f"is not valid YAML: {problem}")
