"""What a study must show before its policy is promoted, and where it is registered."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from alphaswarm_assets.specs.model import SpecModel

THRESHOLDS = ("min_sharpe", "max_pbo", "min_dsr_probability", "min_seeds", "require_ci_positive")
"""Keys that configure a gate, in the order the verdict lists them."""


class PromotionSpec(SpecModel):
    """Thresholds. One that is absent does not gate; one that is set and has no evidence rejects."""

    profile: Literal["seed", "ledger"] | None = Field(
        default=None, description="How evidence is scoped; absent = seed."
    )
    min_sharpe: float | None = Field(
        default=None, ge=-100, le=100, description="Least annual Sharpe ratio, mean over seeds."
    )
    max_pbo: float | None = Field(
        default=None, ge=0, le=1, description="Largest probability of backtest overfitting."
    )
    min_dsr_probability: float | None = Field(
        default=None, ge=0, le=1, description="Least deflated Sharpe probability."
    )
    min_seeds: int | None = Field(
        default=None, ge=1, le=1000, description="Least number of distinct seeds."
    )
    require_ci_positive: bool | None = Field(
        default=None,
        description="The lower bound of the interval of total return must be above zero.",
    )
    pbo_scope: Literal["configs", "seeds"] | None = Field(
        default=None, description="Columns of the PBO matrix; absent = seeds."
    )
    dsr_scope: Literal["ledger", "battery"] | None = Field(
        default=None, description="Trials that deflate; absent = battery."
    )
    allow_lossless: bool | None = Field(
        default=None, description="Accept an undefined profit factor when nothing lost."
    )


class MlflowSpec(SpecModel):
    """Where a promoted policy is registered."""

    register_model_as: str = Field(
        min_length=1,
        max_length=128,
        pattern=r"^[A-Za-z0-9._-]+$",
        description="Name of the registered model.",
    )
