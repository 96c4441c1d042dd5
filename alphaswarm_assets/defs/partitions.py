"""The axes of the graph."""

import dagster as dg

from alphaswarm_assets.specs.dataset import MAX_BLOCKS

FOLD_NAMES = tuple(f"f{k}" for k in range(MAX_BLOCKS - 1))

SOURCES = dg.DynamicPartitionsDefinition(name="source")
"""Bar sources."""

SPECS = dg.DynamicPartitionsDefinition(name="spec")
"""Registered specs, by key; append-only."""

FOLD_SPEC = dg.MultiPartitionsDefinition(
    {"fold": dg.StaticPartitionsDefinition(list(FOLD_NAMES)), "spec": SPECS}
)
"""Folds of specs. The small static axis sorts first; a spec's missing folds are not its business."""

AXES = {"source": SOURCES, "spec": SPECS, "fold": FOLD_SPEC}
