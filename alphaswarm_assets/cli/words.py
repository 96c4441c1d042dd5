"""Numbers and states as people read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

STATE_STYLES: Final = {
    "current": "dim",
    "made": "green",
    "running": "bold cyan",
    "failed": "bold red",
    "to make": "",
    "waiting": "dim",
    "not due": "yellow",
}
"""Colour of a cell's state; the word itself always stands there too."""

DECISION_STYLES: Final = {"PASS": "bold green", "REJECT": "bold red", "UNGATED": "bold yellow"}
"""Colour of a decision."""

SHARES: Final = frozenset(
    {"total_return", "max_drawdown", "volatility", "turnover", "cost", "hit_rate"}
)
"""Metrics that are fractions."""

LABELS: Final = ("ensemble", "equal_weight", "buy_and_hold", "do_nothing")
"""Who was measured, in the order they stand beside each other."""

METRICS: Final = (
    "total_return",
    "sharpe",
    "max_drawdown",
    "volatility",
    "turnover",
    "cost",
    "hit_rate",
)
"""Metrics in the order people ask for them."""

_SYMBOLS: Final = {">=": "≥", "<=": "≤"}


def duration(seconds: float) -> str:
    """Return *seconds* as ``0.4 s``, ``42 s``, ``1 min 20 s`` or ``2 h 5 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def about(seconds: float) -> str:
    """Return a guess of *seconds*, rounded so that it does not look exact."""
    unit = 1 if seconds < 20 else 5 if seconds < 120 else 60
    return f"about {duration(max(1, round(seconds / unit)) * unit).removesuffix(' 0 s')}".replace(
        ".0 s", " s"
    )


def clock(seconds: float) -> str:
    """Return *seconds* as ``0:07``, ``12:30`` or ``1:02:03``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def quantity(value: object, *, unit: str = "") -> str:
    """Return an observed value with its unit: a fraction as a percentage, a probability bare."""
    if value is None:
        return "—"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if unit == "fraction":
        return f"{value:.2%}"
    shown = f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
    return shown if unit in {"", "probability"} else f"{shown} {unit}"


def metric(value: float | None, *, name: str) -> str:
    """Return the value of the metric *name*; what is a share of equity reads as a percentage."""
    return quantity(value, unit="fraction" if name in SHARES else "")


def instant(iso: str) -> str:
    """Return an ISO instant in UTC to the second: ``2026-12-31 14:51:17 UTC``."""
    return f"{iso[:19].replace('T', ' ')} UTC"


def many(n: int, noun: str) -> str:
    """Return ``1 seed`` or ``3 seeds``."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def in_order(names: Iterable[str], first: Sequence[str]) -> list[str]:
    """Return *names* with those of *first* before the others, which follow by name."""
    return sorted(
        names, key=lambda name: (first.index(name) if name in first else len(first), name)
    )


def rule(comparator: str, threshold: object, *, unit: str = "") -> str:
    """Return a gate's rule: ``≥ 0.5``."""
    return f"{_SYMBOLS.get(comparator, comparator)} {quantity(threshold, unit=unit)}"
