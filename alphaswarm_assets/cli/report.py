"""How a run ended: the counts, what failed and what to do about it, the verdict, and what comes next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from alphaswarm_assets.cli.consoles import say
from alphaswarm_assets.cli.errors import ExitCode
from alphaswarm_assets.cli.verdict_view import show_verdict, verdict_json
from alphaswarm_assets.cli.words import duration
from alphaswarm_assets.drive.loop import DriveReport
from alphaswarm_assets.drive.verdicts import VerdictView

COUNTED: tuple[str, ...] = ("made", "current", "failed", "waiting", "not due")
"""What every cell is at the end, exactly one of these."""

_NEXT: Final = {
    "PASS": "next: the paper pack tells how the policy did on the window kept for it; alphaswarm ui shows it.",
    "REJECT": "next: change the spec, which gives it a key of its own, and run that; nothing was registered.",
    "UNGATED": "next: nothing was asked of the policy, so nothing is shown of it; set promotion: to gate it.",
    "no verdict": "next: run the spec without --fold for a verdict.",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """A run that is over."""

    key: str
    report: DriveReport
    verdict: VerdictView | None
    elapsed_s: float
    run_ids: Mapping[str, str]
    """Run of the orchestrator by name of the cells made or failed."""

    @property
    def counts(self) -> dict[str, int]:
        """Cells by what became of them."""
        counts = dict.fromkeys(COUNTED, 0)
        for planned in self.report.plan:
            counts[_fate(planned.cell.name, planned.state, self.report)] += 1
        return counts

    @property
    def exit_code(self) -> ExitCode:
        """What the shell is told; a REJECT is an answer and no failure."""
        if self.report.interrupted:
            return ExitCode.INTERRUPTED
        return ExitCode.FAILED if self.report.failed else ExitCode.DONE

    def to_json(self) -> dict[str, Any]:
        """Return what ``run --json`` prints."""
        return {
            "key": self.key,
            "exit_code": int(self.exit_code),
            "interrupted": self.report.interrupted,
            "elapsed_s": round(self.elapsed_s, 3),
            "counts": {name.replace(" ", "_"): n for name, n in self.counts.items()},
            "made": list(self.report.made),
            "failed": dict(self.report.failed),
            "waiting": {
                p.cell.name: p.why for p in self.report.plan if p.state in {"waiting", "ready"}
            },
            "run_ids": dict(self.run_ids),
            "verdict": verdict_json(self.verdict),
        }


def show_ending(console: Console, ending: Ending, *, with_next: bool = True) -> None:
    """Print how the run ended and, unless another follows, what to do next."""
    counts = ", ".join(
        f"{n} {name}"
        for name, n in ending.counts.items()
        if n or name in {"made", "current", "failed"}
    )
    say(console, Text.assemble((ending.key, "bold"), f": {counts} in {duration(ending.elapsed_s)}"))
    for name, error in ending.report.failed.items():
        say(console, Text.assemble(("failed ", "bold red"), (name, "bold"), f": {error}"))
    if ending.verdict is not None:
        console.print()
        show_verdict(console, ending.verdict)
    console.print()
    if with_next or ending.report.failed:
        for line in _next_steps(ending):
            say(console, line)


def _fate(name: str, state: str, report: DriveReport) -> str:
    if name in report.failed:
        return "failed"
    if name in report.made:
        return "made"
    return {"current": "current", "given_up": "failed", "not_due": "not due"}.get(state, "waiting")


def _next_steps(ending: Ending) -> Iterator[str]:
    if ending.report.interrupted:
        yield "stopped; what was made is kept, the same command resumes"
        return
    if ending.report.failed:
        runs = sorted(
            {ending.run_ids[name][:8] for name in ending.report.failed if name in ending.run_ids}
        )
        yield "next: mend what failed and give the same command; what is current is not made again."
        yield f"      alphaswarm ui shows the whole traceback: Runs, {', '.join(runs) or 'the latest'}"
        return
    yield _NEXT[ending.verdict.decision if ending.verdict is not None else "no verdict"]
    yield f"      alphaswarm verdict {ending.key} · alphaswarm ui"
