"""The research dataset: the gold table cut to a spec's symbols and window, as a panel with its walk."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from datetime import date
from typing import cast

import numpy as np
from safetensors.numpy import load, save

from alphaswarm_assets.arrays import AnyArray, BoolArray, Float64Array, Int64Array
from alphaswarm_assets.errors import InvalidInputError, MarketDataError
from alphaswarm_assets.markets.folds import (
    MIN_BLOCK_BARS,
    Walk,
    plan_walk,
    walk_from_json,
    walk_to_json,
)
from alphaswarm_assets.markets.panel import Panel
from alphaswarm_assets.records.canonical import JsonObject
from alphaswarm_assets.records.manifest import Artifact
from alphaswarm_assets.specs.research import ResearchSpec

PANEL_FILE = "panel.safetensors"
"""Name of the arrays inside the artifact."""

ENDED_AFTER_BARS = 6
"""A symbol without a usable bar in the last this many has stopped trading; fewer is a halt."""

_EPOCH = date(1970, 1, 1)


def build_panel(spec: ResearchSpec, gold: Mapping[str, AnyArray]) -> Panel:
    """Return the panel that *spec* asks for.

    Raises
    ------
    MarketDataError
        If a symbol is unknown to the source, has no bar in the window, or closed below zero in it.
    """
    symbol, session = gold["symbol"].astype(str), gold["session"].astype(np.int64)
    if len(symbol) == 0:
        raise MarketDataError(f"source {spec.dataset.source!r} has no bars in the gold table")
    symbols = _choose(spec, sorted(set(symbol.tolist())))
    rows = np.isin(symbol, symbols) & _in_window(spec, session)
    _require_bars(spec, symbol, session, rows)
    _require_prices_above_zero(gold, rows)
    sessions = np.unique(session[rows])
    t = np.searchsorted(sessions, session[rows])
    column = {name: i for i, name in enumerate(symbols)}
    n = np.array([column[name] for name in symbol[rows].tolist()], dtype=np.int64)
    shape = (len(sessions), len(symbols))
    tradable = np.zeros(shape, dtype=np.bool_)
    tradable[t, n] = gold["usable"][rows].astype(np.bool_)
    prices = {
        name: _scatter(shape, t, n, gold[name][rows].astype(np.float64))
        for name in ("open", "close")
    }
    features = np.full((*shape, len(spec.dataset.features)), np.nan)
    for f, name in enumerate(spec.dataset.features):
        features[t, n, f] = gold[name][rows].astype(np.float64)
    known = tradable & np.isfinite(features).all(axis=2)
    return Panel(
        symbols=tuple(symbols),
        feature_names=spec.dataset.features,
        session=sessions,
        open=np.where(tradable, prices["open"], np.nan),
        close=np.where(tradable, prices["close"], np.nan),
        tradable=tradable,
        features=np.where(known[:, :, None], features, 0.0),
        known=known,
    )


def dataset_payload(
    spec: ResearchSpec, gold: Mapping[str, AnyArray]
) -> tuple[dict[str, bytes], JsonObject]:
    """Return the files and the facts of the dataset artifact of *spec*.

    Raises
    ------
    MarketDataError
        If the spec's symbols or window cannot be had, or are too short for its walk.
    """
    panel = build_panel(spec, gold)
    walk = plan_walk(spec, panel.n_bars)
    _require_something_to_learn(panel, walk)
    _require_that_none_ends(panel)
    first_known = {
        name: str(_day(panel.session[int(np.argmax(panel.known[:, i]))]))
        if panel.known[:, i].any()
        else None
        for i, name in enumerate(panel.symbols)
    }
    facts: JsonObject = {
        "symbols": list(panel.symbols),
        "features": list(panel.feature_names),
        "n_bars": panel.n_bars,
        "first_session": str(_day(panel.session[0])),
        "last_session": str(_day(panel.session[-1])),
        "first_known": first_known,
        "missing_bars": {name: _gaps(panel.tradable[:, i]) for i, name in enumerate(panel.symbols)},
        "walk": walk_to_json(walk),
    }
    return {PANEL_FILE: save(panel.tensors())}, facts


def open_dataset(artifact: Artifact) -> tuple[Panel, Walk]:
    """Return the panel and the walk inside a dataset *artifact*.

    Raises
    ------
    InvalidInputError
        If the artifact is of another kind.
    """
    if artifact.content.kind != "dataset":
        raise InvalidInputError(f"expected a dataset artifact, was {artifact.content.kind!r}")
    arrays = load(artifact.payload[PANEL_FILE])
    facts = artifact.content.facts
    panel = Panel(
        symbols=tuple(cast("Sequence[str]", facts["symbols"])),
        feature_names=tuple(cast("Sequence[str]", facts["features"])),
        session=cast("Int64Array", arrays["session"]),
        open=cast("Float64Array", arrays["open"]),
        close=cast("Float64Array", arrays["close"]),
        tradable=cast("BoolArray", arrays["tradable"]),
        features=cast("Float64Array", arrays["features"]),
        known=cast("BoolArray", arrays["known"]),
    )
    return panel, walk_from_json(cast("JsonObject", facts["walk"]))


def _choose(spec: ResearchSpec, known: list[str]) -> list[str]:
    if spec.dataset.symbols is None:
        return known
    for symbol in spec.dataset.symbols:
        if symbol not in known:
            close = difflib.get_close_matches(symbol.upper(), known, n=1)
            hint = f"Did you mean {close[0]!r}? " if close else ""
            raise MarketDataError(
                f"dataset.symbols: source {spec.dataset.source!r} has no symbol {symbol!r}. "
                f"{hint}It has {', '.join(known)}."
            )
    return list(spec.dataset.symbols)


def _in_window(spec: ResearchSpec, session: Int64Array) -> BoolArray:
    start, end = spec.dataset.start, spec.dataset.end
    inside = np.ones(len(session), dtype=np.bool_)
    if start is not None:
        inside &= session >= (start - _EPOCH).days
    if end is not None:
        inside &= session <= (end - _EPOCH).days
    return inside


def _require_bars(
    spec: ResearchSpec, symbol: AnyArray, session: Int64Array, rows: BoolArray
) -> None:
    window = f"{spec.dataset.start or 'the beginning'}..{spec.dataset.end or 'the end'}"
    there = set(symbol[rows].tolist())
    # Symbols asked for by name must trade in the window; of "all there are", some may list later.
    for name in spec.dataset.symbols or ():
        if name not in there:
            own = session[symbol == name]
            raise MarketDataError(
                f"dataset.start..end: symbol {name!r} has no bar in {window}; "
                f"it has bars from {_day(own.min())} to {_day(own.max())}."
            )
    if not there:
        raise MarketDataError(
            f"dataset.start..end: source {spec.dataset.source!r} has no bar in {window}; "
            f"it has bars from {_day(session.min())} to {_day(session.max())}."
        )


def _require_prices_above_zero(gold: Mapping[str, AnyArray], rows: BoolArray) -> None:
    below = np.flatnonzero(rows & (gold["close"].astype(np.float64) < 0))
    if len(below):
        row = int(below[0])
        name, day = str(gold["symbol"][row]), _day(gold["session"].astype(np.int64)[row])
        raise MarketDataError(
            f"dataset.symbols: {name!r} closed below zero on {day} ({float(gold['close'][row])!r}): a return across "
            "it means nothing, so no weights can be held in it. Leave it out, or choose another window."
        )


def _require_something_to_learn(panel: Panel, walk: Walk) -> None:
    for fold in walk.folds:
        known = panel.known[fold.train.start : fold.train.stop].any(axis=1)
        if known.sum() < MIN_BLOCK_BARS:
            raise MarketDataError(
                f"fold {fold.name} trains on {len(fold.train)} bars, and in {int(known.sum())} of them a symbol has "
                f"all its features; at least {MIN_BLOCK_BARS} are needed. Move dataset.start to where the symbols "
                "have their look-back behind them, lower walk_forward.n_blocks, or choose shorter dataset.features."
            )


def _scatter(
    shape: tuple[int, int], t: Int64Array, n: Int64Array, values: Float64Array
) -> Float64Array:
    out = np.full(shape, np.nan)
    out[t, n] = values
    return out


def _gaps(tradable: BoolArray) -> int:
    seen = np.flatnonzero(tradable)
    return len(tradable) - int(seen[0]) - len(seen) if len(seen) else 0


def _require_that_none_ends(panel: Panel) -> None:
    for i, name in enumerate(panel.symbols):
        last = int(np.flatnonzero(panel.tradable[:, i])[-1])
        if last < panel.n_bars - ENDED_AFTER_BARS:
            raise MarketDataError(
                f"dataset.symbols: {name} has no bar after {_day(panel.session[last])}, and the window goes on to "
                f"{_day(panel.session[-1])}. What a holding in it is worth then is not in the data: leave it out, or "
                "set dataset.end before it stops."
            )


def _day(session: np.int64) -> np.datetime64:
    return np.datetime64(int(session), "D")
