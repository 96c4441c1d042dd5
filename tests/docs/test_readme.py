"""What the README says is what the project does."""

from __future__ import annotations

import re
from pathlib import Path

import dagster as dg
import pytest

from alphaswarm_assets.definitions import House, definitions_of
from alphaswarm_assets.specs.loading import load_spec

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def lifecycle_row(asset: str) -> str:
    return next(
        line for line in README.splitlines() if line.startswith("|") and f"`{asset}`" in line
    )


def test_the_lifecycle_table_names_every_asset_in_its_stage_with_its_checks(tmp_path: Path) -> None:
    graph = definitions_of(House(home=tmp_path)).resolve_asset_graph()
    keys = graph.get_all_asset_keys()

    assert keys
    for key in keys:
        row = lifecycle_row(key.to_user_string())
        assert row.startswith(f"| {graph.get(key).group_name} |")
    for check in graph.asset_check_keys:
        if check.asset_key != dg.AssetKey("promotion_verdict"):
            assert f"`{check.name}`" in lifecycle_row(check.asset_key.to_user_string())


@pytest.mark.parametrize("name", ["demo-hasty", "demo-patient"])
def test_the_thresholds_it_states_are_those_of_the_example_specs(name: str) -> None:
    promotion = load_spec(ROOT / "specs" / f"{name}.yaml").promotion

    assert promotion is not None
    assert promotion.profile == "seed"
    assert promotion.model_dump(exclude_none=True) == {
        "profile": "seed", "min_sharpe": 0.5, "min_seeds": 5, "require_ci_positive": True,
    }  # fmt: skip
    assert "of at least 0.5" in lifecycle_row("min_sharpe")
    assert "at least 5 distinct seeds" in lifecycle_row("min_seeds")
    assert f"[`{name}`](specs/{name}.yaml)" in README


def test_every_make_target_it_names_exists() -> None:
    targets = set(
        re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    )
    named = set(re.findall(r"^\$? ?make ([a-z]+)", README, re.MULTILINE)) | set(
        re.findall(r"`make ([a-z]+)`", README)
    )

    assert named >= {"demo", "test", "ui"}
    assert named <= targets


def test_every_link_inside_the_project_leads_somewhere() -> None:
    pages = [
        ROOT / "README.md",
        ROOT / "ARCHITECTURE.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / "docs").rglob("*.md"),
    ]
    broken = [
        f"{page.name}: {link}"
        for page in pages
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
        if not link.startswith("http") and not (page.parent / link).exists()
    ]

    assert broken == []
