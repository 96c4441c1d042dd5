"""Artifacts as a person reads them in the UI: tables, pictures, and sentences."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import dagster as dg

from alphaswarm_assets.defs import pictures
from alphaswarm_assets.defs.result import MetadataInput, table
from alphaswarm_assets.records.manifest import Artifact
from alphaswarm_assets.specs.research import ResearchSpec

SHOWN = ("total_return", "sharpe", "max_drawdown", "turnover", "profit_factor")
"""Metrics of a row, in the order tables show them."""


def report_metadata(report: Artifact) -> MetadataInput:
    """Return what the page of an evaluation report shows."""
    facts = cast("Mapping[str, Any]", report.content.facts)
    if not facts["evaluated"]:
        return {"evaluated": False, "reason": facts["reason"]}
    from alphaswarm_assets.runtime.evaluating import SERIES_FILE

    rows = [*facts["seeds"], facts["ensemble"], *facts["baselines"]]
    return {
        "window": f"{facts['first_session']} to {facts['last_session']}",
        "rows": table([_row(row) for row in rows]),
        "aggregate": table(_intervals(facts["aggregate"])),
        "reward_attribution": facts["reward_attribution"],
        "equity": _picture(equity_picture(report.payload[SERIES_FILE]), "equity by seed"),
        "intervals": _picture(
            pictures.interval_plot(_plotted(facts["aggregate"])), "intervals over seeds"
        ),
        "sharpe_mean_over_seeds": facts["aggregate"]["sharpe"]["point"],
    }


def summary_metadata(summary: Artifact) -> MetadataInput:
    """Return what the page of an evaluation summary shows."""
    facts = cast("Mapping[str, Any]", summary.content.facts)
    head = {
        "folds": f"{', '.join(facts['folds_present']) or 'none'} of {', '.join(facts['folds_expected'])}",
        "n_seeds": len(facts["seeds"]),
    }
    if not facts["folds_present"]:
        return {**head, "reason": "no fold was measured"}
    from alphaswarm_assets.runtime.summarising import JOINED_FILE

    metrics = cast("Mapping[str, Mapping[str, Any]]", facts["metrics"])
    return {
        **head,
        "n_bars": facts["n_bars"],
        "n_distinct_seeds": facts["n_distinct_seeds"],
        "rows": table([_labelled(label, row) for label, row in metrics.items()]),
        "aggregate": table(_intervals(facts["aggregate"])),
        "deflated_sharpe": facts["dsr"],
        "pbo": facts["pbo"],
        "equity": _picture(equity_picture(summary.payload[JOINED_FILE]), "out-of-sample equity"),
        "intervals": _picture(
            pictures.interval_plot(_plotted(facts["aggregate"])), "intervals over seeds"
        ),
        "sharpe_mean_over_seeds": facts["aggregate"]["sharpe"]["point"],
    }


def verdict_metadata(spec: ResearchSpec, verdict: Artifact, summary: Artifact) -> MetadataInput:
    """Return what the page of a verdict shows: the decision in words, every gate, and the evidence behind it."""
    facts = cast("Mapping[str, Any]", verdict.content.facts)
    outcomes = cast("Sequence[Mapping[str, Any]]", facts["outcomes"])
    evidence = cast("Mapping[str, Any]", summary.content.facts)
    shown: dict[str, Any] = {
        "decision": facts["decision"],
        "verdict": dg.MetadataValue.md(_verdict_page(spec, facts, outcomes)),
        "gates": table([dict(outcome) for outcome in outcomes]),
        "evidence": summary.digest,
    }
    if outcomes:
        shown["gate_chart"] = _picture(pictures.gate_chart(outcomes), "observed against threshold")
    if evidence["folds_present"]:
        from alphaswarm_assets.runtime.summarising import JOINED_FILE

        shown["rows"] = table([_labelled(k, v) for k, v in evidence["metrics"].items()])
        picture = equity_picture(summary.payload[JOINED_FILE])
        shown["equity"] = _picture(picture, "out-of-sample equity")
    return shown


def pack_metadata(pack: Artifact) -> tuple[MetadataInput, bool | None]:
    """Return what the page of a paper pack shows, and whether the session was accepted (None for a probe)."""
    facts = cast("Mapping[str, Any]", pack.content.facts)
    acceptance = facts.get("acceptance")
    shown: dict[str, Any] = {
        name: value
        for name, value in facts.items()
        if name not in {"acceptance", "episodes", "config"} and value is not None
    }
    if facts.get("episodes"):
        shown["episodes"] = table([_flat(row) for row in facts["episodes"]])
    if "approval_expiry" in pack.envelope:
        shown["approval_expiry"] = pack.envelope["approval_expiry"]
    if acceptance is None:
        return shown, None
    shown["criteria"] = table([dict(row) for row in acceptance["criteria"]])
    shown["accepted"] = acceptance["passed"]
    return shown, bool(acceptance["passed"])


def equity_picture(series: bytes) -> bytes:
    """Return the picture of every seed's equity, the ensemble's and the baselines' from stored return series."""
    import numpy as np
    from safetensors.numpy import load

    arrays = load(series)
    curves = {
        name.removeprefix("returns/"): np.cumprod(1.0 + values)
        for name, values in sorted(arrays.items())
        if name.startswith("returns/")
    }
    seeds = [curves.pop(name) for name in list(curves) if name.isdigit()]
    return pictures.equity_curves(
        arrays["session"], curves, band=np.stack(seeds) if seeds else None
    )


def _verdict_page(
    spec: ResearchSpec, facts: Mapping[str, Any], outcomes: Sequence[Mapping[str, Any]]
) -> str:
    lines = [f"## {facts['decision']}: {spec.key}", ""]
    if spec.description:
        lines += [spec.description, ""]
    if facts["decision"] == "UNGATED":
        lines += ["The spec sets no `promotion`: nothing was asked of this agent.", ""]
    elif facts["decision"] == "PASS":
        lines += [f"All {len(outcomes)} gates passed.", ""]
    else:
        lines += ["The agent is refused:", ""]
        lines += [f"- {reason}" for reason in facts["reasons"]]
        lines += [""]
    if outcomes:
        lines += ["| gate | observed | asked | status |", "|---|---|---|---|"]
        lines += [
            f"| {o['check']} | {_number(o['observed'])} | {o['comparator']} {_number(o['threshold'])} "
            f"| {'✓' if o['passed'] else '✗'} {o['status']} |"
            for o in outcomes
        ]
    return "\n".join(lines)


def _number(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "-" if value is None else str(value)


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    label = f"seed {row['seed']}" if row["seed"] is not None else row["label"]
    return _labelled(str(label), row["metrics"])


def _labelled(label: str, metrics: Mapping[str, Any]) -> dict[str, Any]:
    return {"row": label} | {name: metrics[name]["value"] for name in SHOWN}


def _intervals(aggregate: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    keys = ("point", "iqm", "lo", "hi", "n")
    return [
        {"metric": name} | {key: found.get(key) for key in keys}
        for name, found in aggregate.items()
    ]


def _plotted(aggregate: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        row for row in _intervals(aggregate) if row["metric"] in SHOWN and row["lo"] is not None
    ]


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: value.get("value") if isinstance(value, Mapping) else value
        for key, value in row.items()
    }


def _picture(png: bytes, alt: str) -> dg.MetadataValue:
    return dg.MetadataValue.md(pictures.markdown_image(png, alt))
