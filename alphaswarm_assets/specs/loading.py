"""YAML in, a `ResearchSpec` or every fault at once out."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Hashable, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any, cast, get_args

import yaml
from pydantic import BaseModel, ValidationError

from alphaswarm_assets.errors import Fault, InvalidSpecError
from alphaswarm_assets.specs.research import ResearchSpec


class _Loader(yaml.SafeLoader):
    """Safe YAML that refuses a key given twice and reads 1e-3 as a number."""


def _mapping(loader: _Loader, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
    seen: set[str] = set()
    for key_node, _ in node.value:
        key = str(cast("object", key_node.value))
        if key in seen:
            raise yaml.MarkedYAMLError(problem=f"key {key!r} is given twice", problem_mark=key_node.start_mark)
        seen.add(key)
    return yaml.SafeLoader.construct_mapping(loader, node, deep=deep)


_Loader.construct_mapping = _mapping  # pyright: ignore[reportAttributeAccessIssue]
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)[eE][-+]?[0-9]+$"),
    list("-+.0123456789"),
)


def load_spec(path: Path) -> ResearchSpec:
    """Return the spec in the YAML file *path*.

    Raises
    ------
    InvalidSpecError
        If the file cannot be read, is not YAML, or breaks any rule; all faults are listed.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        fault = Fault(path="(file)", problem=f"could not be read: {error}", hint="give the path of a YAML file")
        raise InvalidSpecError(str(path), [fault]) from error
    return parse_spec(text, source=str(path))


def parse_spec(text: str, *, source: str) -> ResearchSpec:
    """Return the spec in the YAML *text*; *source* names it in errors.

    Raises
    ------
    InvalidSpecError
        If the text is not YAML or breaks any rule; all faults are listed.
    """
    try:
        raw: object = yaml.load(text, Loader=_Loader)  # noqa: S506 -- a SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        where = getattr(error, "problem_mark", None)
        line = f"line {where.line + 1}, column {where.column + 1}" if where else "(file)"
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise InvalidSpecError(source, [Fault(path=line, problem=f"is not valid YAML: {problem}")]) from error
    if not isinstance(raw, Mapping):
        what = "empty" if raw is None else type(raw).__name__
        raise InvalidSpecError(source, [Fault(path="(file)", problem=f"must be a mapping of fields, was {what}")])
    return validate_spec(cast("Mapping[str, object]", raw), source=source)


def validate_spec(raw: Mapping[str, object], *, source: str) -> ResearchSpec:
    """Return the spec described by the mapping *raw*.

    Raises
    ------
    InvalidSpecError
        If it breaks any rule; all faults are listed.
    """
    try:
        return ResearchSpec.model_validate_json(json.dumps(raw, default=_plain))
    except ValidationError as error:
        faults = [_fault(cast("Mapping[str, Any]", item)) for item in error.errors()]
    except TypeError as error:
        faults = [Fault(path="(file)", problem=f"holds a value that is no spec value: {error}")]
    raise InvalidSpecError(source, sorted(faults, key=lambda f: f.path))


def _plain(value: object) -> str:
    if isinstance(value, date | datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} {value!r}")


def _fault(item: Mapping[str, Any]) -> Fault:
    location = tuple(part for part in item["loc"] if part not in {"function-after", "constrained-str"})
    path = _path(location) or "(spec)"
    value = item.get("input")
    shown = "" if isinstance(value, Mapping) else f", was {_short(value)}"
    match item["type"]:
        case "extra_forbidden":
            return Fault(path=path, problem="is not a field of a spec", hint=_did_you_mean(location))
        case "missing":
            return Fault(path=path, problem="is required and was not given")
        case "value_error":
            message = str(item["ctx"]["error"])
            return Fault(path=path, problem=message)
        case _:
            message = str(item["msg"])
            return Fault(path=path, problem=message[:1].lower() + message[1:] + shown, hint=_remedy(location))


def _path(location: tuple[object, ...]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _remedy(location: tuple[object, ...]) -> str | None:
    if location[-1:] == ("n_blocks",):
        return "the graph has folds f0 to f7: at most 9 blocks"
    return None


def _did_you_mean(location: tuple[object, ...]) -> str | None:
    *parents, name = location
    model = _model_at(tuple(parents))
    if model is None:
        return None
    known = [field.alias or key for key, field in model.model_fields.items()]
    close = difflib.get_close_matches(str(name), known, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known fields here: {', '.join(sorted(known))}"


def _model_at(location: tuple[object, ...]) -> type[BaseModel] | None:
    model: type[BaseModel] = ResearchSpec
    for part in location:
        if isinstance(part, int):
            continue
        fields = {field.alias or key: field for key, field in model.model_fields.items()}
        if part not in fields:
            return None
        below = _model_in(fields[str(part)].annotation)
        if below is None:
            return None
        model = below
    return model


def _model_in(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for arg in get_args(annotation) if (found := _model_in(arg)) is not None), None)
