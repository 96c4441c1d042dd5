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
from alphaswarm_assets.markets.folds import Walk, plan_walk, walk_from_json, walk_to_json
from alphaswarm_assets.markets.panel import Panel
from alphaswarm_assets.records.canonical import JsonObject
from alphaswarm_assets.records.manifest import Artifact
from alphaswarm_assets.specs.research import ResearchSpec

PANEL_FILE = "panel.safetensors"
"""Name of the arrays inside the artifact."""

_EPOCH = date(1970, 1, 1)


def build_panel(spec: ResearchSpec, gold: Mapping[str, AnyArray]) -> Panel:
    """Return the panel that *spec* asks for.

    Raises
    ------
    MarketDataError
        If a symbol is unknown to the source, or the window holds no session of the chosen symbols.
    """
    symbol, session = gold["symbol"].astype(str), gold["session"].astype(np.int64)
    symbols = _choose(spec, sorted(set(symbol.tolist())))
    rows = np.isin(symbol, symbols) & _in_window(spec, session, symbols)
    sessions = np.unique(session[rows])
    t = np.searchsorted(sessions, session[rows])
    column = {name: i for i, name in enumerate(symbols)}
    n = np.array([column[name] for name in symbol[rows].tolist()], dtype=np.int64)
    shape = (len(sessions), len(symbols))
    tradable = np.zeros(shape, dtype=np.bool_)
    tradable[t, n] = gold["usable"][rows].astype(np.bool_)
    prices = {name: _scatter(shape, t, n, gold[name][rows].astype(np.float64)) for name in ("open", "close")}
    features = np.full((*shape, len(spec.dataset.features)), np.nan)
    for f, name in enumerate(spec.dataset.features):
        features[t, n, f] = gold[name][rows].astype(np.float64)
    known = tradable & np.isfinite(features).all(axis=2)
    return Panel(
        symbols=tuple(symbols),
        feature_names=spec.dataset.features,
        session=sessions,
        open=prices["open"],
        close=prices["close"],
        tradable=tradable,
        features=np.where(known[:, :, None], features, 0.0),
        known=known,
    )


def dataset_payload(spec: ResearchSpec, gold: Mapping[str, AnyArray]) -> tuple[dict[str, bytes], JsonObject]:
    """Return the files and the facts of the dataset artifact of *spec*.

    Raises
    ------
    MarketDataError
        If the spec's symbols or window cannot be had, or are too short for its walk.
    """
    panel = build_panel(spec, gold)
    walk = plan_walk(spec, panel.n_bars)
    first_known = {
        name: str(_day(panel.session[int(np.argmax(panel.known[:, i]))])) if panel.known[:, i].any() else None
        for i, name in enumerate(panel.symbols)
    }
    facts: JsonObject = {
        "symbols": list(panel.symbols),
        "features": list(panel.feature_names),
        "n_bars": panel.n_bars,
        "first_session": str(_day(panel.session[0])),
        "last_session": str(_day(panel.session[-1])),
        "first_known": first_known,
        "missing_bars": {
            name: _gaps(panel.tradable[:, i]) for i, name in enumerate(panel.symbols)
        },
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
                f"dataset.symbols: source {spec.dataset.source!r} has no symbol {symbol!r}. {hint}It has {', '.join(known)}."
            )
    return list(spec.dataset.symbols)


def _in_window(spec: ResearchSpec, session: Int64Array, symbols: Sequence[str]) -> BoolArray:
    start, end = spec.dataset.start, spec.dataset.end
    inside = np.ones(len(session), dtype=np.bool_)
    if start is not None:
        inside &= session >= (start - _EPOCH).days
    if end is not None:
        inside &= session <= (end - _EPOCH).days
    if not inside.any():
        raise MarketDataError(
            f"dataset.start..end: no bar of {', '.join(symbols)} lies in {start or 'the beginning'}..{end or 'the end'}; "
            f"source {spec.dataset.source!r} has sessions from {_day(session.min())} to {_day(session.max())}."
        )
    return inside


def _scatter(shape: tuple[int, int], t: Int64Array, n: Int64Array, values: Float64Array) -> Float64Array:
    out = np.full(shape, np.nan)
    out[t, n] = values
    return out


def _gaps(tradable: BoolArray) -> int:
    seen = np.flatnonzero(tradable)
    return int(seen[-1] - seen[0] + 1 - len(seen)) if len(seen) else 0


def _day(session: np.int64) -> np.datetime64:
    return np.datetime64(int(session), "D")
