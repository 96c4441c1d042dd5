"""Which market data a study sees: source, symbols, window, features, and how time is cut into folds."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from datetime import date
from types import MappingProxyType
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from alphaswarm_assets.specs.model import SpecModel

DEFAULT_FEATURES = (
    "return_1",
    "return_5",
    "return_21",
    "return_63",
    "volatility_21",
    "drawdown_63",
)
"""What a policy observes of each symbol when the spec does not say."""

MAX_BLOCKS = 9
"""The graph has folds f0 to f7, and a spec of K blocks has the folds f0 to f(K-2)."""

LOOK_BACK_BARS: Mapping[str, int] = MappingProxyType(
    {
        "return_1": 1,
        "return_5": 5,
        "return_21": 21,
        "return_63": 63,
        "volatility_21": 21,
        "volatility_63": 63,
        "drawdown_63": 63,
        "volume_ratio_21": 21,
    }
)
"""Feature columns there are, with the bars each looks back; `markets.features` computes them."""


def _once_each(names: tuple[str, ...]) -> tuple[str, ...]:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"must not repeat a name, was {twice} more than once")
    return names


def _known_feature(name: str) -> str:
    if name not in LOOK_BACK_BARS:
        close = difflib.get_close_matches(name, LOOK_BACK_BARS, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"must be one of {', '.join(LOOK_BACK_BARS)}, was {name!r}{hint}")
    return name


SymbolName = Annotated[str, Field(min_length=1, max_length=32, pattern=r"^[A-Za-z0-9._-]+$")]
FeatureName = Annotated[str, AfterValidator(_known_feature)]


class DatasetSpec(SpecModel):
    """The slice of a source that is pinned."""

    source: str = Field(
        default="wiki_5stocks",
        description="Name of the bar source; `alphaswarm spec check` lists them.",
    )
    symbols: Annotated[tuple[SymbolName, ...], AfterValidator(_once_each)] | None = Field(
        default=None,
        min_length=1,
        description="Symbols in this order; absent = all that the source has.",
    )
    start: date | None = Field(
        default=None,
        description="First session, inclusive (YYYY-MM-DD); absent = the first there is.",
    )
    end: date | None = Field(
        default=None,
        description="Last session, inclusive (YYYY-MM-DD); absent = the last there is.",
    )
    features: Annotated[tuple[FeatureName, ...], AfterValidator(_once_each)] = Field(
        default=DEFAULT_FEATURES,
        min_length=1,
        description="Feature columns a policy observes, in this order.",
    )

    @property
    def look_back_bars(self) -> int:
        """Bars the longest feature looks back."""
        return max(LOOK_BACK_BARS[name] for name in self.features)

    @field_validator("end")
    @classmethod
    def _window_is_forward(cls, end: date | None, info: ValidationInfo) -> date | None:
        start: date | None = info.data.get("start")
        if start is not None and end is not None and end <= start:
            raise ValueError(f"must be after start, was {end} with start {start}")
        return end


class WalkForwardSpec(SpecModel):
    """K equal chronological blocks; fold k trains on blocks 0..k and is evaluated on block k+1."""

    n_blocks: int = Field(
        default=4,
        ge=1,
        le=MAX_BLOCKS,
        description="K; the folds are f0..f(K-2). With one block nothing is evaluated.",
    )
    purge_bars: int | None = Field(
        default=None,
        ge=0,
        description="Bars dropped from the end of each training window; absent = the longest look-back.",
    )

    @property
    def folds(self) -> tuple[str, ...]:
        """Names of the folds; with one block the single fold f0 trains on everything."""
        return tuple(f"f{k}" for k in range(max(1, self.n_blocks - 1)))
