from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from alphaswarm_assets.arrays import AnyArray, Float64Array
from alphaswarm_assets.markets.features import feature, feature_table
from alphaswarm_assets.specs.dataset import LOOK_BACK_BARS
from alphaswarm_assets.streams import Streams


def _series(n: int = 200) -> tuple[Float64Array, Float64Array]:
    stream = Streams(5).generator("features")
    close = 50 * np.exp(np.cumsum(0.02 * stream.standard_normal(n)))
    volume = np.round(1e6 * stream.random(n))
    volume[stream.random(n) < 0.1] = 0.0
    return close, volume


def _by_pandas(name: str, close: Float64Array, volume: Float64Array) -> Float64Array:
    family, _, k = name.rpartition("_")
    price, size, width = pd.Series(close), pd.Series(volume), int(k)
    if family == "return":
        return pd.Series(np.log(price.pct_change(width) + 1)).to_numpy()
    if family == "volatility":
        return pd.Series(np.log(price.pct_change() + 1)).rolling(width).std(ddof=1).to_numpy()
    if family == "drawdown":
        return (price / price.rolling(width + 1).max() - 1).to_numpy()
    ratio = size / size.rolling(width + 1).mean()
    return pd.Series(np.log(ratio.where(ratio > 0, 1.0))).where(ratio.notna()).to_numpy()


@pytest.mark.parametrize("name", LOOK_BACK_BARS)
def test_a_feature_equals_an_independent_computation(name: str) -> None:
    close, volume = _series()
    np.testing.assert_allclose(
        feature(name, close, volume), _by_pandas(name, close, volume), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize(("name", "look_back"), LOOK_BACK_BARS.items())
def test_a_feature_is_known_exactly_from_its_look_back_on(name: str, look_back: int) -> None:
    values = feature(name, *_series())
    assert np.isnan(values[:look_back]).all()
    assert np.isfinite(values[look_back:]).all()
    assert int(name.rpartition("_")[2]) == look_back


@pytest.mark.parametrize("name", LOOK_BACK_BARS)
@pytest.mark.parametrize("n", [0, 1, 5])
def test_a_series_shorter_than_the_look_back_knows_nothing(name: str, n: int) -> None:
    close, volume = _series(n)
    values = feature(name, close, volume)
    assert values.shape == (n,)
    assert np.isnan(values[: LOOK_BACK_BARS[name]]).all()


def test_features_of_a_steady_rise_have_closed_forms() -> None:
    close, volume = 1.01 ** np.arange(100.0), np.full(100, 7.0)
    assert feature("return_21", close, volume)[99] == pytest.approx(21 * np.log(1.01), rel=1e-12)
    assert feature("volatility_21", close, volume)[99] == pytest.approx(0.0, abs=1e-14)
    assert feature("drawdown_63", close, volume)[99] == 0.0
    assert feature("volume_ratio_21", close, volume)[99] == 0.0


def _bars(symbols: list[str], closes: list[Float64Array]) -> dict[str, AnyArray]:
    n = [len(close) for close in closes]
    close = np.concatenate(closes)
    return {
        "symbol": np.repeat(symbols, n),
        "session": np.concatenate([np.arange(k, dtype=np.int64) for k in n]),
        "open": close,
        "close": close,
        "volume": np.full(len(close), 5.0),
        "usable": np.isfinite(close) & (close > 0),
    }


def test_a_symbol_never_looks_into_another() -> None:
    one, other = _series(90)[0], 3 * _series(120)[0]
    both = feature_table(_bars(["A", "B"], [one, other]))
    alone = feature_table(_bars(["B"], [other]))
    for name in LOOK_BACK_BARS:
        np.testing.assert_array_equal(both[name][90:], alone[name])


def test_bars_that_are_not_usable_are_stepped_over() -> None:
    close = _series(120)[0]
    gappy = np.insert(close, [40, 40, 80], [np.nan, 0.0, np.nan])
    whole, holed = feature_table(_bars(["A"], [close])), feature_table(_bars(["A"], [gappy]))
    usable = np.isfinite(gappy) & (gappy > 0)
    for name in LOOK_BACK_BARS:
        np.testing.assert_array_equal(holed[name][usable], whole[name])
        assert np.isnan(holed[name][~usable]).all()


def test_nothing_looks_back_across_a_close_below_zero() -> None:
    # Case c09: a return across it is undefined, so every look-back starts again after it.
    close = _series(160)[0]
    close[70] = -36.98
    table = feature_table(_bars(["A"], [close]))
    for name, look_back in LOOK_BACK_BARS.items():
        np.testing.assert_array_equal(table[name][:70], feature(name, close[:70], np.full(70, 5.0)))
        np.testing.assert_array_equal(table[name][71:], feature(name, close[71:], np.full(89, 5.0)))
        assert np.isnan(table[name][70 : 71 + look_back]).all()


def test_the_gold_table_carries_prices_and_every_feature() -> None:
    table = feature_table(_bars(["A"], [_series(80)[0]]))
    assert set(table) == {"symbol", "session", "open", "close", "usable", *LOOK_BACK_BARS}
    assert {len(column) for column in table.values()} == {80}
    empty = feature_table({k: v[:0] for k, v in _bars(["A"], [_series(80)[0]]).items()})
    assert {len(column) for column in empty.values()} == {0}
