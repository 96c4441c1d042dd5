import json
import os
import shutil
import signal
import sqlite3
import time
from importlib import resources
from pathlib import Path

import pytest

from alphaswarm_assets.errors import StoreError
from alphaswarm_resources.halt_file import FileHaltSwitch
from alphaswarm_resources.stores import GPU_POOL, Home, create_stores
from tests.ports.children import Start

CREATE = """
import os, sys
from pathlib import Path
from alphaswarm_resources.registry_mlflow import environment
from alphaswarm_resources.stores import create_stores
os.environ.update(environment())
print(create_stores(Path(sys.argv[1]), gpu_slots=3).root)
"""

USE = """
import os, sys
from pathlib import Path
import dagster as dg
import numpy as np
from alphaswarm_resources.artifacts_fs import FileArtifacts
from alphaswarm_resources.halt_file import FileHaltSwitch
from alphaswarm_resources.lake_iceberg import IcebergLake
from alphaswarm_resources.registry_mlflow import MlflowRegistry, environment
from alphaswarm_resources.stores import create_stores
os.environ.update(environment())
home = create_stores(Path(sys.argv[1]), gpu_slots=3)
lake = IcebergLake(home.lake)
pin = lake.replace("gold.bars", source="s", rows={"session": np.arange(3)}, sort_by=["session"])
made = MlflowRegistry(home.mlflow_uri, home.mlflow_artifacts).register(
    "ppo", files={"a": b"x"}, tags={}, identity="i", alias="candidate")
with dg.DagsterInstance.from_config(str(home.dagster)) as instance:
    instance.add_dynamic_partitions("spec", ["a-000000000000"])
    slots = instance.event_log_storage.get_concurrency_info("gpu").slot_count
    added = instance.get_dynamic_partitions("spec")
halted, recalled = FileHaltSwitch(home.halt).engaged(), FileArtifacts(home.artifacts).recall("m")
print(pin.n_rows, made.version, slots, added, halted, recalled)
"""


def heads(database: Path) -> int:
    with sqlite3.connect(database) as connection:
        (count,) = connection.execute("select count(*) from alembic_version").fetchone()
    connection.close()
    return count


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that four processes made at once."""
    import subprocess
    import sys

    root = tmp_path_factory.mktemp("home") / ".alphaswarm"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", CREATE, str(root)]
    pipe = subprocess.PIPE
    children = [
        subprocess.Popen(command, env=env, stdout=pipe, stderr=pipe, text=True) for _ in range(4)
    ]
    told = [child.communicate(timeout=240) for child in children]
    assert told == [(f"{root}\n", "")] * 4
    return root


@pytest.mark.slow
def test_four_processes_at_once_make_every_store_once(made: Path) -> None:
    home = Home(made)
    for folder in (
        home.artifacts,
        home.ledgers,
        home.halt,
        home.progress,
        home.locks,
        home.mlflow_artifacts,
    ):
        assert folder.is_dir()
    template = resources.files("alphaswarm_resources").joinpath("dagster.yaml").read_bytes()
    assert (home.dagster / "dagster.yaml").read_bytes() == template
    databases = sorted(made.rglob("*.db"))
    assert {path.name for path in databases} >= {
        "runs.db",
        "index.db",
        "schedules.db",
        "mlflow.db",
        "catalog.db",
    }
    stamped = [path for path in databases if path.name != "catalog.db"]
    assert [heads(path) for path in stamped] == [1] * len(stamped)
    assert not list(made.glob("*.unfinished"))
    assert json.loads(home.marker.read_text()) == {"schema": 1, "gpu_slots": 3}


@pytest.mark.slow
def test_every_store_is_ready_for_two_processes_at_once(made: Path, start: Start) -> None:
    children = [start(USE, made) for _ in range(2)]
    told = [child.communicate(timeout=120) for child in children]
    assert told == [("3 1 3 ['a-000000000000'] {} None\n", "")] * 2


@pytest.mark.slow
def test_making_what_is_there_is_fast_and_changes_nothing(made: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in made.rglob("*")}
    taken = []
    for _ in range(20):
        began = time.perf_counter()
        assert create_stores(made, gpu_slots=3) == Home(made)
        taken.append(time.perf_counter() - began)
    assert min(taken) < 0.005
    assert {path: path.stat().st_mtime_ns for path in made.rglob("*")} == before


@pytest.mark.slow
def test_another_number_of_slots_is_set_and_settings_and_results_stay(
    made: Path, tmp_path: Path
) -> None:
    import dagster as dg

    shutil.copytree(made, tmp_path / "home")
    home = Home(tmp_path / "home")
    (home.dagster / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    (home.halt / "k.json").write_text('{"key": "k", "reason": "operator"}')
    create_stores(home.root, gpu_slots=5)
    with dg.DagsterInstance.from_config(str(home.dagster)) as instance:
        assert instance.event_log_storage.get_concurrency_info(GPU_POOL).slot_count == 5
    assert (home.dagster / "dagster.yaml").read_text() == "telemetry: {enabled: false}\n"
    assert (home.halt / "k.json").exists()


@pytest.mark.slow
def test_a_halt_folder_that_was_lost_is_not_made_again_and_keeps_everything_halted(
    made: Path, tmp_path: Path
) -> None:
    shutil.copytree(made, tmp_path / "home")
    home = Home(tmp_path / "home")
    shutil.rmtree(home.halt)
    for gpu_slots in (3, 5):
        create_stores(home.root, gpu_slots=gpu_slots)
        assert not home.halt.exists()
    reason = FileHaltSwitch(home.halt).reason("any-spec")
    assert reason is not None
    assert "make it empty by hand once you know" in reason


@pytest.mark.slow
@pytest.mark.faults
def test_a_making_that_was_killed_is_taken_up_again(tmp_path: Path, start: Start) -> None:
    root = tmp_path / "home"
    for _ in range(2):
        child = start(CREATE, root)
        deadline = time.monotonic() + 60
        unfinished: list[Path] = []
        # Killed while a store is half made, each time a little later.
        while not unfinished and child.poll() is None and time.monotonic() < deadline:
            unfinished = sorted(root.glob("*.unfinished"))
            time.sleep(0.02)
        time.sleep(0.1)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        assert not (root / "ready.json").exists()
    out, err = start(USE, root).communicate(timeout=120)
    assert (out, err) == ("3 1 3 ['a-000000000000'] {} None\n", "")
    assert not list(root.glob("*.unfinished"))


def test_a_home_that_cannot_be_made_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"(home|lock) folder in .*file"):
        create_stores(tmp_path / "file" / "home", gpu_slots=1)
