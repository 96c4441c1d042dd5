from __future__ import annotations

import csv
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest

from alphaswarm_assets.arrays import AnyArray
from alphaswarm_assets.errors import InvalidInputError, MarketDataError
from alphaswarm_assets.markets.bars import check_bars
from alphaswarm_assets.markets.dataset import build_panel, dataset_payload, open_dataset
from alphaswarm_assets.markets.features import feature_table
from alphaswarm_assets.records.manifest import pack
from alphaswarm_assets.specs.loading import validate_spec
from alphaswarm_assets.specs.research import ResearchSpec
from alphaswarm_assets.streams import Streams
from tests.conftest import shared

START = date(2001, 1, 1)
N = 400


def _spec(**dataset: Any) -> ResearchSpec:
    raw = {
        "name": "panel",
        "dataset": {"features": ["return_1", "return_21"]} | dataset,
        "walk_forward": {"n_blocks": 3, "purge_bars": 5},
        "training": {"seed": 1, "total_timesteps": 1},
    }
    return validate_spec(raw, source="test")


def _raw(listed: dict[str, range]) -> dict[str, AnyArray]:
    symbol = np.concatenate([np.repeat(name, len(days)) for name, days in listed.items()])
    day = np.concatenate([np.array(days, dtype=np.int64) for days in listed.values()])
    stream = Streams(9).generator("dataset")
    close = 20 * np.exp(np.cumsum(0.01 * stream.standard_normal(len(day))))
    return {
        "symbol": symbol,
        "session": day + (START - date(1970, 1, 1)).days,
        "open": close * 1.001,
        "high": close * 1.01,
        "low": close * 0.99,
        "close": close,
        "volume": np.full(len(day), 1000.0),
        "adj_close": close,
    }


def _gold(raw: dict[str, AnyArray]) -> dict[str, AnyArray]:
    return feature_table(check_bars(raw, source="test")[0])


@pytest.fixture(scope="module")
def gold() -> dict[str, AnyArray]:
    return _gold(_raw({"OLD": range(N), "NEW": range(200, N), "GONE": range(100)}))


def _at(days: int) -> str:
    return str(START + timedelta(days=days))


def test_a_symbol_is_unknown_before_its_look_back_is_complete(gold: dict[str, AnyArray]) -> None:
    panel = build_panel(_spec(), gold)
    assert panel.symbols == ("GONE", "NEW", "OLD")
    new, old = panel.symbols.index("NEW"), panel.symbols.index("OLD")
    assert np.flatnonzero(panel.tradable[:, new])[0] == 200
    assert np.flatnonzero(panel.known[:, new])[0] == 200 + 21
    assert np.flatnonzero(panel.known[:, old])[0] == 21
    assert not panel.tradable[100:, panel.symbols.index("GONE")].any()
    assert (panel.features[~panel.known] == 0).all()
    assert np.isnan(panel.close[~panel.tradable]).all()


def test_features_look_back_before_the_window(gold: dict[str, AnyArray]) -> None:
    panel = build_panel(_spec(start=_at(300)), gold)
    assert panel.n_bars == 100
    assert panel.known[0].tolist() == [False, True, True]


def test_both_ends_of_the_window_are_inside_it(gold: dict[str, AnyArray]) -> None:
    spec = _spec(start=_at(10), end=_at(310), symbols=["OLD", "NEW"])
    _, facts = dataset_payload(spec, gold)
    assert (facts["first_session"], facts["last_session"], facts["n_bars"]) == (
        _at(10),
        _at(310),
        301,
    )


def test_symbols_come_in_the_order_of_the_spec(gold: dict[str, AnyArray]) -> None:
    panel = build_panel(_spec(symbols=["OLD", "NEW"]), gold)
    other = build_panel(_spec(symbols=["NEW", "OLD"]), gold)
    assert panel.symbols == ("OLD", "NEW")
    assert (panel.known == other.known[:, ::-1]).all()
    np.testing.assert_array_equal(panel.features, other.features[:, ::-1])


def test_prices_and_features_stand_at_their_session(gold: dict[str, AnyArray]) -> None:
    panel = build_panel(_spec(symbols=["NEW"]), gold)
    rows = gold["symbol"] == "NEW"
    assert panel.session.tolist() == gold["session"][rows].tolist()
    assert panel.close[:, 0].tolist() == gold["close"][rows].tolist()
    assert panel.features[21:, 0, 1].tolist() == gold["return_21"][rows][21:].tolist()


def test_an_unknown_symbol_is_refused_with_a_hint(gold: dict[str, AnyArray]) -> None:
    with pytest.raises(
        MarketDataError,
        match=r"source 'wiki_5stocks' has no symbol 'nwe'. Did you mean 'NEW'\? It has GONE, NEW, OLD.",
    ):
        build_panel(_spec(symbols=["OLD", "nwe"]), gold)
    with pytest.raises(MarketDataError, match=r"has no symbol 'XYZQ'. It has GONE, NEW, OLD."):
        build_panel(_spec(symbols=["XYZQ"]), gold)


def test_a_window_without_a_bar_says_which_bars_there_are(gold: dict[str, AnyArray]) -> None:
    with pytest.raises(
        MarketDataError, match=f"no bar in 2020-01-01..the end; .* from {START} to {_at(N - 1)}"
    ):
        build_panel(_spec(start="2020-01-01"), gold)


def test_a_window_in_which_a_named_symbol_does_not_trade_is_refused(
    gold: dict[str, AnyArray],
) -> None:
    message = f"'NEW' has no bar in the beginning..{_at(150)}; it has bars from {_at(200)} to {_at(N - 1)}"
    with pytest.raises(MarketDataError, match=message):
        build_panel(_spec(symbols=["OLD", "NEW"], end=_at(150)), gold)
    # Of "all there are", what lists later is simply not there yet.
    panel = build_panel(_spec(end=_at(150)), gold)
    assert not panel.tradable[:, panel.symbols.index("NEW")].any()


def test_a_window_between_the_bars_of_the_chosen_symbols_is_refused() -> None:
    gold = _gold(_raw({"A": range(300), "B": range(100, 120)}))
    with pytest.raises(MarketDataError, match="symbol 'B' has no bar in"):
        build_panel(_spec(symbols=["B"], start=_at(150), end=_at(200)), gold)


def test_an_empty_gold_table_is_refused() -> None:
    conflict = _raw({"A": range(1), "B": range(1)}) | {"symbol": np.array(["A", "A"])}
    with pytest.raises(MarketDataError, match="has no bars"):
        build_panel(_spec(), _gold(conflict))


def test_a_symbol_that_closed_below_zero_is_refused_by_name_and_day() -> None:
    # Case c09: weights cannot be held across it; outside of the window it does no harm.
    raw = _raw({"OIL": range(N), "OLD": range(N)})
    for name in ("open", "high", "low", "close", "adj_close"):
        raw[name][150] = -36.98
    gold = _gold(raw)
    with pytest.raises(
        MarketDataError, match=rf"'OIL' closed below zero on {_at(150)} \(-36.98\).*Leave it out"
    ):
        build_panel(_spec(), gold)
    assert build_panel(_spec(symbols=["OLD"]), gold).n_bars == N
    after = build_panel(_spec(start=_at(151)), gold)
    assert np.flatnonzero(after.known[:, 0])[0] == 21


def test_a_ragged_source_gives_a_panel_of_one_shape() -> None:
    # Case c13: three symbols that do not all trade every day, and one row missing.
    folder = shared() / "cases" / "c13-ragged-panel"
    shapes, missing = [], []
    for name in ("panel.csv", "panel_missing_row.csv"):
        with (folder / name).open() as file:
            rows = list(csv.DictReader(file))
        raw: dict[str, AnyArray] = {
            "symbol": np.array([r["Symbol"] for r in rows]),
            "session": np.array(
                [(date.fromisoformat(r["Date"]) - date(1970, 1, 1)).days for r in rows]
            ),
            **{
                c.lower(): np.array([float(r[c]) for r in rows])
                for c in ("Open", "High", "Low", "Close", "Volume")
            },
            "adj_close": np.array([float(r["Close"]) for r in rows]),
        }
        panel = build_panel(_spec(features=["return_1"]), _gold(raw))
        shapes.append(panel.features.shape)
        missing.append(int((~panel.tradable).sum()))
    assert shapes == [(6, 3, 1), (6, 3, 1)]
    assert missing == [3, 4]


def test_the_payload_opens_to_the_same_panel_and_walk(gold: dict[str, AnyArray]) -> None:
    spec = _spec(symbols=["OLD", "NEW"])
    payload, facts = dataset_payload(spec, gold)
    artifact = pack(kind="dataset", spec_hash=spec.snapshot_hash(), payload=payload, facts=facts)
    panel, walk = open_dataset(artifact)
    made = build_panel(spec, gold)
    assert panel.symbols == made.symbols
    assert panel.feature_names == made.feature_names
    for name, array in made.tensors().items():
        assert panel.tensors()[name].tobytes() == array.tobytes()
    assert [fold.name for fold in walk.folds] == ["f0", "f1"]
    assert facts["first_known"] == {"OLD": _at(21), "NEW": _at(221)}
    assert facts["missing_bars"] == {"OLD": 0, "NEW": 0}
    assert (facts["first_session"], facts["last_session"]) == (str(START), _at(N - 1))


def test_the_same_gold_gives_the_same_bytes_in_any_order(gold: dict[str, AnyArray]) -> None:
    spec = _spec(symbols=["OLD", "NEW"])
    order = Streams(1).generator("shuffle").permutation(len(gold["symbol"]))
    shuffled = {name: column[order] for name, column in gold.items()}
    assert dataset_payload(spec, shuffled) == dataset_payload(spec, gold)


def test_a_missing_bar_inside_a_listing_is_counted() -> None:
    raw = _raw({"A": range(N)})
    keep = np.ones(N, dtype=bool)
    keep[[50, 51]] = False
    other = _raw({"B": range(N)})
    gappy = {name: np.concatenate([raw[name][keep], other[name]]) for name in raw}
    _, facts = dataset_payload(_spec(), _gold(gappy))
    assert facts["missing_bars"] == {"A": 2, "B": 0}


def test_a_symbol_that_stops_trading_inside_the_window_is_refused(
    gold: dict[str, AnyArray],
) -> None:
    with pytest.raises(MarketDataError, match=f"GONE has no bar after {_at(99)}, and the window"):
        dataset_payload(_spec(), gold)


def test_a_halt_at_the_end_of_the_window_is_a_gap_and_no_end() -> None:
    raw = {"A": range(N), "B": range(N - 5)}
    _, facts = dataset_payload(_spec(), _gold(_raw(raw)))
    assert facts["missing_bars"] == {"A": 0, "B": 5}


def test_episodes_that_do_not_fit_are_refused_before_anything_is_trained(
    gold: dict[str, AnyArray],
) -> None:
    spec = _spec(symbols=["OLD", "NEW"])
    wide = spec.model_copy(
        update={"evaluation": spec.evaluation.model_copy(update={"episodes": 70})}
    )
    with pytest.raises(
        MarketDataError, match=r"evaluation\.episodes 70 cuts an evaluation block of 133"
    ):
        dataset_payload(wide, gold)


def test_a_fold_with_nothing_known_to_train_on_is_refused() -> None:
    gold = _gold(_raw({"A": range(75)}))
    spec = _spec(features=["return_63"])
    with pytest.raises(
        MarketDataError, match="fold f0 trains on 20 bars, and in 0 of them a symbol has all"
    ):
        dataset_payload(spec, gold)


def test_an_artifact_of_another_kind_is_no_dataset(gold: dict[str, AnyArray]) -> None:
    payload, facts = dataset_payload(_spec(symbols=["OLD", "NEW"]), gold)
    artifact = pack(kind="dataset", spec_hash=None, payload=payload, facts=facts)
    report = replace(artifact, content=replace(artifact.content, kind="report"))
    with pytest.raises(InvalidInputError, match="expected a dataset artifact, was 'report'"):
        open_dataset(report)
