"""What a paper session measured: a row an episode, the summary of all, and what the desk's gateway counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Final

from alphaswarm_assets.arrays import Float64Array
from alphaswarm_assets.records.canonical import Json, JsonObject
from alphaswarm_assets.rehearsal.acceptance import NO_EPISODE, reject_rate
from alphaswarm_assets.rehearsal.session import PlayedEpisode, Session
from alphaswarm_assets.rehearsal.triggers import RollbackEvent
from alphaswarm_assets.statistics import performance
from alphaswarm_assets.statistics.undefined import Measured, Undefined

METRICS: Final[Mapping[str, Callable[[Float64Array], Measured]]] = {
    "total_return": performance.total_return,
    "max_drawdown": performance.max_drawdown,
    "volatility_annual": performance.volatility_annual,
    "sharpe_annual": performance.sharpe_annual,
    "sortino": performance.sortino,
    "profit_factor": performance.profit_factor,
    "hit_rate": performance.hit_rate,
}
"""By name, of the simple net return of each step; a year has 252 steps."""


def episode_row(episode: PlayedEpisode) -> JsonObject:
    """Return one episode as JSON: how it ended, how long it was, its metrics and its counters."""
    return {
        "episode": episode.index,
        "end": episode.end,
        "n_steps": len(episode.returns),
        "metrics": _measure(episode.returns),
        "counters": asdict(episode.counters),
    }


def session_summary(session: Session) -> JsonObject:
    """Return the whole session as JSON: how it ended, how far it came, and its metrics."""
    undefined: JsonObject = {name: as_json(NO_EPISODE) for name in METRICS}
    return {
        "status": session.status,
        "n_episodes": len(session.episodes),
        "n_steps": len(session.returns),
        "final_equity": session.account.equity,
        "metrics": _measure(session.returns) if session.episodes else undefined,
    }


def operational_report(session: Session) -> JsonObject:
    """Return what the gateway counted over the session as JSON; None where nothing was counted."""
    return {
        **asdict(session.counters),
        "reject_rate": as_json(reject_rate(session)),
        "n_cut_episodes": sum(episode.end != "completed" for episode in session.episodes),
    }


def rollback_row(event: RollbackEvent) -> JsonObject:
    """Return one rollback event as JSON."""
    return asdict(event)


def as_json(value: Measured) -> Json:
    """Return the number, or an object without one that says why."""
    if isinstance(value, Undefined):
        return {"value": None, "reason": value.reason}
    return value


def _measure(returns: Float64Array) -> JsonObject:
    return {name: as_json(measure(returns)) for name, measure in METRICS.items()}
