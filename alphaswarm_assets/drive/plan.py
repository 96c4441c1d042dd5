"""Which cells are current, which can be made now, and which must wait. A pure reading of the stores."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from alphaswarm_assets.drive.cells import Cell, cells_of
from alphaswarm_assets.drive.memo import memo_key
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.ports import EventLog, Pin
from alphaswarm_assets.specs.research import ResearchSpec

CellState: TypeAlias = Literal["current", "ready", "waiting", "given_up", "not_due"]

PROMOTED = frozenset({"registered_model", "paper_pack"})
"""Assets that are due only after a verdict that allows them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Planned:
    """One cell and what is to happen to it."""

    cell: Cell
    state: CellState
    memo_key: str | None = None
    pin: Pin | None = None
    """The current materialisation, where there is one."""
    why: str = ""
    """Why the cell is not current, in words."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stores:
    """What planning reads."""

    events: EventLog
    holds: Callable[[str], bool]
    """Whether the artifact with this digest is there and verifies."""
    decision: Callable[[str], str]
    """The decision in the verdict artifact with this digest."""
    fingerprint: Callable[[str], str]
    """SHA-256 of what a bar source would be read from now."""
    code_version: Callable[[str], str]
    lapsed: Callable[[str], bool] = field(default=lambda _: False)
    """Whether the approval in the paper pack with this digest has expired."""
    settled: dict[str, Pin] = field(default_factory=dict[str, Pin])
    """By memo key, what this process found current before; it is not verified again."""


def next_cells(
    spec: ResearchSpec,
    stores: Stores,
    *,
    given_up: Collection[str] = (),
    folds: Collection[str] | None = None,
) -> tuple[Planned, ...]:
    """Return every cell of *spec* with its state, in the order they are made.

    Parameters
    ----------
    given_up : names of cells
        Cells that failed and are not to be tried again now; what depends on them waits, except a fan-in that can do
        without.
    folds : names of folds, optional
        Plan only these folds of the fold cells, and nothing that needs all folds.

    Raises
    ------
    InvalidInputError
        If the spec lacks one of *folds*.
    """
    lacking = sorted(set(folds or ()) - set(spec.folds))
    if lacking:
        raise InvalidInputError(
            f"{spec.key} has the folds {', '.join(spec.folds)}, was asked for {', '.join(lacking)}"
        )
    planned: dict[str, Planned] = {}
    for cell in cells_of(spec):
        if folds is not None and not _concerns(cell, folds):
            continue
        planned[cell.name] = _plan(cell, spec, stores, planned, given_up)
    return tuple(planned.values())


def as_it_stands(spec: ResearchSpec, stores: Stores) -> dict[str, Planned]:
    """Return every cell of *spec* by name, with each fold that is not current taken as missing for good.

    What a cell is made from, launched by whomever, is what is current here; anything else is stale.
    """
    plan = next_cells(spec, stores)
    missing = {p.cell.name for p in plan if p.cell.axis == "fold" and p.state != "current"}
    if missing:
        plan = next_cells(spec, stores, given_up=missing)
    return {p.cell.name: p for p in plan}


def _concerns(cell: Cell, folds: Collection[str]) -> bool:
    if cell.axis == "fold":
        return cell.partition.split("|")[0] in folds
    return cell.stage == "collect"


def _plan(
    cell: Cell,
    spec: ResearchSpec,
    stores: Stores,
    planned: dict[str, Planned],
    given_up: Collection[str],
) -> Planned:
    versions: dict[str, str | None] = {}
    for parent in cell.parents:
        above = planned[parent.name]
        if above.state == "current" and above.pin is not None:
            versions[parent.name] = above.pin.data_version
        elif (
            cell.optional_parents
            and above.state in {"given_up", "waiting"}
            and _hopeless(above, planned, given_up)
        ):
            versions[parent.name] = None
        else:
            return Planned(cell=cell, state="waiting", why=f"waits for {parent.name}")
    if cell.axis == "source" and not cell.parents:
        versions["(source)"] = stores.fingerprint(cell.partition)
    key = memo_key(
        asset=cell.asset,
        partition=cell.partition,
        spec_hash=None if cell.axis == "source" else spec.snapshot_hash(),
        code_version=stores.code_version(cell.asset),
        parents=versions,
    )
    return _compare(cell, key, stores, planned, given_up)


def _compare(
    cell: Cell, key: str, stores: Stores, planned: dict[str, Planned], given_up: Collection[str]
) -> Planned:
    refusal = _not_due(cell, stores, planned)
    if refusal is not None:
        return Planned(cell=cell, state="not_due", memo_key=key, why=refusal)
    pin = stores.settled.get(key) or stores.events.latest(cell.asset, cell.partition)
    if (
        pin is not None
        and pin.memo_key == key
        and (key in stores.settled or stores.holds(pin.digest))
    ):
        if cell.asset != "paper_pack" or not stores.lapsed(pin.digest):
            stores.settled[key] = pin
            return Planned(cell=cell, state="current", memo_key=key, pin=pin)
        why = "its approval has expired"
    else:
        why = _reason(pin, key, stores, cell)
    state: CellState = "given_up" if cell.name in given_up else "ready"
    return Planned(cell=cell, state=state, memo_key=key, why=why)


def _not_due(cell: Cell, stores: Stores, planned: dict[str, Planned]) -> str | None:
    if cell.asset not in PROMOTED:
        return None
    verdict = next(planned[p.name] for p in cell.parents if p.asset == "promotion_verdict")
    decision = stores.decision(verdict.pin.digest) if verdict.pin else "missing"
    return None if decision in {"PASS", "UNGATED"} else f"the verdict is {decision}"


def _reason(pin: Pin | None, key: str, stores: Stores, cell: Cell) -> str:
    if pin is None:
        return "never made"
    if pin.code_version != stores.code_version(cell.asset):
        return "its code changed"
    if pin.memo_key != key:
        return "what it is made from changed"
    return f"its artifact {pin.digest[:12]} is missing or does not verify"


def _hopeless(above: Planned, planned: dict[str, Planned], given_up: Collection[str]) -> bool:
    # Only a fold can be done without: when what all folds stand on fails, there is no evidence to be judged.
    if above.cell.axis != "fold":
        return False
    if above.cell.name in given_up or above.state == "given_up":
        return True
    return any(_hopeless(planned[p.name], planned, given_up) for p in above.cell.parents)
