"""The research spec: everything that decides what a study makes. Its SHA-256 is its identity."""

from __future__ import annotations

import re

from pydantic import Field

from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.records.canonical import JsonObject, canonical_json, digest_bytes
from alphaswarm_assets.specs.dataset import DatasetSpec, WalkForwardSpec
from alphaswarm_assets.specs.environment import EnvironmentSpec
from alphaswarm_assets.specs.evaluation import EvaluationSpec
from alphaswarm_assets.specs.model import SpecModel
from alphaswarm_assets.specs.paper import PaperSpec
from alphaswarm_assets.specs.promotion import MlflowSpec, PromotionSpec
from alphaswarm_assets.specs.training import TrainingSpec
from alphaswarm_assets.streams import battery_seeds

KEY_PATTERN = re.compile(r"^[a-z0-9][a-z0-9-]*-[0-9a-f]{12}$")
"""A partition key: the spec's name, a dash, the first twelve hex digits of its hash."""


class ResearchSpec(SpecModel):
    """One study, frozen."""

    name: str = Field(
        min_length=1,
        max_length=40,
        pattern=r"^[a-z0-9][a-z0-9-]*$",
        description="Short name, lower case and dashes.",
    )
    description: str | None = Field(
        default=None, max_length=2000, description="What the study asks."
    )
    study: str | None = Field(
        default=None, max_length=80, description="Specs that chase the same thing share a study."
    )
    dataset: DatasetSpec = Field(default_factory=DatasetSpec)
    walk_forward: WalkForwardSpec = Field(default_factory=WalkForwardSpec)
    environment: EnvironmentSpec = Field(default_factory=EnvironmentSpec)
    training: TrainingSpec
    evaluation: EvaluationSpec = Field(default_factory=EvaluationSpec)
    promotion: PromotionSpec | None = None
    mlflow: MlflowSpec | None = None
    paper: PaperSpec | None = None

    @property
    def seeds(self) -> tuple[int, ...]:
        """Seeds of the battery: literal, forked from ``training.seed``, or that seed alone."""
        if self.evaluation.seed_list is not None:
            return self.evaluation.seed_list
        if self.evaluation.n_seeds is not None:
            return battery_seeds(self.training.seed, self.evaluation.n_seeds)
        return (self.training.seed,)

    @property
    def folds(self) -> tuple[str, ...]:
        """Names of the folds this spec has."""
        return self.walk_forward.folds

    @property
    def key(self) -> str:
        """Partition key: name and the first twelve digits of the hash."""
        return f"{self.name}-{self.snapshot_hash()[:12]}"

    def canonical(self) -> JsonObject:
        """Return the spec as JSON with absent (None) fields left out; what the hash covers."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    def snapshot_hash(self) -> str:
        """Return the SHA-256 of the canonical JSON, 64 hex digits."""
        return digest_bytes(canonical_json(self.canonical()).encode())


def check_key(key: str) -> str:
    """Return *key* if it can be a partition key.

    Raises
    ------
    InvalidInputError
        If it is not ``<name>-<12 hex>``; Dagster accepts anything and loses keys that hold ``|``.
    """
    if not KEY_PATTERN.fullmatch(key):
        raise InvalidInputError(f"a spec key must look like 'name-0123456789ab', was {key!r}")
    return key
