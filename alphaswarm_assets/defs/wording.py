"""Gates, rows and numbers in the words of somebody who has never seen the code."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Final

GATES_ASK: Final = {
    "min_sharpe": "Sharpe ratio a year, net of costs, mean over seeds",
    "max_pbo": "probability that the best seed was picked by luck (backtest overfitting)",
    "min_dsr_probability": "probability that the Sharpe ratio is more than luck (deflated Sharpe)",
    "min_seeds": "training runs with results of their own",
    "require_ci_positive": "lower end of the interval of total return over seeds",
    "all_folds_present": "folds of the spec that were measured",
    "evidence_current": "things the evidence was made from that have changed since",
    "no_rollback": "times the session was rolled back",
    "not_halted": "times the halt switch stopped the session",
    "min_total_return": "total return of the session, net of costs",
    "max_drawdown": "largest fall from a peak during the session",
    "max_hard_breaches": "hard breaches of a limit",
    "max_reject_rate": "share of orders that were rejected before the trade",
}
"""What each gate, or each criterion of a paper session, looks at."""

COLUMNS: Final = {
    "total_return": "total return",
    "sharpe": "Sharpe a year",
    "max_drawdown": "max drawdown",
    "turnover": "turnover a bar",
    "profit_factor": "profit factor",
}
"""Metrics of a row, in the order tables show them, and what their columns are called."""

SESSION_COLUMNS: Final = {
    "total_return": "total return",
    "max_drawdown": "max drawdown",
    "sharpe_annual": "Sharpe a year",
    "volatility_annual": "volatility a year",
    "hit_rate": "hit rate",
    "profit_factor": "profit factor",
    "sortino": "Sortino a year",
}
"""As `COLUMNS`, of a paper session."""

SHARES: Final = frozenset(
    {"total_return", "max_drawdown", "turnover", "volatility_annual", "hit_rate"}
)
"""Metrics that are fractions."""

LINE_CHARS: Final = 76
"""Letters of a line of prose: the UI breaks none where the widest entry of a page is wider than the window."""

_NO_BREAK: Final = "\N{NO-BREAK SPACE}"
_SIGNS: Final = {">=": "≥", "<=": "≤", ">": ">"}


def quantity(value: object, unit: object = "") -> str:
    """Return a number as a person reads it: a fraction as a percentage, a count whole, a missing one as a dash."""
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if unit == "fraction":
        return f"{value:.2%}".replace(".00%", "%")
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def gate_row(outcome: Mapping[str, Any], *, kind: str = "gate") -> dict[str, str]:
    """Return one line of a table of gates: how it went, what was observed, what was needed, and of what."""
    name, unit = str(outcome["check"]), outcome["unit"]
    needed = f"{_SIGNS.get(outcome['comparator'], outcome['comparator'])} "
    observed = quantity(outcome["observed"], unit)
    least = quantity(outcome["threshold"], unit)
    # A near miss must not read as if it had been enough.
    if observed == least and outcome["observed"] != outcome["threshold"]:
        observed, least = repr(outcome["observed"]), repr(outcome["threshold"])
    return {
        kind: name,
        "result": result_of(outcome),
        "observed": observed,
        "needed": needed + least,
        "what is measured": GATES_ASK.get(name, name.replace("_", " ")),
    }


def result_of(outcome: Mapping[str, Any]) -> str:
    """Return how a gate went, so that its sign and its word say the same."""
    status = str(outcome["status"]).replace("_", " ")
    sign = "✓" if outcome["passed"] else "○" if outcome["status"] == "not_applicable" else "✗"
    return f"{sign} {status}".replace(" ", _NO_BREAK)


def metrics_row(metrics: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, str]:
    """Return the cells of *metrics*, in the order of *columns*, under their titles."""
    values = {k: v.get("value") if isinstance(v, Mapping) else v for k, v in metrics.items()}
    return {
        title: quantity(values[name], "fraction" if name in SHARES else "")
        for name, title in columns.items()
        if name in values
    }


def who_is(label: str) -> str:
    """Return who a row is about; a number is a seed."""
    return f"seed{_NO_BREAK}{label}" if label.isdigit() else label.replace("_", " ")


def in_order(labels: Sequence[str]) -> list[str]:
    """Return *labels* with the ensemble first, the baselines after it, the seeds last."""
    first = {"ensemble": 0, "equal_weight": 1}
    return sorted(labels, key=lambda label: (first.get(label, 2), label.isdigit(), label))


def prose(text: str, *, start: str = "") -> str:
    """Return *text* as Markdown whose lines are short enough for the UI, after *start* on the first."""
    lines = textwrap.wrap(
        " ".join(text.split()), LINE_CHARS, initial_indent=start, break_on_hyphens=False
    )
    return "\\\n".join(lines)
