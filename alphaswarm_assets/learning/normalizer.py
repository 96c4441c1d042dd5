"""The normaliser: per-feature mean and deviation of the training window, frozen, kept with the policy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alphaswarm_assets.arrays import AnyArray, BoolArray, Float64Array
from alphaswarm_assets.errors import InvalidInputError, MarketDataError
from alphaswarm_assets.markets.panel import Block, Panel

CLIP = 10.0
"""Standardised features are cut to plus or minus this."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Normalizer:
    """Frozen statistics of F features."""

    feature_names: tuple[str, ...]
    mean: Float64Array
    """(F,)."""
    std: Float64Array
    """(F,) population deviation; 1 for a feature that does not vary."""

    def __post_init__(self) -> None:
        """Refuse statistics that cannot standardise.

        Raises
        ------
        InvalidInputError
            If a shape is not (F,), or a value is not finite, or a deviation not positive.
        """
        expected = (len(self.feature_names),)
        for name, values in (("mean", self.mean), ("std", self.std)):
            if values.shape != expected or not np.isfinite(values).all():
                raise InvalidInputError(
                    f"normaliser {name} must be {expected} finite numbers, was {values!r}"
                )
        if not (self.std > 0.0).all():
            raise InvalidInputError(f"normaliser std must be positive, was {self.std!r}")

    def apply(self, features: Float64Array, known: BoolArray) -> Float64Array:
        """Return standardised features (..., N, F), clipped, 0 where a symbol is not known."""
        scaled = np.clip((features - self.mean) / self.std, -CLIP, CLIP)
        return np.where(known[..., None], scaled, 0.0)

    def tensors(self) -> dict[str, AnyArray]:
        """Return the statistics by name, for storage."""
        return {"normalizer.mean": self.mean, "normalizer.std": self.std}


def fit_normalizer(panel: Panel, window: Block) -> Normalizer:
    """Return the statistics of the known cells of *window*, and of nothing else.

    Raises
    ------
    MarketDataError
        If no symbol is known in the window.
    """
    rows = slice(window.start, window.stop)
    cells = panel.features[rows][panel.known[rows]]
    if not len(cells):
        raise MarketDataError(
            f"no symbol of {', '.join(panel.symbols)} has all its features in bars "
            f"[{window.start}, {window.stop}): there is nothing to train on. Widen the window."
        )
    mean, std = cells.mean(axis=0), cells.std(axis=0)
    # A constant's deviation is float residue: relative to its mean, not to 0.
    varies = std > 1e-12 * np.maximum(np.abs(mean), 1.0)
    return Normalizer(feature_names=panel.feature_names, mean=mean, std=np.where(varies, std, 1.0))


def no_normalizer(feature_names: tuple[str, ...]) -> Normalizer:
    """Return the normaliser that changes nothing within the clip."""
    n = len(feature_names)
    return Normalizer(feature_names=feature_names, mean=np.zeros(n), std=np.ones(n))
