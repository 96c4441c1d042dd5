"""The graph as it loads: which assets, from what, in which order, under whose name, and how light.

The golden graph is ``graph.json``. To write it anew after a change that was meant, run this file.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from alphaswarm_assets.definitions import compose, definitions_of
from alphaswarm_assets.drive.cells import STAGES, cells_of
from tests.graph.conftest import tiny_spec

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).with_name("graph.json")

HEAVY = (
    "torch",
    "mlflow",
    "pyiceberg",
    "matplotlib",
    "pyarrow",
    "redis",
    "scipy",
    "pandas",
    "cupy",
)

LOAD = f"""
import json, sys, time
start = time.monotonic()
from alphaswarm_assets.definitions import defs
n = len(list(defs().resolve_all_asset_specs()))
took = time.monotonic() - start
print(json.dumps({{"n": n, "took_s": took, "heavy": [m for m in {HEAVY!r} if m in sys.modules]}}))
"""

LOAD_S = 3.0
"""Promised for a quiet machine."""

PATIENCE = 4.0
"""Times the promise that a machine may take which runs other tests beside this one."""


@pytest.fixture(scope="module")
def definitions(tmp_path_factory: pytest.TempPathFactory) -> dg.Definitions:
    return definitions_of(compose(tmp_path_factory.mktemp("graph") / "home"))


@pytest.fixture(scope="module")
def specs(definitions: dg.Definitions) -> dict[str, dg.AssetSpec]:
    return {spec.key.to_user_string(): spec for spec in definitions.resolve_all_asset_specs()}


def graph_of(definitions: dg.Definitions) -> dict[str, Any]:
    """Return the graph as JSON: each asset's stage, partitions, parents and checks; jobs; sensors."""
    graph = definitions.resolve_asset_graph()
    assets: dict[str, Any] = {}
    for key in sorted(graph.materializable_asset_keys):
        node = graph.get(key)
        checks = graph.get_check_keys_for_assets({key})
        assets[key.to_user_string()] = {
            "group": node.group_name,
            "partitions": _axes(node.partitions_def),
            "parents": sorted(parent.to_user_string() for parent in node.parent_keys),
            "checks": {
                check.name: {
                    "partitions": _axes(graph.get(check).partitions_def),
                    "blocking": graph.get(check).blocking,
                }
                for check in sorted(checks, key=lambda check: check.name)
            },
        }
    repository = definitions.get_repository_def()
    return {
        "assets": assets,
        "jobs": sorted(job.name for job in repository.get_all_jobs() if job.name[0] != "_"),
        "sensors": sorted(sensor.name for sensor in repository.sensor_defs),
    }


def _axes(partitions: dg.PartitionsDefinition | None) -> list[str]:
    if isinstance(partitions, dg.MultiPartitionsDefinition):
        return list(partitions.partition_dimension_names)
    if isinstance(partitions, dg.DynamicPartitionsDefinition):
        return [str(partitions.name)]
    return [] if partitions is None else [type(partitions).__name__]


def test_the_graph_is_the_golden_one(definitions: dg.Definitions) -> None:
    assert graph_of(definitions) == json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_the_cells_of_a_study_are_the_assets_of_the_graph(specs: dict[str, dg.AssetSpec]) -> None:
    cells = cells_of(tiny_spec())
    assert {cell.asset for cell in cells} == set(specs)
    for cell in cells:
        assert specs[cell.asset].group_name == cell.stage
        deps = {dep.asset_key.to_user_string() for dep in specs[cell.asset].deps}
        assert {parent.asset for parent in cell.parents} == deps, cell.name


def test_the_stages_are_verbs_whose_alphabetical_order_is_the_order_of_the_flow(
    specs: dict[str, dg.AssetSpec],
) -> None:
    assert list(STAGES) == sorted(STAGES)
    for spec in specs.values():
        assert spec.group_name in STAGES
        for dep in spec.deps:
            above = specs[dep.asset_key.to_user_string()]
            assert str(above.group_name) <= str(spec.group_name)


def test_every_asset_says_whose_it_is_what_it_is_and_from_which_code(
    specs: dict[str, dg.AssetSpec],
) -> None:
    for name, spec in specs.items():
        assert spec.owners, name
        assert spec.kinds, name
        assert re.fullmatch(r"[0-9a-f]{16,64}", spec.code_version or ""), name
        assert spec.description, name
        assert spec.tags["stage"] == spec.group_name, name
        assert spec.partitions_def is not None, name


def test_every_check_is_of_a_partition_blocks_nothing_and_says_what_it_looks_at(
    definitions: dg.Definitions,
) -> None:
    graph = definitions.resolve_asset_graph()
    assert graph.asset_check_keys
    for key in graph.asset_check_keys:
        check = graph.get_check_spec(key)
        assert check.partitions_def == graph.get(key.asset_key).partitions_def, key
        assert check.partitions_def is not None, key
        # A blocking check holds back one run and no other: the verdict and what it allows judge for themselves.
        assert not check.blocking, key
        assert check.description, key


def test_the_location_loads_fast_and_without_the_heavy_libraries(tmp_path: Path) -> None:
    environment = {**os.environ, "ALPHASWARM_HOME": str(tmp_path / "home")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    loads = [_load(environment), _load(environment)]
    assert all(load["n"] == len(json.loads(GOLDEN.read_text())["assets"]) for load in loads)
    assert loads[0]["heavy"] == []
    assert min(load["took_s"] for load in loads) < PATIENCE * LOAD_S
    assert not (tmp_path / "home").exists()  # loading makes nothing


def _load(environment: dict[str, str]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LOAD],
        cwd=ROOT,
        env={**environment, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


if __name__ == "__main__":
    graph = graph_of(definitions_of(compose(Path("never-made"))))
    GOLDEN.write_text(json.dumps(graph, indent=2) + "\n", encoding="utf-8")
