"""What the commands ask of the composition root, and the place where they find it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast

from alphaswarm_assets.drive.loop import DriveEvent, DriveReport
from alphaswarm_assets.drive.plan import Planned
from alphaswarm_assets.errors import StoreError
from alphaswarm_assets.ports import Clock, EventLog, HaltSwitch, ProgressBoard
from alphaswarm_assets.specs.registry import SpecRegistry
from alphaswarm_assets.specs.research import ResearchSpec


class VerdictView(Protocol):
    """A verdict as it is shown."""

    @property
    def key(self) -> str:
        """Key of the spec that was judged."""
        ...
