from __future__ import annotations

from typing import Any

import pytest

from alphaswarm_assets.drive.memo import memo_key

INGREDIENTS: dict[str, Any] = {
    "asset": "evaluation_report",
    "partition": "f0|study-0123456789ab",
    "spec_hash": "a" * 64,
    "code_version": "c" * 16,
    "parents": {"trained_checkpoint[f0]": "sha256:1", "research_dataset": "sha256:2"},
}


@pytest.mark.parametrize(
    "change",
    [
        {"asset": "trained_checkpoint"},
        {"partition": "f1|study-0123456789ab"},
        {"spec_hash": "b" * 64},
        {"spec_hash": None},
        {"code_version": "d" * 16},
        {"parents": {"trained_checkpoint[f0]": "sha256:9", "research_dataset": "sha256:2"}},
        {"parents": {"trained_checkpoint[f1]": "sha256:1", "research_dataset": "sha256:2"}},
        {"parents": {"trained_checkpoint[f0]": None, "research_dataset": "sha256:2"}},
        {"parents": {"trained_checkpoint[f0]": "sha256:1"}},
        {"parents": {"trained_checkpoint[f0]": "sha256:2", "research_dataset": "sha256:1"}},
    ],
    ids=str,
)
def test_each_ingredient_moves_the_key(change: dict[str, Any]) -> None:
    assert memo_key(**(INGREDIENTS | change)) != memo_key(**INGREDIENTS)


def test_the_order_of_parents_does_not_move_the_key() -> None:
    reordered = INGREDIENTS.copy()
    reordered["parents"] = dict(reversed(INGREDIENTS["parents"].items()))
    assert memo_key(**reordered) == memo_key(**INGREDIENTS)


def test_the_key_of_a_cell_never_moves() -> None:
    # Pinned once; a change here makes everything ever made be made again.
    assert (
        memo_key(**INGREDIENTS)
        == "04a3c778414a8afda190f8ad09a34cc6799120614ad2a99af9b7a84b67a13b9e"
    )
