"""The paper pack: all a person needs to approve a policy for trading, and until when an approval holds.

The content is what the same session gives anywhere; instants, the halt as somebody worded it, and the expiry stand
in the envelope.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, TypeAlias

from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.gates.outcome import Outcome
from alphaswarm_assets.records.canonical import JsonObject
from alphaswarm_assets.rehearsal.acceptance import Acceptance, accept
from alphaswarm_assets.rehearsal.report import (
    episode_row,
    operational_report,
    rollback_row,
    session_summary,
)
from alphaswarm_assets.rehearsal.session import Session
from alphaswarm_assets.specs.paper import PaperSpec

SCHEMA: Final = "alphaswarm.paper_pack/1"
"""Changes whenever the meaning of a field does."""

PackKind: TypeAlias = Literal["release_train", "probe"]


def build_pack(
    *,
    session: Session,
    paper: PaperSpec,
    spec_hash: str,
    checkpoint: str,
    seed: int,
    seeds: Sequence[int],
) -> tuple[JsonObject, JsonObject]:
    """Return the pack of a release-train session: its content and its envelope.

    Parameters
    ----------
    session : Session
        Finished.
    paper : PaperSpec
        What it was bounded and is accepted by.
    spec_hash : str
        SHA-256 of the research spec.
    checkpoint : str
        Content digest of what was traded.
    seed : int
        The spec's ``training.seed``.
    seeds : sequence of int
        Seeds of the policies that traded.

    Raises
    ------
    InvalidInputError
        If an instant of the session has no time zone.
    """
    acceptance = accept(session, paper)
    content = _content(
        "release_train", session, spec_hash=spec_hash, checkpoint=checkpoint, seed=seed, seeds=seeds
    )
    content |= {
        "decision": "PASS" if acceptance.passed else "REJECT",
        "config": paper.model_dump(mode="json", exclude_none=True),
        "acceptance": {
            "passed": acceptance.passed,
            "criteria": [outcome.to_json() for outcome in acceptance.criteria],
            "reasons": list(acceptance.reasons),
        },
    }
    expiry = _utc(session.ended) + timedelta(days=paper.approval_expiry_days)
    return content, _envelope(session) | {"approval_expiry": expiry.isoformat()}


def probe_pack(
    *, session: Session, spec_hash: str, checkpoint: str, seed: int, seeds: Sequence[int]
) -> tuple[JsonObject, JsonObject]:
    """Return the pack of a probe: a single rollout that is bounded by nothing, judged by nothing and approves nothing.

    Parameters
    ----------
    session : Session
        From `run_probe`.
    spec_hash, checkpoint, seed, seeds
        As for `build_pack`.

    Raises
    ------
    InvalidInputError
        As for `build_pack`.
    """
    content = _content(
        "probe", session, spec_hash=spec_hash, checkpoint=checkpoint, seed=seed, seeds=seeds
    )
    content |= {"decision": "UNGATED", "config": None, "acceptance": None}
    return content, _envelope(session) | {"approval_expiry": None}


def is_approved(
    content: Mapping[str, Any], envelope: Mapping[str, Any], now: datetime
) -> tuple[bool, str]:
    """Return whether a pack approves its policy at *now*, and why.

    The criteria in the pack are decided again, and the expiry is counted again from the end of the session: a field
    that says more than they do does not approve.

    Parameters
    ----------
    content, envelope : mapping
        As `build_pack` made them, or as they were read back.
    now : datetime
        With a time zone.

    Raises
    ------
    InvalidInputError
        If *now* has no time zone.
    """
    instant = _utc(now)
    if content.get("schema") != SCHEMA or content.get("kind") != "release_train":
        return False, f"a pack of kind {content.get('kind')!r} approves nothing"
    refusal = _why_not_accepted(content)
    if refusal is not None:
        return False, refusal
    try:
        days = int(content["config"]["approval_expiry_days"])
        ended = _utc(datetime.fromisoformat(envelope["ended"]))
        written = _utc(datetime.fromisoformat(envelope["approval_expiry"]))
        expiry = min(written, ended + timedelta(days=days))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        return False, f"the pack does not say until when it holds: {error!r}"
    if instant < ended:
        return False, f"the session ended at {ended.isoformat()}, after now: compare the clocks"
    if instant >= expiry:
        return False, f"the approval expired at {expiry.isoformat()}; run the paper session again"
    return True, f"approved until {expiry.isoformat()}"


def _why_not_accepted(content: Mapping[str, Any]) -> str | None:
    try:
        recorded = content["acceptance"]
        acceptance = Acceptance(criteria=tuple(map(Outcome.from_json, recorded["criteria"])))
        passed = recorded["passed"]
    except (KeyError, TypeError, InvalidInputError) as error:
        return f"the pack holds no acceptance that can be read: {error}"
    if not acceptance.passed or passed is not True or content.get("decision") != "PASS":
        return "the session was not accepted: " + ("; ".join(acceptance.reasons) or "it says so")
    return None


def _content(
    kind: PackKind,
    session: Session,
    *,
    spec_hash: str,
    checkpoint: str,
    seed: int,
    seeds: Sequence[int],
) -> JsonObject:
    return {
        "schema": SCHEMA,
        "kind": kind,
        "spec_hash": spec_hash,
        "checkpoint": checkpoint,
        "seed": seed,
        "seeds": list(seeds),
        "episodes": [episode_row(episode) for episode in session.episodes],
        "session": session_summary(session),
        "operational_report": operational_report(session),
        "rollback_events": [rollback_row(event) for event in session.rollback_events],
    }


def _envelope(session: Session) -> JsonObject:
    halt = session.halt
    started, ended = _utc(session.started), _utc(session.ended)
    return {
        "started": started.isoformat(),
        "ended": ended.isoformat(),
        "halt": None if halt is None else {"key": halt.key, "reason": halt.reason},
    }


def _utc(instant: datetime) -> datetime:
    if instant.utcoffset() is None:
        raise InvalidInputError(f"an instant must have a time zone, was {instant!r}")
    return instant.astimezone(UTC)
