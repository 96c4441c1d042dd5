"""Numbers of one rollout, and of a battery of them: every metric with its convention, or the reason there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from alphaswarm_assets.arrays import Float64Array
from alphaswarm_assets.learning.evaluation import Rollout
from alphaswarm_assets.records.canonical import JsonObject
from alphaswarm_assets.specs.evaluation import BootstrapSpec
from alphaswarm_assets.statistics.bootstrap import aggregate
from alphaswarm_assets.statistics.performance import (
    hit_rate,
    max_drawdown,
    profit_factor,
    sharpe_annual,
    sharpe_per_period,
    total_return,
    volatility_annual,
)
from alphaswarm_assets.statistics.turnover import mean_turnover
from alphaswarm_assets.statistics.undefined import Measured, Undefined
from alphaswarm_assets.streams import Streams

CONVENTIONS: Mapping[str, str] = MappingProxyType(
    {
        "total_return": (
            "net of costs, compounded over the episodes, start equity 1; an episode ends at its last close, and what "
            "closing its positions would cost is not charged"
        ),
        "sharpe": "annual: mean / sample deviation (ddof 1) of net simple returns per bar, times sqrt(252)",
        "sharpe_per_period": "mean / sample deviation (ddof 1) of net simple returns per bar",
        "max_drawdown": "largest fall from the running peak, positive, peak starts at equity 1",
        "volatility": "annual: sample deviation (ddof 1) times sqrt(252)",
        "turnover": "one-way share of equity traded per bar, mean",
        "cost": "costs paid over equity, summed over the bars",
        "hit_rate": "share of bars with a return above zero",
        "profit_factor": "sum of gains over sum of losses, per bar",
    }
)
"""What each metric means."""


DEFAULT_BOOTSTRAP = BootstrapSpec(n_resamples=1000, alpha=0.05)
"""What a spec that says nothing gets; stated here, where it enters the code version, since no hash covers it."""


def metrics_of(
    returns: Float64Array, turnover: Float64Array, cost: Float64Array
) -> dict[str, Measured]:
    """Return every metric of one series of net returns.

    Parameters
    ----------
    returns, turnover, cost : (T,) float64
        Simple net returns, one-way turnover and cost, as shares of equity per bar.
    """
    return {
        "total_return": total_return(returns),
        "sharpe": sharpe_annual(returns),
        "sharpe_per_period": sharpe_per_period(returns),
        "max_drawdown": max_drawdown(returns),
        "volatility": volatility_annual(returns),
        "turnover": mean_turnover(turnover),
        "cost": float(cost.sum()),
        "hit_rate": hit_rate(returns),
        "profit_factor": profit_factor(returns),
    }


def measured_json(value: Measured) -> JsonObject:
    """Return a number, or the reason there is none, as JSON."""
    if isinstance(value, Undefined):
        return {"value": None, "reason": value.reason}
    return {"value": float(value), "reason": None}


def metrics_json(metrics: Mapping[str, Measured]) -> JsonObject:
    """Return *metrics* as JSON, one ``{value, reason}`` a metric."""
    return {name: measured_json(value) for name, value in metrics.items()}


def row_of(rollout: Rollout, *, seed: int | None = None) -> JsonObject:
    """Return the row of a report that describes *rollout*."""
    metrics = metrics_of(rollout.returns, rollout.turnover_one_way, rollout.cost)
    return {
        "label": rollout.label,
        "seed": seed,
        "n_bars": len(rollout.returns),
        "orders_cut": rollout.orders_cut,
        "orders_unfilled": rollout.orders_unfilled,
        "metrics": metrics_json(metrics),
        "reward_terms": {name: float(total) for name, total in rollout.reward_terms.items()},
    }


def aggregate_rows(
    rows: Sequence[Mapping[str, Measured]], bootstrap: BootstrapSpec | None, streams: Streams
) -> JsonObject:
    """Return point, IQM and percentile interval over seeds of every metric, each resampled from its own stream.

    A metric that is undefined for any seed is undefined for the battery, with the reason.
    """
    settings = bootstrap or DEFAULT_BOOTSTRAP
    out: JsonObject = {}
    for metric in CONVENTIONS:
        values = [row[metric] for row in rows]
        found = aggregate(
            values,
            n_resamples=settings.n_resamples,
            alpha=settings.alpha,
            generator=streams.generator(f"bootstrap/{metric}"),
        )
        if isinstance(found, Undefined):
            out[metric] = {
                "point": None,
                "iqm": None,
                "lo": None,
                "hi": None,
                "n": len(values),
                "reason": found.reason,
            }
            continue
        lo, hi = measured_json(found.lo), measured_json(found.hi)
        out[metric] = {
            "point": found.point,
            "iqm": found.iqm,
            "lo": lo["value"],
            "hi": hi["value"],
            "n": found.n,
            "method": found.method,
            "reason": lo["reason"],
        }
    return out


def mean_reward_attribution(rollouts: Sequence[Rollout]) -> JsonObject:
    """Return the total of every reward term, mean over *rollouts*."""
    names = sorted({name for rollout in rollouts for name in rollout.reward_terms})
    return {
        name: float(np.mean([rollout.reward_terms.get(name, 0.0) for rollout in rollouts]))
        for name in names
    }
