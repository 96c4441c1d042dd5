"""A panel: the bars and features of N symbols over T sessions, aligned, masked, never filled forward."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alphaswarm_assets.arrays import AnyArray, BoolArray, Float64Array, Int64Array
from alphaswarm_assets.errors import InvalidInputError


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """Bars ``start`` (inclusive) to ``stop`` (exclusive) of a panel."""

    start: int
    stop: int

    def __post_init__(self) -> None:
        """Refuse a block that runs backwards.

        Raises
        ------
        InvalidInputError
            If not 0 <= start <= stop.
        """
        if not 0 <= self.start <= self.stop:
            raise InvalidInputError(
                f"a block needs 0 <= start <= stop, was [{self.start}, {self.stop})"
            )

    def __len__(self) -> int:
        """Return the number of bars."""
        return self.stop - self.start


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Panel:
    """Aligned daily bars; every array's first axis is T sessions, its second N symbols."""

    symbols: tuple[str, ...]
    feature_names: tuple[str, ...]
    session: Int64Array
    """(T,) days since 1970-01-01, strictly increasing."""
    open: Float64Array
    """(T, N) adjusted open; NaN where the symbol has no usable bar."""
    close: Float64Array
    """(T, N) adjusted close; NaN where the symbol has no usable bar."""
    tradable: BoolArray
    """(T, N) whether the symbol has a usable bar, so that an order can fill at its open."""
    features: Float64Array
    """(T, N, F) known at the close of the bar; 0 where not known yet."""
    known: BoolArray
    """(T, N) whether the bar is usable and all features are known: a symbol without is not offered to a policy."""

    def __post_init__(self) -> None:
        """Refuse arrays that do not line up or break the mask.

        Raises
        ------
        InvalidInputError
            If a shape differs, sessions do not increase, or a price is not finite and positive where tradable.
        """
        shape = (len(self.session), len(self.symbols))
        for name, array, expected in (
            ("open", self.open, shape),
            ("close", self.close, shape),
            ("tradable", self.tradable, shape),
            ("known", self.known, shape),
            ("features", self.features, (*shape, len(self.feature_names))),
        ):
            if array.shape != expected:
                raise InvalidInputError(f"{name} must have shape {expected}, was {array.shape}")
        if len(self.session) > 1 and not (np.diff(self.session) > 0).all():
            raise InvalidInputError("session must be strictly increasing")
        for name, price in (("open", self.open), ("close", self.close)):
            usable = np.isfinite(price) & (price > 0)
            if (self.tradable & ~usable).any():
                t, n = (int(i[0]) for i in np.nonzero(self.tradable & ~usable))
                raise InvalidInputError(
                    f"{name} must be finite and > 0 where tradable, "
                    f"was {float(price[t, n])!r} for {self.symbols[n]} at bar {t}"
                )
        if (self.known & ~self.tradable).any() or not np.isfinite(self.features).all():
            raise InvalidInputError(
                "known must imply tradable, and features must be finite, 0 where not known"
            )

    @property
    def n_bars(self) -> int:
        """T."""
        return len(self.session)

    @property
    def n_symbols(self) -> int:
        """N."""
        return len(self.symbols)

    def tensors(self) -> dict[str, AnyArray]:
        """Return the arrays by name, for storage."""
        return {
            "session": self.session,
            "open": self.open,
            "close": self.close,
            "tradable": self.tradable,
            "features": self.features,
            "known": self.known,
        }
