"""How specs are shown: what a check found, what is registered, in which fields two specs differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from rich.console import Console
from rich.table import Table
from rich.text import Text

from alphaswarm_assets.cli.consoles import say
from alphaswarm_assets.cli.sources import missing_source
from alphaswarm_assets.cli.words import many
from alphaswarm_assets.errors import Fault, InvalidSpecError
from alphaswarm_assets.records.canonical import JsonObject, canonical_json
from alphaswarm_assets.specs.loading import load_spec
from alphaswarm_assets.specs.registry import SpecRegistry
from alphaswarm_assets.specs.research import ResearchSpec
from alphaswarm_assets.specs.support import unsupported

ABSENT: Final = "(absent)"
"""Shown for a field one of the two specs does not have."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """What a check of one file found."""

    file: Path
    spec: ResearchSpec | None
    faults: tuple[Fault, ...]
    """What makes it no spec."""
    obstacles: tuple[Fault, ...]
    """Valid fields that cannot be run here: no engine in this version, no such bar source in this home."""

    @property
    def runnable(self) -> bool:
        """Whether `run` would take it."""
        return not self.faults and not self.obstacles

    def to_json(self) -> JsonObject:
        """Return what ``spec check --json`` prints of the file."""
        return {
            "file": str(self.file),
            "valid": not self.faults,
            "runnable": self.runnable,
            "key": self.spec.key if self.spec else None,
            "hash": self.spec.snapshot_hash() if self.spec else None,
            "faults": [_fault_json(fault) for fault in self.faults],
            "obstacles": [_fault_json(fault) for fault in self.obstacles],
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One field that differs."""

    path: str
    old: object
    new: object

    def to_json(self) -> JsonObject:
        """Return the change as JSON; null stands for an absent field, which no canonical spec holds."""
        return {"path": self.path, "old": cast("Any", self.old), "new": cast("Any", self.new)}


def check_file(path: Path, home: Path) -> Checked:
    """Return what is wrong with the spec in *path*, and what keeps it from being run over *home*."""
    try:
        spec = load_spec(path)
    except InvalidSpecError as error:
        return Checked(file=path, spec=None, faults=error.faults, obstacles=())
    source = missing_source(spec.dataset.source, home)
    obstacles = (*unsupported(spec), *([source] if source else []))
    return Checked(file=path, spec=spec, faults=(), obstacles=obstacles)


def show_checked(console: Console, checked: Sequence[Checked]) -> None:
    """Print a block a file."""
    for one in checked:
        say(console, _headline(one))
        for fault in (*one.faults, *one.obstacles):
            say(
                console,
                Text.assemble(
                    "  - ",
                    (fault.path, "bold"),
                    f": {fault.problem}" + (f" ({fault.hint})" if fault.hint else ""),
                ),
            )


def list_rows(registry: SpecRegistry) -> list[JsonObject]:
    """Return key, study and size of every registered spec; one this version cannot read says why."""
    keys = registry.keys()
    return [_list_row(registry, key) for key in keys]


def show_listed(console: Console, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the registry as a table."""
    if not rows:
        say(console, "no spec is registered. Register one: alphaswarm spec register FILE")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("key", "study", "source", "folds", "seeds", "about"):
        table.add_column(
            name, overflow="fold", justify="right" if name in {"folds", "seeds"} else "left"
        )
    for row in rows:
        about = row["error"] or row["description"] or ""
        table.add_row(
            row["key"],
            row["study"] or "",
            row["source"] or "",
            str(row["folds"] or ""),
            str(row["seeds"] or ""),
            about,
        )
    console.print(table)


def changes(old: ResearchSpec, new: ResearchSpec) -> list[Change]:
    """Return every field in which *old* and *new* differ, by its path, sorted."""
    before, after = _flat(old.canonical()), _flat(new.canonical())
    paths = sorted({*before, *after})
    return [
        Change(path=path, old=before.get(path), new=after.get(path))
        for path in paths
        if before.get(path) != after.get(path) and not _is_told_below(path, before, after)
    ]


def show_changes(
    console: Console, old: ResearchSpec, new: ResearchSpec, rows: Sequence[Change]
) -> None:
    """Print one line a field: path, old → new."""
    say(console, f"{old.key} → {new.key}" if rows else f"{old.key} and {new.key}: the same content")
    for row in rows:
        say(
            console,
            Text.assemble(
                "  ",
                (row.path, "bold"),
                ": ",
                (_shown(row.old), "red"),
                " → ",
                (_shown(row.new), "green"),
            ),
        )


def _headline(one: Checked) -> Text:
    if one.spec is None:
        return Text.assemble(
            (f"{one.file}", "bold"), ": ", (many(len(one.faults), "fault"), "bold red")
        )
    if one.obstacles:
        return Text.assemble(
            (f"{one.file}", "bold"),
            ": ",
            ("valid, but it cannot be run here", "bold yellow"),
            f"  {one.spec.key}",
        )
    spec = one.spec
    battery = f"{many(len(spec.folds), 'fold')} × {many(len(spec.seeds), 'seed')}"
    steps = f"{battery} × {spec.training.total_timesteps:,} steps"
    return Text.assemble(
        (f"{one.file}", "bold"), ": ", ("valid", "bold green"), f"  {spec.key}  {steps}"
    )


def _list_row(registry: SpecRegistry, key: str) -> JsonObject:
    try:
        spec = registry.get(key)
    except InvalidSpecError as error:
        why = "; ".join(str(fault) for fault in error.faults)
        return {
            "key": key,
            "study": None,
            "source": None,
            "folds": None,
            "seeds": None,
            "description": None,
            "error": why,
        }
    return {
        "key": key,
        "study": spec.study,
        "source": spec.dataset.source,
        "folds": len(spec.folds),
        "seeds": len(spec.seeds),
        "description": spec.description,
        "error": None,
    }


def _fault_json(fault: Fault) -> JsonObject:
    return {"path": fault.path, "problem": fault.problem, "hint": fault.hint}


def _flat(value: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, item in value.items():
        path = f"{prefix}{name}"
        if isinstance(item, Mapping) and item:
            flat |= _flat(cast("Mapping[str, object]", item), f"{path}.")
        else:
            flat[path] = item
    return flat


def _is_told_below(path: str, before: Mapping[str, object], after: Mapping[str, object]) -> bool:
    # `promotion: {}` against `promotion: {min_sharpe: 1}` is the row of min_sharpe alone.
    return any(other.startswith(f"{path}.") for other in (*before, *after))


def _shown(value: object) -> str:
    return ABSENT if value is None else canonical_json(value)
