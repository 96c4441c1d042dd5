"""Traders: whatever decides at a close. A policy by its mean, and the baselines every policy is shown beside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from alphaswarm_assets.arrays import BoolArray, Float64Array
from alphaswarm_assets.learning.policy import Ensemble, Policy


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Moment:
    """What is known at the close of a bar, for E portfolios."""

    features: Float64Array
    """(E, N, F) as in the panel."""
    known: BoolArray
    """(E, N) symbols that may be held."""
    weights: Float64Array
    """(E, N) weights held."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Decision:
    """What to hold from the next open."""

    targets: Float64Array
    """(E, N) target weights."""
    keep: BoolArray | None = None
    """(E, N) symbols without an order, whatever their target says; None = an order for each."""


Trader: TypeAlias = Callable[[Moment], Decision]


def follow(policy: Policy | Ensemble) -> Trader:
    """Return the trader that does what *policy* asks for, by its mean."""

    def decide(moment: Moment) -> Decision:
        return Decision(
            targets=policy.target_weights(moment.features, moment.known, moment.weights)
        )

    return decide


def equal_weight(moment: Moment) -> Decision:
    """Spread evenly over the known symbols, at every bar anew."""
    count = np.maximum(moment.known.sum(axis=1, keepdims=True), 1)
    return Decision(targets=moment.known / count)


def do_nothing(moment: Moment) -> Decision:
    """Stay in cash."""
    return Decision(targets=np.zeros(moment.weights.shape))


def buy_and_hold_equal(moment: Moment) -> Decision:
    """Spread evenly over the symbols known first, once, and never trade again."""
    invested = moment.weights.sum(axis=1, keepdims=True) > 0.0
    return Decision(
        targets=np.where(invested, 0.0, equal_weight(moment).targets),
        keep=np.broadcast_to(invested, moment.weights.shape),
    )


BASELINES: Mapping[str, Trader] = MappingProxyType(
    {
        "equal_weight": equal_weight,
        "do_nothing": do_nothing,
        "buy_and_hold_equal": buy_and_hold_equal,
    }
)
"""By label, in the order of a report."""
