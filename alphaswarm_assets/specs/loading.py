"""YAML in, a `ResearchSpec` or every fault at once out."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast, get_args

from pydantic import BaseModel, ValidationError

from alphaswarm_assets.errors import Fault, InvalidSpecError
from alphaswarm_assets.specs.reading import MAX_BYTES, plain, read_yaml
from alphaswarm_assets.specs.research import ResearchSpec


def load_spec(path: Path) -> ResearchSpec:
    """Return the spec in the YAML file *path*.

    Raises
    ------
    InvalidSpecError
        If the file cannot be read, is not YAML, or breaks any rule; all faults are listed.
    """
    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES + 1).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        fault = Fault(
            path="(file)",
            problem=f"could not be read: {error}",
            hint="give the path of a YAML file",
        )
        raise InvalidSpecError(str(path), [fault]) from error
    return parse_spec(text, source=str(path))


def parse_spec(text: str, *, source: str) -> ResearchSpec:
    """Return the spec in the YAML *text*; *source* names it in errors.

    Raises
    ------
    InvalidSpecError
        If the text is not YAML or breaks any rule; all faults are listed.
    """
    return validate_spec(read_yaml(text, source=source), source=source)


def validate_spec(raw: Mapping[str, object], *, source: str) -> ResearchSpec:
    """Return the spec described by the mapping *raw*.

    Raises
    ------
    InvalidSpecError
        If it breaks any rule; all faults are listed.
    """
    faults: list[Fault] = []
    value = plain(raw, "", faults)
    unreadable = {fault.path for fault in faults}
    try:
        spec = ResearchSpec.model_validate_json(json.dumps(value))
    except ValidationError as error:
        items = cast("list[Mapping[str, Any]]", error.errors())
        found = [_fault(item) for item in items if not _is_echo(item, items)]
        faults += [fault for fault in found if fault.path not in unreadable]
    else:
        if not faults:
            return spec
    raise InvalidSpecError(source, sorted(faults, key=lambda fault: fault.path))


def _is_echo(item: Mapping[str, Any], items: list[Mapping[str, Any]]) -> bool:
    # A list whose every item is at fault is also reported as too short: "0 items after validation".
    depth = len(item["loc"])
    below = (other for other in items if len(other["loc"]) > depth)
    return item["type"] == "too_short" and any(o["loc"][:depth] == item["loc"] for o in below)


def _fault(item: Mapping[str, Any]) -> Fault:
    location: tuple[object, ...] = item["loc"]
    path = _path(location) or "(spec)"
    value = item.get("input")
    shown = "" if isinstance(value, Mapping) else f", was {_short(value)}"
    match item["type"]:
        case "extra_forbidden":
            return Fault(
                path=path, problem="is not a field of a spec", hint=_did_you_mean(location)
            )
        case "missing":
            return Fault(path=path, problem="is required and was not given")
        case "value_error":
            message = str(item["ctx"]["error"])
            return Fault(path=path, problem=message)
        case _:
            message = str(item["msg"])
            problem = message[:1].lower() + message[1:] + shown
            return Fault(path=path, problem=problem, hint=_remedy(item))


def _path(location: tuple[object, ...]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _remedy(item: Mapping[str, Any]) -> str | None:
    value = item.get("input")
    if item["loc"][-1:] == ("n_blocks",):
        return "the graph has folds f0 to f7: at most 9 blocks"
    match item["type"]:
        case "string_type" if isinstance(value, bool | int | float):
            return "put it in quotes: YAML reads on, no, 1e5 and the like as other types"
        case "int_type" if isinstance(value, float) and value.is_integer():
            return f"write {int(value)}"
        case "model_type" if value is None:
            return "leave it out, or give its fields"
        case "literal_error":
            allowed = re.findall(r"'([^']*)'", item["ctx"]["expected"])
            close = difflib.get_close_matches(str(value), allowed, n=1)
            return f"did you mean {close[0]!r}?" if close else None
        case _:
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
    return next(
        (found for arg in get_args(annotation) if (found := _model_in(arg)) is not None), None
    )
