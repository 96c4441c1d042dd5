"""The wheel is the product: it loads by itself, from a folder that holds only workspace.yaml."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {"alphaswarm_assets", "alphaswarm_resources", "alphaswarm_kernels"}

REPORT = """
import json
import alphaswarm_assets.definitions as root
import alphaswarm_resources, alphaswarm_kernels
from importlib.resources import files
print(json.dumps({
    "files": [m.__file__ for m in (root, alphaswarm_resources, alphaswarm_kernels)],
    "settings": files(alphaswarm_resources).joinpath("dagster.yaml").is_file(),
}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (ROOT / "pyproject.toml").is_file():
        pytest.skip("needs the source tree the wheel is built from")
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_ships_three_packages_and_nothing_that_belongs_to_others(wheel: Path) -> None:
    names = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {name for name in names if not name.endswith(".dist-info")} == PACKAGES


def test_every_package_is_typed(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)


def test_the_code_location_loads_from_the_wheel_alone(wheel: Path, tmp_path: Path) -> None:
    site, work = tmp_path / "site", tmp_path / "work"
    zipfile.ZipFile(wheel).extractall(site)
    work.mkdir()
    shutil.copy(ROOT / "workspace.yaml", work)
    environment = {
        "PATH": str(Path(sys.executable).parent),
        "HOME": str(work),
        "PYTHONPATH": str(site),  # stands before the editable install on sys.path
        "ALPHASWARM_HOME": str(work / "home"),
    }
    loaded = json.loads(run_in(work, environment, sys.executable, "-c", REPORT))
    assert all(Path(name).is_relative_to(site) for name in loaded["files"])
    assert loaded["settings"]
    dagster = str(Path(sys.executable).with_name("dagster"))
    run_in(work, environment, dagster, "definitions", "validate", "-w", "workspace.yaml")


def run_in(folder: Path, environment: dict[str, str], *command: str) -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
