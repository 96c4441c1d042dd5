"""What the commands ask of the composition root."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Protocol

from alphaswarm_assets.drive.loop import DriveEvent, DriveReport
from alphaswarm_assets.drive.plan import Planned
from alphaswarm_assets.drive.verdicts import VerdictView
from alphaswarm_assets.ports import BarSource, Clock, EventLog, HaltSwitch, ProgressBoard
from alphaswarm_assets.specs.registry import SpecRegistry
from alphaswarm_assets.specs.research import ResearchSpec


class House(Protocol):
    """The composition root, as far as the commands use it."""

    @property
    def home(self) -> Path:
        """Folder that holds everything that is made."""
        ...

    @property
    def specs(self) -> SpecRegistry:
        """Registered specs."""
        ...

    @property
    def halts(self) -> HaltSwitch:
        """The brake."""
        ...

    @property
    def progress(self) -> ProgressBoard:
        """How far long steps are; topics are ``<spec key>/<fold>/<seed>``."""
        ...

    @property
    def clock(self) -> Clock:
        """The only source of time."""
        ...

    @property
    def sources(self) -> Mapping[str, BarSource]:
        """Bar sources by the name a spec uses."""
        ...

    def initialise(self) -> bool:
        """Create every store once; return whether anything was created."""
        ...

    def run(
        self,
        spec: ResearchSpec,
        *,
        folds: Collection[str] | None,
        parallel: bool,
        watch: Callable[[DriveEvent], None],
    ) -> DriveReport:
        """Register, lock, reconcile and drive *spec*; raises `BusyError` if another process drives it."""
        ...

    def plan(self, spec: ResearchSpec) -> tuple[Planned, ...]:
        """Return every cell of *spec* as it stands."""
        ...

    def verdict(self, key: str) -> VerdictView | None:
        """Return the latest verdict on the registered spec *key*, None if it was never judged."""
        ...

    def event_log(self) -> EventLog:
        """Return what the orchestrator remembers."""
        ...

    def child_environment(self) -> dict[str, str]:
        """Return the whole environment of a child process, with DAGSTER_HOME and ALPHASWARM_HOME set."""
        ...

    def workspace_arguments(self) -> list[str]:
        """Return the arguments that name the code location to a Dagster process."""
        ...
