"""Watching a run: events arrive on the main thread, steps are read from the progress board by a second one."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Final, Literal, Self, TypeAlias

from rich.console import Console
from rich.live import Live

from alphaswarm_assets.cli.house import House
from alphaswarm_assets.cli.lines import Lines
from alphaswarm_assets.cli.live import live_view
from alphaswarm_assets.cli.pace import Pace
from alphaswarm_assets.cli.tracking import Run
from alphaswarm_assets.drive.loop import DriveEvent
from alphaswarm_assets.errors import AlphaSwarmError
from alphaswarm_assets.specs.research import ResearchSpec

POLL_S: Final = 0.5
"""Seconds between two looks at the progress board."""

Manner: TypeAlias = Literal["live", "lines", "silent"]


class Watch:
    """Shows a run while it goes; use it as a context manager and as the drive's `watch`."""

    def __init__(self, house: House, spec: ResearchSpec, console: Console, manner: Manner) -> None:
        """Watch the run of *spec* on *console*."""
        self._house, self._console, self._manner = house, console, manner
        self._prefix = f"{spec.key}/"
        self.run = Run(
            spec=spec,
            started_s=house.clock.monotonic_s(),
            pace=Pace(baseline=house.progress.read(self._prefix)),
        )
        self._lines = Lines()
        self._live = (
            Live(console=console, auto_refresh=False, transient=True) if manner == "live" else None
        )
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._poll, name="progress", daemon=True)
        self._note = ""
        self._fault: BaseException | None = None

    def __call__(self, event: DriveEvent) -> None:
        """Take in and show an *event*."""
        with self._lock:
            self._observe()
            now_s = self._house.clock.monotonic_s()
            self.run.take(event, now_s=now_s)
            if self._manner == "lines":
                self._console.print(
                    self._lines.of_event(self.run, event, now_s=now_s), soft_wrap=True
                )
            self._draw(now_s)

    def __enter__(self) -> Self:
        """Begin to show."""
        if self._live is not None:
            self._live.start()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop showing; what went wrong in the reading thread is raised here if nothing else is."""
        self._over.set()
        try:
            self._thread.join()
        finally:  # a second Ctrl-C must not leave the terminal without its cursor
            if self._live is not None:
                self._live.stop()
        if self._fault is not None and error is None:
            raise self._fault

    def _poll(self) -> None:
        try:
            while not self._over.wait(POLL_S):
                self._look()
        except BaseException as fault:  # noqa: BLE001 -- carried to the main thread, which raises it
            self._fault = fault

    def _look(self) -> None:
        with self._lock:
            self._observe()
            now_s = self._house.clock.monotonic_s()
            if self._manner == "lines":
                for line in self._lines.of_seeds(self.run, now_s=now_s):
                    self._console.print(line, soft_wrap=True)
            self._draw(now_s)

    def _observe(self) -> None:
        try:
            board = self._house.progress.read(self._prefix)
        except (AlphaSwarmError, OSError) as error:
            self._note = f"progress cannot be read now: {error}"
        else:
            self._note = ""
            self.run.pace.observe(board, now_s=self._house.clock.monotonic_s())

    def _draw(self, now_s: float) -> None:
        if self._live is not None:
            self._live.update(live_view(self.run, now_s=now_s, note=self._note), refresh=True)
