"""The drive: make what is next, one cell at a time, until nothing can be made. It decides; the launcher makes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias

from alphaswarm_assets.drive.plan import Planned, Stores, next_cells
from alphaswarm_assets.errors import BusyError
from alphaswarm_assets.ports import CellResult, Launcher, LaunchRequest
from alphaswarm_assets.specs.research import ResearchSpec

EventKind: TypeAlias = Literal["planned", "making", "made", "failed", "interrupted"]


@dataclass(frozen=True, kw_only=True, slots=True)
class DriveEvent:
    """Something a watcher may want to show."""

    kind: EventKind
    plan: tuple[Planned, ...]
    """Every cell as it stood before this event."""
    cell: Planned | None = None
    result: CellResult | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class DriveReport:
    """How a drive ended."""

    made: tuple[str, ...]
    """Names of the cells made, in order."""
    failed: dict[str, str]
    """Error text by name of the cells that failed."""
    interrupted: bool
    plan: tuple[Planned, ...]
    """Every cell as it stands at the end."""

    @property
    def current(self) -> tuple[str, ...]:
        """Names of the cells that were current already."""
        made = set(self.made)
        return tuple(
            p.cell.name for p in self.plan if p.state == "current" and p.cell.name not in made
        )


def drive(
    spec: ResearchSpec,
    stores: Stores,
    launcher: Launcher,
    *,
    watch: Callable[[DriveEvent], None],
    folds: Collection[str] | None = None,
    parallel: bool = False,
) -> DriveReport:
    """Make every cell of *spec* that is not current, going on over independent folds after a failure.

    The caller holds the spec's lock and has registered its partition.

    Raises
    ------
    BusyError
        If another process makes the next cell at this moment.
    """
    made: list[str] = []
    failed: dict[str, str] = {}
    while True:
        plan = next_cells(spec, stores, given_up=failed, folds=folds)
        if not made and not failed:
            watch(DriveEvent(kind="planned", plan=plan))
        cell = next((p for p in plan if p.state == "ready"), None)
        if cell is None:
            return DriveReport(made=tuple(made), failed=failed, interrupted=False, plan=plan)
        # Tables are shared by studies: two that make the same rows at once write them once, so neither waits.
        if cell.cell.axis != "source" and stores.events.running(str(cell.memo_key)):
            raise BusyError(
                f"{cell.cell.name} is being made by another process: the daemon of the UI, most likely. Wait for that "
                "run, or cancel it in the UI, and give the same command again."
            )
        watch(DriveEvent(kind="making", plan=plan, cell=cell))
        result = launcher.make(_request(cell, parallel=parallel))
        watch(DriveEvent(kind=result.status, plan=plan, cell=cell, result=result))
        if result.status == "interrupted":
            return DriveReport(made=tuple(made), failed=failed, interrupted=True, plan=plan)
        if result.status == "failed":
            failed[cell.cell.name] = result.error or "no reason was recorded"
        elif cell.cell.name in made:
            failed[cell.cell.name] = (
                "was made twice and is still not current: another process keeps changing what it is made from; "
                "stop that process and run again"
            )
        else:
            made.append(cell.cell.name)


def _request(planned: Planned, *, parallel: bool) -> LaunchRequest:
    return LaunchRequest(
        asset=planned.cell.asset,
        partition=planned.cell.partition,
        memo_key=planned.memo_key or "",
        parallel=parallel and planned.cell.asset == "trained_checkpoint",
    )
