"""Driving one spec from the command line: watched, interruptible, and told to its end."""

from __future__ import annotations

from collections.abc import Collection

from rich.console import Console

from alphaswarm_assets.cli.consoles import is_live
from alphaswarm_assets.cli.house import House
from alphaswarm_assets.cli.live import stage_table
from alphaswarm_assets.cli.report import Ending
from alphaswarm_assets.cli.signals import interruptible
from alphaswarm_assets.cli.watching import Manner, Watch
from alphaswarm_assets.drive.loop import DriveReport
from alphaswarm_assets.specs.research import ResearchSpec
from alphaswarm_assets.specs.support import require_supported


def drive_and_watch(
    house: House,
    spec: ResearchSpec,
    console: Console,
    *,
    folds: Collection[str] | None,
    parallel: bool,
    quiet: bool,
) -> Ending:
    """Drive *spec* to its end while showing it on *console*, and return how it ended."""
    require_supported(spec)
    manner: Manner = "silent" if quiet else "live" if is_live(console) else "lines"
    with interruptible():
        watch = Watch(house, spec, console, manner)
        report = _drive(house, spec, watch, folds, parallel=parallel)
        if manner == "live":
            console.print(stage_table(watch.run, now_s=house.clock.monotonic_s()))
        return Ending(
            key=spec.key,
            report=report,
            verdict=None if report.interrupted else house.verdict(spec.key),
            elapsed_s=house.clock.monotonic_s() - watch.run.started_s,
            run_ids=watch.run.run_ids,
        )


def _drive(
    house: House, spec: ResearchSpec, watch: Watch, folds: Collection[str] | None, *, parallel: bool
) -> DriveReport:
    try:
        with watch:
            report = house.run(spec, folds=folds, parallel=parallel, watch=watch)
    except KeyboardInterrupt:
        return watch.run.report()
    watch.run.plan = report.plan
    return report
