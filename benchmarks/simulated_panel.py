"""A market that needs no data: geometric walks from a named stream, with features of the kind a spec asks for."""

from __future__ import annotations

import numpy as np

from alphaswarm_assets.markets.features import feature
from alphaswarm_assets.markets.panel import Panel
from alphaswarm_assets.streams import Streams

FEATURES = ("return_1", "return_5", "return_21", "volatility_21", "drawdown_63", "volume_ratio_21")


def simulated_panel(n_symbols: int = 5, n_bars: int = 3000, gaps: float = 0.0) -> Panel:
    """Return *n_bars* of *n_symbols* walks, 8 % a year with 24 % volatility; a share *gaps* of the bars is missing."""
    random = Streams(0).fork("benchmarks").generator("geometric-walk")
    night = random.normal(0.0, 0.007, (n_bars, n_symbols))
    day = random.normal(0.0003, 0.013, (n_bars, n_symbols))
    close = 100.0 * np.exp(np.cumsum(night + day, axis=0))
    open_ = close / np.exp(day)
    volume = random.lognormal(12.0, 0.4, (n_bars, n_symbols))
    columns = [
        np.stack([feature(name, close[:, i], volume[:, i]) for i in range(n_symbols)], axis=1)
        for name in FEATURES
    ]
    features = np.stack(columns, axis=2)
    first = int(np.argmax(np.isfinite(features).all(axis=(1, 2))))
    tradable = random.random((n_bars - first, n_symbols)) >= gaps
    return Panel(
        symbols=tuple(f"S{i}" for i in range(n_symbols)),
        feature_names=FEATURES,
        session=np.arange(n_bars - first, dtype=np.int64),
        open=open_[first:],
        close=close[first:],
        tradable=tradable,
        features=features[first:] * tradable[:, :, None],
        known=tradable,
    )
