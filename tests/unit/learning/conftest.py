"""Panels small enough to reason about."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np
import pytest

from alphaswarm_assets.arrays import BoolArray, Float64Array
from alphaswarm_assets.markets.panel import Panel
from alphaswarm_assets.streams import Streams

MakePanel = Callable[..., Panel]


class StepClock:
    """A clock that moves one second every time it is asked."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return datetime(2024, 1, 1, tzinfo=UTC)

    def monotonic_s(self) -> float:
        self.seconds += 1.0
        return self.seconds


@pytest.fixture
def clock() -> StepClock:
    return StepClock()


def _panel(
    open_: Float64Array,
    close: Float64Array,
    tradable: BoolArray | None = None,
    known: BoolArray | None = None,
    features: Float64Array | None = None,
) -> Panel:
    n_bars, n_symbols = close.shape
    tradable = np.ones(close.shape, dtype=np.bool_) if tradable is None else tradable
    known = tradable.copy() if known is None else known
    if features is None:
        features = np.where(known, np.log(np.where(tradable, close, 1.0)), 0.0)[:, :, None]
    return Panel(
        symbols=tuple("ABCDEFGH"[:n_symbols]),
        feature_names=tuple(f"f{i}" for i in range(features.shape[2])),
        session=np.arange(n_bars, dtype=np.int64) + 19_000,
        open=np.where(tradable, open_, np.nan),
        close=np.where(tradable, close, np.nan),
        tradable=tradable,
        features=features,
        known=known,
    )


@pytest.fixture(name="panel_of")
def panel_of_fixture() -> MakePanel:
    """Make a panel of prices given outright."""
    return _panel


@pytest.fixture(name="walk")
def walk_fixture() -> MakePanel:
    """Make a panel of geometric walks from a named stream, with gaps when asked for."""

    def make(n_bars: int = 120, n_symbols: int = 3, gaps: float = 0.0, name: str = "walk") -> Panel:
        random = Streams(7).fork("tests").generator(name)
        close = 50.0 * np.exp(np.cumsum(random.normal(0.0, 0.02, (n_bars, n_symbols)), axis=0))
        open_ = close * np.exp(random.normal(0.0, 0.01, (n_bars, n_symbols)))
        tradable = random.random((n_bars, n_symbols)) >= gaps
        known = tradable & (random.random((n_bars, n_symbols)) >= gaps)
        features = random.normal(size=(n_bars, n_symbols, 2)) * known[:, :, None]
        return _panel(open_, close, tradable, known, features)

    return make
