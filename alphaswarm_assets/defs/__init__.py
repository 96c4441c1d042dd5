"""The Dagster graph, thin: each stage holds its assets and the checks that show what they found."""

import warnings

# Parts of Dagster this graph is built on are previews or betas in the pinned version (ADR 0003): these warnings, and no
# others, are expected at every load.
for _expected in (
    "Specifying a partitions_def on an AssetCheckSpec",
    "Class `MultiToSingleDimensionPartitionMapping` is currently in beta",
    "Parameter `data_version` of initializer `Output.__init__` is currently in beta",
):
    warnings.filterwarnings("ignore", message=_expected)
