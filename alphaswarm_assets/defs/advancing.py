"""What a requested study needs next, and what is under way for it already. It decides; the sensor `advance` asks."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import dagster as dg

from alphaswarm_assets.drive.cells import Cell
from alphaswarm_assets.drive.plan import PROMOTED, Planned, Stores, next_cells
from alphaswarm_assets.ports import Ledger
from alphaswarm_assets.specs.research import ResearchSpec

MAX_ATTEMPTS = 2
"""Runs a cell gets for one request; what is not made then is left to a person."""

MEMO_KEY_TAG, REQUEST_TAG = "alphaswarm/memo_key", "alphaswarm/request"
"""Run tags: what the run was started for, and for which request."""

_ENDED = (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)
_UNDER_WAY = [status for status in dg.DagsterRunStatus if status not in _ENDED]

Place: TypeAlias = tuple[str, str]
"""An asset and a partition of it."""

Aim: TypeAlias = tuple[str, int]
"""What a run was started for: a memo key, and the number of a request."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One wish of a person to have a study driven to its end; asking again is a new wish."""

    spec_key: str
    number: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Runs:
    """The runs there are. Read before planning: of a run that has ended by then, the plan sees what it made."""

    making: frozenset[Place]
    """What runs of any origin are to make and have not ended about."""
    ended: Mapping[Aim, int]
    """How many runs were started for a memo key and a request, and have ended in any way."""
    blamed: Mapping[Aim, int]
    """How many of them the cell itself may be blamed for: not those that ended because the UI was closed."""

    @classmethod
    def of(cls, instance: dg.DagsterInstance, requests: Iterable[Request]) -> "Runs":
        """Read the runs of *instance*, those that have ended for these *requests* only."""
        under_way = instance.get_runs(dg.RunsFilter(statuses=_UNDER_WAY))
        numbers = [str(request.number) for request in requests]
        ended = instance.get_runs(dg.RunsFilter(tags={REQUEST_TAG: numbers}, statuses=list(_ENDED)))
        return cls(
            making=frozenset(place for run in under_way for place in _places(run)),
            ended=Counter(_aim(run) for run in ended),
            blamed=Counter(_aim(run) for run in ended if not _was_terminated(run)),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Launch:
    """One run to ask for: a cell, and what follows from it on the same partition."""

    cells: tuple[Cell, ...]
    memo_key: str
    """Of the first cell; what the others will be made from is not known yet."""
    n_before: int
    """Runs before this one for the same memo key and request."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """What to do for a study now."""

    launches: tuple[Launch, ...] = ()
    making: tuple[str, ...] = ()
    """Names of the cells that are waited for."""
    ending: str | None = None
    """How the study ended, once nothing is left to do or to wait for."""


def open_requests(ledger: Ledger) -> list[Request]:
    """Return the requests that are not closed, oldest first; of several for one spec, the latest."""
    latest: dict[str, Request | None] = {}
    for row in ledger.rows():
        key = str(row.body["spec_key"])
        latest.pop(key, None)
        if row.body["event"] == "requested":
            latest[key] = Request(spec_key=key, number=row.index)
    return [request for request in latest.values() if request is not None]


def next_step(request: Request, spec: ResearchSpec, stores: Stores, runs: Runs) -> Step:
    """Return the runs to ask for, or what is waited for, or how the study ended."""
    plan, given_up = _plan(request, spec, stores, runs)
    ready = [p for p in plan if p.state == "ready"]
    if not ready:
        return Step(ending=_ending(plan, given_up, stores))
    idle = [p for p in ready if _place(p.cell) not in runs.making]
    launches = [
        Launch(
            cells=(p.cell, *_followers(p, plan, stores)),
            memo_key=str(p.memo_key),
            n_before=runs.ended.get((str(p.memo_key), request.number), 0),
        )
        for p in idle
    ]
    making = tuple(p.cell.name for p in ready if p not in idle)
    return Step(launches=tuple(launches), making=making)


def _plan(
    request: Request, spec: ResearchSpec, stores: Stores, runs: Runs
) -> tuple[tuple[Planned, ...], set[str]]:
    """Return the plan that does without the cells whose runs came to nothing too often, and their names."""
    given_up: set[str] = set()
    while True:
        plan = next_cells(spec, stores, given_up=given_up)
        more = {
            p.cell.name
            for p in plan
            if p.state == "ready"
            and _place(p.cell) not in runs.making
            and runs.blamed.get((str(p.memo_key), request.number), 0) >= MAX_ATTEMPTS
        }
        if not more:
            return plan, given_up
        given_up |= more


def _followers(head: Planned, plan: tuple[Planned, ...], stores: Stores) -> list[Cell]:
    """Return the cells the same run can make after *head*: never made, on its partition, lacking nothing else.

    A run costs seconds before it does anything. What was made before may turn out to be current once its parent is
    made again, and what a verdict must allow is not due yet: neither follows.
    """
    there = {p.cell.name for p in plan if p.state == "current"} | {head.cell.name}
    found: list[Cell] = []
    for p in plan:
        cell = p.cell
        if (
            p.state == "waiting"
            and cell.partition == head.cell.partition
            and cell.asset not in PROMOTED
            and all(parent.name in there for parent in cell.parents)
            and stores.events.latest(cell.asset, cell.partition) is None
        ):
            found.append(cell)
            there.add(cell.name)
    return found


def _ending(plan: tuple[Planned, ...], given_up: set[str], stores: Stores) -> str:
    lacking = ", ".join(sorted(given_up))
    failed = f"{MAX_ATTEMPTS} runs of {lacking} came to nothing"
    verdict = next(p for p in plan if p.cell.asset == "promotion_verdict")
    if verdict.pin is None or verdict.state != "current":
        return f"stopped before a verdict: {failed}. See why in their logs, and ask again."
    decision = f"done: the verdict is {stores.decision(verdict.pin.digest)}"
    return f"{decision}; {failed}" if given_up else decision


def _aim(run: dg.DagsterRun) -> Aim:
    return run.tags[MEMO_KEY_TAG], int(run.tags[REQUEST_TAG])


def _was_terminated(run: dg.DagsterRun) -> bool:
    # What a person cancels in the UI ends as cancelled, and counts.
    return run.tags.get("dagster/failure_reason") == "UNEXPECTED_TERMINATION"


def _place(cell: Cell) -> Place:
    return cell.asset, cell.partition


def _places(run: dg.DagsterRun) -> set[Place]:
    partition = run.tags.get("dagster/partition")
    if partition is None:
        return set()
    return {(key.to_user_string(), partition) for key in run.asset_selection or ()}
