"""The page of a research dataset."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import dagster as dg
import numpy as np

from alphaswarm_assets.arrays import Int64Array
from alphaswarm_assets.defs.pictures import folds_chart, markdown_image
from alphaswarm_assets.defs.result import MetadataInput, table
from alphaswarm_assets.ports import TablePin
from alphaswarm_assets.records.manifest import Artifact


def dataset_metadata(dataset: Artifact, gold: TablePin) -> MetadataInput:
    """Return what the page of a dataset shows: its window, its symbols, and what each fold sees of it."""
    from alphaswarm_assets.markets.dataset import open_dataset

    facts = cast("Mapping[str, Any]", dataset.content.facts)
    sessions = open_dataset(dataset)[0].session
    walk = cast("Mapping[str, Any]", facts["walk"])
    symbols = [
        {
            "symbol": name,
            "known from": facts["first_known"][name],
            "missing bars": facts["missing_bars"][name],
        }
        for name in facts["symbols"]
    ]
    picture = folds_chart(walk, sessions)
    return {
        "window": f"{facts['first_session']} to {facts['last_session']}, {facts['n_bars']:,} bars",
        "symbols": table(symbols),
        "folds": table(_windows(walk, sessions)),
        "folds_picture": dg.MetadataValue.md(markdown_image(picture, "folds and paper window")),
        "bars": facts["n_bars"],
        "features": ", ".join(facts["features"]),
        "snapshot": gold.to_json(),
    }


def _windows(walk: Mapping[str, Any], sessions: Int64Array) -> list[dict[str, str]]:
    """Return the dates of every fold, and of the window nobody sees before the paper session."""

    def dates(window: Sequence[int] | None) -> str:
        if not window:
            return "–"
        first, last = sessions[window[0]], sessions[window[1] - 1]
        return f"{np.datetime64(int(first), 'D')} to {np.datetime64(int(last), 'D')}"

    rows = [
        {"fold": f["name"], "trains on": dates(f["train"]), "is measured on": dates(f["evaluate"])}
        for f in walk["folds"]
    ]
    if walk.get("paper"):
        rows.append({"fold": "paper", "trains on": "–", "is measured on": dates(walk["paper"])})
    return rows
