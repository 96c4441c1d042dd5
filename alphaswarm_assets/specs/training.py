"""How a policy is trained."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from alphaswarm_assets.specs.environment import ComponentSpec
from alphaswarm_assets.specs.model import SpecModel

MAX_SEED = 2**63 - 1


class TrainingSpec(SpecModel):
    """Algorithm, budget and hyper-parameters; the seed's names are kept."""

    algorithm: Literal["ppo", "dqn"] = Field(default="ppo", description="Learning algorithm.")
    backbone: Literal["mlp", "transformer", "rnn", "autoencoder", "patchtst"] = Field(
        default="mlp", description="Network under the heads."
    )
    seed: int = Field(ge=0, le=MAX_SEED, description="Root of every random stream of the run.")
    total_timesteps: int = Field(
        ge=1, le=10_000_000_000, description="Environment steps, over all environments together."
    )
    log_interval: int = Field(
        default=10, ge=1, description="Updates between two rows of the learning curve."
    )
    n_envs: int = Field(default=32, ge=1, le=65_536, description="Environments stepped together.")
    n_steps: int = Field(
        default=64, ge=1, le=65_536, description="Steps per environment between updates."
    )
    batch_size: int = Field(default=512, ge=2, description="Samples in a minibatch.")
    n_epochs: int = Field(default=4, ge=1, le=100, description="Passes over a rollout per update.")
    learning_rate: float = Field(default=3e-4, gt=0, le=1, description="Adam step size.")
    gamma: float = Field(default=0.99, gt=0, lt=1, description="Discount per bar.")
    gae_lambda: float = Field(
        default=0.95, ge=0, le=1, description="Lambda of generalised advantage estimation."
    )
    clip_range: float = Field(default=0.2, gt=0, lt=1, description="PPO's clip epsilon.")
    entropy_coef: float = Field(default=0.0, ge=0, description="Weight of the entropy bonus.")
    value_coef: float = Field(default=0.5, ge=0, description="Weight of the value loss.")
    max_grad_norm: float = Field(
        default=0.5, gt=0, description="Norm at which gradients are clipped."
    )
    hidden_sizes: tuple[Annotated[int, Field(ge=1, le=65_536)], ...] = Field(
        default=(64, 64), min_length=1, description="Widths of the hidden layers."
    )
    initial_log_std: float = Field(
        default=-0.5, ge=-5, le=2, description="Log standard deviation of the first policy."
    )
    advantage: ComponentSpec | None = Field(
        default=None, description="Advantage estimator; absent = GAE."
    )
    stop_properly_penalty_coef: float | None = Field(
        default=None, ge=0, le=1, description="Scale of the reward of truncated episodes."
    )
    post_train_battery: bool | None = Field(
        default=None,
        description="Also evaluate every checkpoint as soon as it is trained; absent = no.",
    )

    @field_validator("batch_size")
    @classmethod
    def _batch_fits(cls, batch_size: int, info: ValidationInfo) -> int:
        n_envs, n_steps = info.data.get("n_envs"), info.data.get("n_steps")
        if n_envs is not None and n_steps is not None and batch_size > n_envs * n_steps:
            raise ValueError(
                f"must be at most n_envs * n_steps = {n_envs * n_steps}, was {batch_size}"
            )
        return batch_size
