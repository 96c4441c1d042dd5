"""How checkpoints are measured: the seed battery, the episodes and the intervals."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator

from alphaswarm_assets.specs.model import SpecModel
from alphaswarm_assets.specs.training import MAX_SEED


class BootstrapSpec(SpecModel):
    """Percentile bootstrap over seeds."""

    n_resamples: int = Field(default=1000, ge=100, le=1_000_000, description="Resamples.")
    alpha: float = Field(default=0.05, gt=0, lt=1, description="One minus the coverage.")


class EvaluationSpec(SpecModel):
    """A battery: every seed is a training run of its own, measured over the same disjoint episodes."""

    episodes: int = Field(
        default=1, ge=1, le=1000, description="Disjoint equal windows of the evaluation block."
    )
    n_seeds: int | None = Field(
        default=None, ge=1, le=1000, description="Seeds forked from training.seed."
    )
    seed_list: tuple[Annotated[int, Field(ge=0, le=MAX_SEED)], ...] | None = Field(
        default=None, min_length=1, max_length=1000, description="Seeds, literally."
    )
    bootstrap: BootstrapSpec | None = Field(
        default=None, description="Interval over seeds; absent = 1000 resamples, alpha 0.05."
    )
    compute_dsr: bool | None = Field(
        default=None, description="Report the deflated Sharpe ratio; absent = yes."
    )

    @field_validator("seed_list")
    @classmethod
    def _seeds_are_named_once(
        cls, seeds: tuple[int, ...] | None, info: ValidationInfo
    ) -> tuple[int, ...] | None:
        if seeds is None:
            return None
        if info.data.get("n_seeds") is not None:
            raise ValueError("excludes n_seeds; give one of them")
        twice = sorted({seed for seed in seeds if seeds.count(seed) > 1})
        if twice:
            raise ValueError(f"must hold distinct seeds, was {twice} more than once")
        return seeds
