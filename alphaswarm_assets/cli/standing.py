"""Where a spec stands: its cells, what the orchestrator runs of it now and how far that is, and the latest decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from alphaswarm_assets.cli.house import House
from alphaswarm_assets.drive.plan import Planned
from alphaswarm_assets.drive.verdicts import VerdictView
from alphaswarm_assets.errors import AlphaSwarmError, InvalidSpecError
from alphaswarm_assets.ports import Progress
from alphaswarm_assets.specs.research import ResearchSpec


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """One spec as it stands."""

    key: str
    cells: tuple[tuple[Planned, str], ...] = ()
    """Every cell with its state in a word: current, running, to make, waiting, not due."""
    decision: str | None = None
    judged_on_current: bool | None = None
    progress: Mapping[str, Progress] = field(default_factory=dict[str, Progress])
    """Steps of the seeds of the cells that run, by topic."""
    error: str | None = None
    """Why nothing can be said of it, where that is so."""

    @property
    def counts(self) -> dict[str, int]:
        """Cells by state."""
        return dict(Counter(state for _, state in self.cells))

    def to_json(self) -> dict[str, Any]:
        """Return what ``status --json`` prints of the spec."""
        return {
            "key": self.key,
            "decision": self.decision,
            "judged_on_current": self.judged_on_current,
            "counts": {state.replace(" ", "_"): n for state, n in self.counts.items()},
            "cells": [
                {
                    "asset": planned.cell.asset,
                    "partition": planned.cell.partition,
                    "stage": planned.cell.stage,
                    "state": state.replace(" ", "_"),
                    "why": planned.why,
                    "digest": planned.pin.digest if planned.pin else None,
                }
                for planned, state in self.cells
            ],
            "running": [
                {
                    "topic": topic,
                    "label": p.label,
                    "step": p.step,
                    "total": p.total,
                    "at": p.at,
                    "values": dict(p.values),
                }
                for topic, p in self.progress.items()
            ],
            "error": self.error,
        }


def standings(house: House) -> list[Standing]:
    """Return the standing of every registered spec; one that cannot be read or planned says why."""
    keys = house.specs.keys()
    return [_standing(house, key) for key in keys]


def standing_of(house: House, spec: ResearchSpec) -> Standing:
    """Return the standing of *spec*, registered or not."""
    events = house.event_log()
    cells = tuple(
        (planned, _state(planned, running=_runs(planned, events.running)))
        for planned in house.plan(spec)
    )
    folds = {
        p.cell.partition.split("|")[0]
        for p, state in cells
        if state == "running" and p.cell.axis == "fold"
    }
    board = house.progress.read(f"{spec.key}/")
    verdict = verdict_on(house, spec.key)
    return Standing(
        key=spec.key,
        cells=cells,
        decision=verdict.decision if verdict else None,
        judged_on_current=verdict.current if verdict else None,
        progress={topic: at for topic, at in board.items() if topic.split("/")[1] in folds},
    )


def verdict_on(house: House, key: str) -> VerdictView | None:
    """Return the latest verdict on *key*, None if it was never judged or never registered."""
    registered = house.specs.keys()
    return house.verdict(key) if key in registered else None


def _standing(house: House, key: str) -> Standing:
    try:
        return standing_of(house, house.specs.get(key))
    except InvalidSpecError as error:
        return Standing(key=key, error="; ".join(str(fault) for fault in error.faults))
    except AlphaSwarmError as error:
        return Standing(key=key, error=str(error))


def _runs(planned: Planned, running: Any) -> bool:
    return planned.state == "ready" and planned.memo_key is not None and running(planned.memo_key)


def _state(planned: Planned, *, running: bool) -> str:
    if running:
        return "running"
    return {"ready": "to make", "not_due": "not due", "given_up": "waiting"}.get(
        planned.state, planned.state
    )
