"""Names of the bar sources of a home, without composing the house: a check of a spec is to answer at once."""

from __future__ import annotations

import difflib
from pathlib import Path

from alphaswarm_assets.errors import Fault
from alphaswarm_assets.specs.dataset import DatasetSpec


def source_names(home: Path) -> list[str]:
    """Return the names `dataset.source` may have over *home*: the set that ships, and every CSV file in ``bars``."""
    return sorted(
        {
            str(DatasetSpec.model_fields["source"].default),
            *(path.stem for path in (home / "bars").glob("*.csv")),
        }
    )


def missing_source(source: str, home: Path) -> Fault | None:
    """Return a fault if there is no bar source *source* over *home*."""
    names = source_names(home)
    if source in names:
        return None
    close = difflib.get_close_matches(source, names, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"put {source}.csv into {home / 'bars'}"
    return Fault(
        path="dataset.source",
        problem=f"there is no bar source {source!r}; there are {', '.join(names)}",
        hint=hint,
    )
