"""The environment a policy acts in: engine, costs, episode length, reward."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from alphaswarm_assets.specs.model import SpecModel


class ComponentSpec(SpecModel):
    """A component by name: resolved through the registry of components, never imported blindly."""

    class_name: str = Field(alias="class", description="Name of the component.")
    module_path: str | None = Field(
        default=None, description="Path the component is known under; absent = the built-in."
    )
    kwargs: dict[str, Any] = Field(default_factory=dict, description="Arguments of the component.")


class EnvironmentSpec(SpecModel):
    """How target weights become equity."""

    engine: Literal["portfolio", "event", "vector", "lob"] = Field(
        default="portfolio",
        description="Engine that fills; `portfolio` is the vectorised bar engine.",
    )
    cost_bps: float = Field(
        default=10.0, ge=0, le=1000, description="Cost of a trade, basis points of its notional."
    )
    episode_bars: int = Field(
        default=252, ge=2, le=100_000, description="Decisions in a training episode."
    )
    turnover_penalty_bps: float | None = Field(
        default=None,
        ge=0,
        le=1000,
        description="Extra penalty in the reward alone, basis points of turnover.",
    )
    slippage: ComponentSpec | None = Field(
        default=None, description="Slippage model; absent = none beyond cost_bps."
    )
    pipeline: tuple[ComponentSpec, ...] | None = Field(
        default=None,
        description="Weight pipeline between policy and engine; absent = the weights as they are.",
    )
