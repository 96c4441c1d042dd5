"""Artifacts as a person reads them in the UI: what was found first, the evidence below it, digests last."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import dagster as dg

from alphaswarm_assets.arrays import Float64Array, Int64Array
from alphaswarm_assets.defs import pictures
from alphaswarm_assets.defs.result import MetadataInput, table
from alphaswarm_assets.defs.wording import (
    COLUMNS,
    SESSION_COLUMNS,
    SHARES,
    gate_row,
    in_order,
    metrics_row,
    quantity,
    who_is,
)
from alphaswarm_assets.records.manifest import Artifact

BESIDE = ("equal_weight",)
"""What the ensemble is shown beside where there is room for one."""


def report_metadata(report: Artifact) -> MetadataInput:
    """Return what the page of an evaluation report shows."""
    facts = cast("Mapping[str, Any]", report.content.facts)
    if not facts["evaluated"]:
        return {"evaluated": False, "reason": facts["reason"]}
    from alphaswarm_assets.runtime.evaluating import SERIES_FILE

    rows = [facts["ensemble"], *facts["baselines"], *facts["seeds"]]
    metrics = {str(r["label"] if r["seed"] is None else r["seed"]): r["metrics"] for r in rows}
    return {
        "window": f"{facts['first_session']} to {facts['last_session']}, not seen in training",
        **equity_shown(report.payload[SERIES_FILE]),
        "policies": policies_shown(metrics, facts["conventions"]),
        **_intervals(facts["aggregate"]),
        "reward_attribution": facts["reward_attribution"],
    }


def summary_metadata(summary: Artifact) -> MetadataInput:
    """Return what the page of an evaluation summary shows."""
    facts = cast("Mapping[str, Any]", summary.content.facts)
    head = {
        "folds": _folds(facts["folds_present"], facts["folds_expected"]),
        "n_seeds": len(facts["seeds"]),
    }
    if not facts["folds_present"]:
        return {**head, "reason": "no fold was measured"}
    from alphaswarm_assets.runtime.summarising import JOINED_FILE

    return {
        **head,
        "n_distinct_seeds": facts["n_distinct_seeds"],
        "n_bars": facts["n_bars"],
        **equity_shown(summary.payload[JOINED_FILE]),
        "policies": policies_shown(facts["metrics"], facts["conventions"]),
        **_intervals(facts["aggregate"]),
        "deflated_sharpe": _probability(facts["dsr"]),
        "pbo": _probability(facts["pbo"]),
    }


def pack_metadata(pack: Artifact) -> tuple[MetadataInput, bool | None]:
    """Return what the page of a paper pack shows, and whether the session was accepted (None for a probe)."""
    facts = cast("Mapping[str, Any]", pack.content.facts)
    acceptance, session = facts.get("acceptance"), facts["session"]
    words = (
        f"{session['n_episodes']} episodes, {session['n_steps']} bars, ended: {session['status']}"
    )
    shown: dict[str, Any] = {
        "accepted": "no criteria: a probe" if acceptance is None else acceptance["passed"],
        "session": f"{words}; equity 1 → {session['final_equity']:.4g}",
    }
    if acceptance is not None:
        rows = [gate_row(row, kind="criterion") for row in acceptance["criteria"]]
        shown["criteria"] = table(rows)
        if acceptance["reasons"]:
            shown["reasons"] = acceptance["reasons"]
    shown["session_metrics"] = table([metrics_row(session["metrics"], SESSION_COLUMNS)])
    if facts.get("episodes"):
        shown["episodes"] = table([_episode(row) for row in facts["episodes"]])
    if "approval_expiry" in pack.envelope:
        shown["approval_expiry"] = pack.envelope["approval_expiry"]
    shown["seeds"] = ", ".join(str(seed) for seed in facts["seeds"])
    told = {*shown, "acceptance", "config", "schema", "spec_hash"}
    shown |= {name: value for name, value in facts.items() if name not in told and value}
    return shown, None if acceptance is None else bool(acceptance["passed"])


def _folds(present: Sequence[str], expected: Sequence[str]) -> str:
    missing = [fold for fold in expected if fold not in present]
    measured = f"{len(present)} of {len(expected)} measured"
    return f"{measured}; missing: {', '.join(missing)}" if missing else measured


def _probability(reading: Mapping[str, Any]) -> str:
    if reading["value"] is None:
        return f"not computable: {reading['reason']}"
    return f"{quantity(reading['value'])}, over the {reading['scope']}"


def equity_shown(series: bytes) -> dict[str, Any]:
    """Return equity twice: at a glance on the page itself, and as a picture with every seed behind a link."""
    session, curves, seeds = _curves(series)
    best = {label: curves[label] for label in ("ensemble", *BESIDE) if label in curves}
    picture = pictures.equity_curves(session, curves, band=seeds)
    return {
        "equity": dg.MetadataValue.md(pictures.equity_glance(session, best)),
        "equity_picture": picture_shown(picture, "out-of-sample equity"),
    }


def _curves(
    series: bytes,
) -> tuple[Int64Array, dict[str, Float64Array], Float64Array | None]:
    """Return sessions, equity of the ensemble and the baselines by label, and of the seeds, from stored returns."""
    import numpy as np
    from safetensors.numpy import load

    arrays = load(series)
    labels = [name.removeprefix("returns/") for name in arrays if name.startswith("returns/")]
    curves = {
        label: np.cumprod(1.0 + arrays[f"returns/{label}"], dtype=np.float64)
        for label in in_order(labels)
    }
    seeds = [curves.pop(label) for label in list(curves) if label.isdigit()]
    return arrays["session"], curves, np.stack(seeds) if seeds else None


def policies_shown(
    metrics: Mapping[str, Mapping[str, Any]], conventions: Mapping[str, str]
) -> dg.MetadataValue:
    """Return *metrics* by label as a table, the ensemble first; its schema says how each is computed."""
    meanings = {title: conventions[name] for name, title in COLUMNS.items()}
    rows = [
        {"policy": who_is(label), **metrics_row(metrics[label], COLUMNS)}
        for label in in_order(list(metrics))
    ]
    return table(rows, meanings=meanings)


def _intervals(aggregate: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the aggregate over seeds as a table and as a picture, and its Sharpe ratio as a number to be plotted."""
    rows = [{"metric": name, **aggregate[name]} for name in COLUMNS]
    shown = [
        {
            "over seeds": COLUMNS[row["metric"]],
            "mean": quantity(row["point"], unit),
            "from": quantity(row["lo"], unit),
            "to": quantity(row["hi"], unit),
            "interquartile mean": quantity(row["iqm"], unit),
            "why not": row["reason"] or "",
        }
        for row in rows
        for unit in ["fraction" if row["metric"] in SHARES else ""]
    ]
    if not any(row["why not"] for row in shown):
        shown = [{k: v for k, v in row.items() if k != "why not"} for row in shown]
    plotted = [row for row in rows if row["lo"] is not None]
    return {
        "intervals": table(shown, meanings={"over seeds": "; ".join(set(_methods(rows)))}),
        "intervals_picture": picture_shown(pictures.interval_plot(plotted), "intervals over seeds"),
        "sharpe_mean_over_seeds": aggregate["sharpe"]["point"],
    }


def _methods(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return [str(row["method"]) for row in rows if row.get("method")]


def _episode(row: Mapping[str, Any]) -> dict[str, Any]:
    place = {"episode": row["episode"], "bars": row["n_steps"], "end": row["end"]}
    return place | metrics_row(row["metrics"], SESSION_COLUMNS)


def picture_shown(png: bytes, alt: str) -> dg.MetadataValue:
    """Return *png* as an entry that opens behind a link."""
    return dg.MetadataValue.md(pictures.markdown_image(png, alt))
