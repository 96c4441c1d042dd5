"""Raw daily bars in, checked and adjusted bars out: nothing is repaired in silence, everything dropped is counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from alphaswarm_assets.arrays import AnyArray, BoolArray, Float64Array
from alphaswarm_assets.errors import MarketDataError
from alphaswarm_assets.ports import Columns
from alphaswarm_assets.records.canonical import JsonObject

RAW_COLUMNS = ("symbol", "session", "open", "high", "low", "close", "volume", "adj_close")
"""What a bar source gives."""

_MUST_BE_POSITIVE = ("open", "close", "adj_close")

LARGE_MOVE = 0.4
"""A one-bar move of adjusted close beyond this share is flagged for a look; it is never changed."""


MOST_DAYS_BETWEEN, LEAST_SESSIONS = 3, 60
"""Median days between sessions beyond which bars are not daily, and the sessions it takes to tell."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BarReport:
    """What the check of a source found."""

    n_raw: int
    n_kept: int
    exact_duplicates: int
    """Rows dropped since an equal row stood before them."""
    conflicting: int
    """Rows quarantined since two rows of one symbol and session differ."""
    unusable: int
    """Rows kept, but not tradable: a price is missing, not finite or not above zero."""
    below_zero: int
    """Unusable rows whose adjusted close is below zero: a fact of some markets, kept as it is."""
    inconsistent: int
    """Rows kept whose open or close lies outside low..high."""
    volume_unknown: int
    """Rows kept whose volume is missing, not finite or below zero; it is read as 0."""
    large_moves: tuple[str, ...]
    """``SYMBOL YYYY-MM-DD`` of one-bar moves of adjusted close beyond `LARGE_MOVE`."""

    def to_json(self) -> JsonObject:
        """Return the report as JSON."""
        return {
            "n_raw": self.n_raw,
            "n_kept": self.n_kept,
            "exact_duplicates": self.exact_duplicates,
            "conflicting": self.conflicting,
            "unusable": self.unusable,
            "below_zero": self.below_zero,
            "inconsistent": self.inconsistent,
            "volume_unknown": self.volume_unknown,
            "large_moves": list(self.large_moves),
        }


def require_raw_columns(raw: Columns, *, source: str) -> None:
    """Return quietly if *raw* has every column of a bar source, typed, all of one length and not empty.

    Raises
    ------
    MarketDataError
        If a column is missing or of another type, lengths differ or there is no row.
    """
    missing = [name for name in RAW_COLUMNS if name not in raw]
    if missing:
        raise MarketDataError(
            f"bars of {source!r} lack the columns {missing}; there are {sorted(raw)}"
        )
    lengths = {name: len(raw[name]) for name in RAW_COLUMNS}
    if len(set(lengths.values())) > 1:
        raise MarketDataError(f"columns of {source!r} must have one length, was {lengths}")
    for name in RAW_COLUMNS[1:]:
        kind = raw[name].dtype.kind
        if kind not in ("iu" if name == "session" else "iuf"):
            what = "integers, days since 1970-01-01" if name == "session" else "numbers"
            raise MarketDataError(
                f"column {name!r} of {source!r} must hold {what}, was {raw[name].dtype}"
            )
    if lengths["symbol"] == 0:
        raise MarketDataError(
            f"source {source!r} has no bars at all; check the file or package it is read from"
        )


def check_bars(raw: Columns, *, source: str) -> tuple[dict[str, AnyArray], BarReport]:
    """Return adjusted bars sorted by symbol and session, and what was found on the way.

    Prices are multiplied by ``adj_close / close`` of their bar and volume is divided by it, so that splits and
    dividends leave no step in either and ``close * volume`` is the money that changed hands. A bar that is not usable
    keeps its ``adj_close`` as ``close``, whatever it is; its other prices are NaN.

    Raises
    ------
    MarketDataError
        If *raw* is not a table of bars.
    """
    require_raw_columns(raw, source=source)
    _require_daily(np.asarray(raw["session"]), source=source)
    order = np.lexsort((np.asarray(raw["session"]), np.asarray(raw["symbol"])))
    rows: dict[str, AnyArray] = {name: np.asarray(raw[name])[order] for name in RAW_COLUMNS}
    keep, exact, conflicting = _settle_duplicates(rows)
    rows = {name: column[keep] for name, column in rows.items()}
    prices = {
        name: rows[name].astype(np.float64)
        for name in ("open", "high", "low", "close", "adj_close")
    }
    usable = np.ones(len(rows["symbol"]), dtype=np.bool_)
    for name in _MUST_BE_POSITIVE:
        usable &= np.isfinite(prices[name]) & (prices[name] > 0)
    bars = _adjust(rows, prices, usable)
    report = BarReport(
        n_raw=len(order),
        n_kept=len(usable),
        exact_duplicates=exact,
        conflicting=conflicting,
        unusable=int((~usable).sum()),
        below_zero=int((prices["adj_close"] < 0).sum()),
        inconsistent=_count_inconsistent(prices, usable),
        volume_unknown=int((~_volume_known(rows)).sum()),
        large_moves=_large_moves(bars),
    )
    return bars, report


def _require_daily(session: AnyArray, *, source: str) -> None:
    # Everything that is annualised counts 252 sessions a year.
    days = np.unique(session.astype(np.int64))
    if len(days) < LEAST_SESSIONS:
        return
    spacing = float(np.median(np.diff(days)))
    if spacing > MOST_DAYS_BETWEEN:
        raise MarketDataError(
            f"bars of {source!r} must be daily, were {spacing:g} days apart (median). Give daily bars."
        )


def _settle_duplicates(rows: Mapping[str, AnyArray]) -> tuple[BoolArray, int, int]:
    n = len(rows["symbol"])
    same_key = np.zeros(n, dtype=np.bool_)
    same_key[1:] = (rows["symbol"][1:] == rows["symbol"][:-1]) & (
        rows["session"][1:] == rows["session"][:-1]
    )
    if not same_key.any():
        return np.ones(n, dtype=np.bool_), 0, 0
    group = np.cumsum(~same_key) - 1
    equal_to_first = np.ones(n, dtype=np.bool_)
    first = np.flatnonzero(~same_key)[group]
    for name in RAW_COLUMNS[2:]:
        column = rows[name].astype(np.float64)
        equal_to_first &= (column == column[first]) | (np.isnan(column) & np.isnan(column[first]))
    conflict_group = np.zeros(int(group[-1]) + 1, dtype=np.bool_)
    conflict_group[group[~equal_to_first]] = True
    in_conflict = conflict_group[group]
    keep = ~same_key & ~in_conflict
    return keep, int((same_key & ~in_conflict).sum()), int(in_conflict.sum())


def _adjust(
    rows: Mapping[str, AnyArray], prices: Mapping[str, Float64Array], usable: BoolArray
) -> dict[str, AnyArray]:
    factor = np.full(len(usable), np.nan)
    np.divide(prices["adj_close"], prices["close"], out=factor, where=usable)
    volume = np.where(_volume_known(rows), rows["volume"].astype(np.float64), 0.0)
    np.divide(volume, factor, out=volume, where=usable)
    return {
        "symbol": rows["symbol"].astype(str),
        "session": rows["session"].astype(np.int64),
        "open": prices["open"] * factor,
        "high": prices["high"] * factor,
        "low": prices["low"] * factor,
        "close": prices["adj_close"],
        "volume": volume,
        "usable": usable,
    }


def _volume_known(rows: Mapping[str, AnyArray]) -> BoolArray:
    volume = rows["volume"].astype(np.float64)
    return np.isfinite(volume) & (volume >= 0)


def _count_inconsistent(prices: Mapping[str, Float64Array], usable: BoolArray) -> int:
    low, high = prices["low"] * (1 - 1e-9), prices["high"] * (1 + 1e-9)
    outside = np.zeros(len(usable), dtype=np.bool_)
    for name in ("open", "close"):
        outside |= (prices[name] < low) | (prices[name] > high)
    return int((outside & usable).sum())


def _large_moves(bars: Mapping[str, AnyArray]) -> tuple[str, ...]:
    usable = bars["usable"].astype(np.bool_)
    symbol, session = bars["symbol"][usable], bars["session"][usable].astype(np.int64)
    close = bars["close"][usable].astype(np.float64)
    if len(close) < 2:
        return ()
    move = np.abs(close[1:] / close[:-1] - 1)
    hits = np.flatnonzero((symbol[1:] == symbol[:-1]) & (move > LARGE_MOVE)) + 1
    days = session[hits].astype("datetime64[D]")
    return tuple(f"{s} {d}" for s, d in zip(symbol[hits], days, strict=True))
