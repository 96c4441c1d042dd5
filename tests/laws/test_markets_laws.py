"""What always holds for markets: the past never changes, symbols never mix, and windows never meet."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from alphaswarm_assets.arrays import AnyArray
from alphaswarm_assets.errors import MarketDataError
from alphaswarm_assets.markets.bars import RAW_COLUMNS, check_bars
from alphaswarm_assets.markets.dataset import build_panel
from alphaswarm_assets.markets.features import feature_table
from alphaswarm_assets.markets.folds import MIN_BLOCK_BARS, plan_walk
from alphaswarm_assets.specs.loading import validate_spec
from alphaswarm_assets.specs.research import ResearchSpec
from alphaswarm_assets.streams import Streams

EPOCH_DAY = (date(2001, 1, 1) - date(1970, 1, 1)).days


@st.composite
def _sources(draw: st.DrawFn) -> dict[str, AnyArray]:
    """Draw raw bars with gaps, late listings, copies, conflicts, zeros, missing values and splits, unsorted."""
    stream = Streams(draw(st.integers(0, 2**32))).generator("source")
    blocks: list[dict[str, AnyArray]] = []
    for name in draw(st.sampled_from([("A",), ("A", "B"), ("A", "B", "C")])):
        n = draw(st.integers(1, 140))
        days = np.sort(stream.choice(np.arange(n + 20), size=n, replace=False)).astype(np.int64)
        close = 30 * np.exp(np.cumsum(0.03 * stream.standard_normal(n)))
        factor = np.where(np.arange(n) < draw(st.integers(0, n)), 0.5, 1.0)
        open_ = close * (1 + 0.01 * stream.standard_normal(n))
        for column in (open_, close):
            column[stream.random(n) < 0.03] = draw(st.sampled_from([np.nan, 0.0, np.inf]))
        blocks.append(
            {
                "symbol": np.repeat(name, n),
                "session": EPOCH_DAY + days,
                "open": open_ / factor,
                "high": np.fmax(open_, close) / factor,
                "low": np.fmin(open_, close) / factor,
                "close": close / factor,
                "volume": np.where(
                    stream.random(n) < 0.05, np.nan, np.round(1e5 * stream.random(n))
                ),
                "adj_close": close,
            }
        )
    rows = {name: np.concatenate([block[name] for block in blocks]) for name in RAW_COLUMNS}
    total = len(rows["symbol"])
    again = stream.integers(total, size=draw(st.integers(0, 5)))
    order = stream.permutation(np.concatenate([np.arange(total), again]))
    rows = {name: column[order] for name, column in rows.items()}
    bump = np.where(stream.random(len(order)) < 0.02, 1.0, 0.0)
    return {**rows, "volume": rows["volume"].astype(np.float64) + bump}


def _select(rows: dict[str, AnyArray], keep: Any) -> dict[str, AnyArray]:
    return {name: column[keep] for name, column in rows.items()}


def _gold(rows: dict[str, AnyArray]) -> dict[str, AnyArray]:
    return feature_table(check_bars(rows, source="law")[0])


def _bytes(rows: dict[str, AnyArray]) -> dict[str, Any]:
    return {
        name: column.astype(str).tolist() if column.dtype.kind == "U" else column.tobytes()
        for name, column in rows.items()
    }


def _spec(**sections: Any) -> ResearchSpec:
    return validate_spec(
        {"name": "law", "training": {"seed": 1, "total_timesteps": 1}} | sections, source="law"
    )


@given(_sources(), st.integers(0, 160))
def test_cutting_off_the_future_never_changes_the_past(
    rows: dict[str, AnyArray], days: int
) -> None:
    past = rows["session"].astype(np.int64) <= EPOCH_DAY + days
    assume(past.any())
    whole, cut = _gold(rows), _gold(_select(rows, past))
    assert _bytes(cut) == _bytes(
        _select(whole, whole["session"].astype(np.int64) <= EPOCH_DAY + days)
    )


@given(_sources(), st.integers(0, 160))
def test_a_panel_that_ends_earlier_is_the_start_of_the_longer_one(
    rows: dict[str, AnyArray], days: int
) -> None:
    gold = _gold(rows)
    end = date(2001, 1, 1) + timedelta(days=days)
    features = {"features": ["return_5", "drawdown_63", "volume_ratio_21"]}
    try:
        short = build_panel(_spec(dataset={**features, "end": str(end)}), gold)
    except MarketDataError:
        return
    panel = build_panel(_spec(dataset=features), gold)
    for name, array in short.tensors().items():
        assert array.tobytes() == panel.tensors()[name][: short.n_bars].tobytes()


@given(_sources())
def test_a_symbol_is_what_it_is_alone(rows: dict[str, AnyArray]) -> None:
    whole = _gold(rows)
    for name in np.unique(rows["symbol"]):
        alone = _gold(_select(rows, rows["symbol"] == name))
        assert _bytes(alone) == _bytes(_select(whole, whole["symbol"] == name))


@given(_sources(), st.integers(0, 2**32))
def test_the_order_of_rows_never_matters(rows: dict[str, AnyArray], seed: int) -> None:
    order = Streams(seed).generator("order").permutation(len(rows["symbol"]))
    bars, report = check_bars(rows, source="law")
    shuffled, same = check_bars(_select(rows, order), source="law")
    assert _bytes(shuffled) == _bytes(bars)
    assert same == report


@given(_sources())
def test_every_row_is_kept_dropped_or_quarantined_and_counted(rows: dict[str, AnyArray]) -> None:
    bars, report = check_bars(rows, source="law")
    assert report.n_raw == len(rows["symbol"])
    assert report.n_kept + report.exact_duplicates + report.conflicting == report.n_raw
    assert report.n_kept == len(bars["symbol"])
    assert report.unusable == int((~bars["usable"].astype(bool)).sum())
    keys = list(zip(bars["symbol"].tolist(), bars["session"].tolist(), strict=True))
    assert keys == sorted(set(keys))


@given(_sources())
def test_giving_every_row_twice_changes_nothing_but_the_count(rows: dict[str, AnyArray]) -> None:
    twice = {name: np.concatenate([column, column]) for name, column in rows.items()}
    bars, report = check_bars(rows, source="law")
    again, doubled = check_bars(twice, source="law")
    assert _bytes(again) == _bytes(bars)
    assert doubled.conflicting == 2 * report.conflicting


@given(_sources())
def test_a_usable_bar_has_positive_prices_and_the_return_of_its_adjusted_closes(
    rows: dict[str, AnyArray],
) -> None:
    bars, _ = check_bars(rows, source="law")
    usable = bars["usable"].astype(bool)
    for name in ("open", "close"):
        price = bars[name].astype(np.float64)[usable]
        assert np.isfinite(price).all()
        assert (price > 0).all()
    assert np.isfinite(bars["volume"].astype(np.float64)).all()


@given(
    n_bars=st.integers(0, 3000),
    n_blocks=st.integers(1, 9),
    purge=st.none() | st.integers(0, 80),
    paper=st.none() | st.floats(0.01, 0.49),
)
def test_windows_are_chronological_disjoint_purged_and_never_touch_paper(
    n_bars: int, n_blocks: int, purge: int | None, paper: float | None
) -> None:
    spec = _spec(
        walk_forward={"n_blocks": n_blocks, "purge_bars": purge},
        paper=None if paper is None else {"reserve_fraction": paper},
    )
    try:
        walk = plan_walk(spec, n_bars)
    except MarketDataError:
        return
    end = n_bars if walk.paper is None else walk.paper.start
    assert (walk.paper is None) == (paper is None)
    if walk.paper is not None:
        assert walk.paper.stop == n_bars
        assert len(walk.paper) >= MIN_BLOCK_BARS
    assert tuple(fold.name for fold in walk.folds) == spec.folds
    evaluated = [fold.evaluate for fold in walk.folds if fold.evaluate is not None]
    assert len(evaluated) == n_blocks - 1
    gap = spec.dataset.look_back_bars if purge is None else purge
    for fold in walk.folds:
        assert fold.train.start == 0
        assert len(fold.train) >= MIN_BLOCK_BARS
        assert fold.train.stop <= end
        if fold.evaluate is not None:
            assert fold.evaluate.start - fold.train.stop == gap
            assert len(fold.evaluate) >= MIN_BLOCK_BARS
    for earlier, later in pairwise(evaluated):
        assert earlier.stop == later.start
    if evaluated:
        assert evaluated[-1].stop == end
        assert {len(block) for block in evaluated[:-1]} <= {end // n_blocks}
        assert 0 <= len(evaluated[-1]) - end // n_blocks < n_blocks
