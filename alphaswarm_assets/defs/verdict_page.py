"""The page of a verdict: the decision and why, every gate, and beside it what needs no agent."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import dagster as dg

from alphaswarm_assets.defs import pictures
from alphaswarm_assets.defs.reading import BESIDE, equity_shown, picture_shown, policies_shown
from alphaswarm_assets.defs.result import MetadataInput, table
from alphaswarm_assets.defs.wording import gate_row, prose, quantity, who_is
from alphaswarm_assets.records.manifest import Artifact
from alphaswarm_assets.specs.research import ResearchSpec


def verdict_metadata(
    spec: ResearchSpec, verdict: Artifact, summary: Artifact | None
) -> MetadataInput:
    """Return what the page of a verdict shows, from the *summary* it judged, if there was one."""
    facts = cast("Mapping[str, Any]", verdict.content.facts)
    # Where the spec asks for nothing, what every study must have is still looked at and shown.
    outcomes: Sequence[Mapping[str, Any]] = facts["outcomes"] or facts["preconditions"]
    evidence = cast("Mapping[str, Any]", summary.content.facts if summary else {})
    shown: dict[str, Any] = {
        "decision": facts["decision"],
        "why": dg.MetadataValue.md(_why(spec, facts, evidence)),
        "gates": table([gate_row(outcome) for outcome in outcomes]),
    }
    if summary is not None and evidence["folds_present"]:
        from alphaswarm_assets.runtime.summarising import JOINED_FILE

        shown |= equity_shown(summary.payload[JOINED_FILE])
        shown["policies"] = policies_shown(evidence["metrics"], evidence["conventions"])
    chart = pictures.gate_chart(outcomes)
    shown["gates_picture"] = picture_shown(chart, "observed against threshold")
    return {**shown, "evidence": summary.digest if summary else "none"}


def _why(spec: ResearchSpec, facts: Mapping[str, Any], evidence: Mapping[str, Any]) -> str:
    """Return the decision and its reasons, short enough to be shown in place."""
    decision, outcomes = facts["decision"], facts["outcomes"]
    reasons = [prose(reason, start="- ") for reason in facts["reasons"]]
    if decision == "UNGATED":
        why = "The spec sets no `promotion`: nothing was asked of this agent."
    elif decision == "PASS":
        why = f"All {len(outcomes)} gates passed."
    else:
        failed = sum(not o["passed"] and o["status"] != "not_applicable" for o in outcomes)
        why = f"The agent is refused: {failed} of {len(outcomes)} gates did not pass."
    lines = [f"## {decision}: {spec.key}", "", why, ""]
    room = pictures.MOST_LETTERS - sum(len(line) + 1 for line in lines) - 40
    kept: list[str] = []
    for reason in reasons:
        if sum(len(line) + 1 for line in kept) + len(reason) > room:
            kept.append(f"- and {len(reasons) - len(kept)} more: see `gates`")
            break
        kept.append(reason)
    text = "\n".join([*lines, *kept])
    for more in (_beside(evidence), f"About: {spec.description}" if spec.description else ""):
        longer = f"{text}\n\n{prose(more)}"
        text = longer if more and len(longer) <= pictures.MOST_LETTERS else text
    return text


def _beside(evidence: Mapping[str, Any]) -> str:
    """Return what needs no agent beside what the agent did: a gate may ask less than that."""
    found = {
        who_is(label): quantity(metrics["sharpe"]["value"])
        for label in ("ensemble", *BESIDE)
        if (metrics := evidence.get("metrics", {}).get(label)) is not None
    }
    words = ", ".join(f"{who} {sharpe}" for who, sharpe in found.items())
    return f"Sharpe ratio over the same bars: {words}." if len(found) > 1 else ""
