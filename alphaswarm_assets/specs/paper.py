"""The paper release train: how long, what is accepted, what rolls back."""

from __future__ import annotations

from pydantic import Field

from alphaswarm_assets.specs.model import SpecModel


class PaperSpec(SpecModel):
    """A bounded session on a window that neither training nor evaluation has seen."""

    max_episodes: int = Field(default=20, ge=1, le=10_000, description="Episodes at most.")
    duration_seconds: float = Field(
        default=86_400.0, gt=0, description="Wall time at most, seconds."
    )
    reserve_fraction: float = Field(
        default=0.1, gt=0, lt=0.5, description="Share of the bars, the newest, kept for paper."
    )
    max_hard_breaches: int | None = Field(
        default=None, ge=0, description="Accept at most this many hard breaches."
    )
    max_reject_rate: float | None = Field(
        default=None, ge=0, le=1, description="Accept at most this share of rejected orders."
    )
    min_total_return: float | None = Field(
        default=None, ge=-1, description="Accept at least this total return."
    )
    max_drawdown: float | None = Field(
        default=None, ge=0, le=1, description="Accept at most this drawdown."
    )
    rollback_max_drawdown: float | None = Field(
        default=None, gt=0, le=1, description="Roll back at this drawdown."
    )
    rollback_max_loss_pct: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="Roll back at this loss, as a fraction of the start equity (0.10 = 10 %).",
    )
    approval_expiry_days: int = Field(
        default=30, ge=1, le=3650, description="Days the approval holds."
    )
