"""A disk that fills up: every store says which it is and what to do, and keeps whole what it had."""

from pathlib import Path

import dagster as dg
import numpy as np
import pytest

from alphaswarm_assets.errors import StoreError
from alphaswarm_assets.ports import LaunchRequest, ModelVersion
from alphaswarm_assets.records.manifest import Artifact, pack
from alphaswarm_resources.artifacts_fs import FileArtifacts
from alphaswarm_resources.halt_file import FileHaltSwitch
from alphaswarm_resources.lake_iceberg import IcebergLake
from alphaswarm_resources.launcher_dagster import DagsterLauncher, Location
from alphaswarm_resources.ledger_jsonl import JsonlLedger
from alphaswarm_resources.locks_fs import FileLocks
from alphaswarm_resources.registry_mlflow import MlflowRegistry, environment
from alphaswarm_resources.stores import create_stores
from tests.faults.disks import Disk
from tests.ports.children import Start

pytestmark = pytest.mark.faults

FULL = r"could not be written: the disk is full or over quota, \d+ bytes are free\. Free some space and run the same"


def artifact(n: int, size: int = 60_000) -> Artifact:
    return pack(
        kind="report",
        spec_hash=None,
        payload={"a": bytes([n]) * size, "b": bytes([n])},
        envelope={"n": n},
    )


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} - {
        "filler"
    }


def test_an_artifact_that_does_not_fit_leaves_no_trace(disk: Disk) -> None:
    store = FileArtifacts(disk.folder / "artifacts")
    kept = store.put(artifact(0))
    store.remember("memo", kept)
    disk.fill(leaving=20_000)
    before = files(disk.folder)
    for n in range(1, 4):
        with pytest.raises(StoreError, match=rf"artifact store in {disk.folder}/artifacts {FULL}"):
            store.put(artifact(n))
    assert files(disk.folder) - before <= {"artifacts/locks/place.lock"}
    assert store.get(kept) == artifact(0)
    assert store.recall("memo") == kept
    disk.free()
    assert store.get(store.put(artifact(1))) == artifact(1)


def test_a_draft_and_a_memo_that_do_not_fit_leave_those_before_them(disk: Disk) -> None:
    store = FileArtifacts(disk.folder / "artifacts")
    one, two = store.put(artifact(0, 10)), store.put(artifact(1, 10))
    store.keep_draft("k", b"first")
    store.remember("memo", one)
    disk.fill()
    with pytest.raises(StoreError, match=FULL):
        store.keep_draft("k", bytes(50_000))
    with pytest.raises(StoreError, match=FULL):
        store.remember("memo", two)
    assert store.draft("k") == b"first"
    assert FileArtifacts(disk.folder / "artifacts").recall("memo") == one


def test_a_ledger_keeps_the_rows_it_had(disk: Disk) -> None:
    path = disk.folder / "promotions.jsonl"
    ledger = JsonlLedger(path)
    rows = [ledger.append({"n": n}) for n in range(3)]
    disk.fill(leaving=6_000)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=rf"ledger in {path} {FULL}"):
        ledger.append({"text": "x" * 50_000})
    assert path.read_bytes() == before
    assert ledger.rows() == JsonlLedger(path).rows() == rows
    disk.free()
    rows.append(ledger.append({"text": "x" * 50_000}))
    assert JsonlLedger(path).rows() == rows


def test_a_halt_that_does_not_fit_says_so_and_a_lock_still_works(disk: Disk) -> None:
    halts = disk.folder / "halt"
    halts.mkdir()
    switch = FileHaltSwitch(halts)
    switch.engage("first", "operator")
    locks = FileLocks(disk.folder / "locks")
    disk.fill()
    with pytest.raises(StoreError, match=f"halt switch in .* {FULL}"):
        switch.engage("k", "operator")
    assert switch.engaged() == {"first": "operator"}
    with locks.hold("spec"):
        pass
    assert switch.release("first") == "operator"


def test_rows_that_do_not_fit_leave_the_lake_as_it_was(disk: Disk) -> None:
    disk.grow("4m")
    lake = IcebergLake(disk.folder / "lake")
    lake.create()
    rng = np.random.default_rng(0)
    rows = {"session": np.arange(2000), "close": rng.normal(size=2000)}
    pin = lake.replace("gold.bars", source="s", rows=rows, sort_by=["session"])
    for leaving in (1_000, 12_000, 40_000):
        disk.fill(leaving=leaving)
        before = files(disk.folder)
        big = {"session": np.arange(9000), "close": rng.normal(size=9000)}
        with pytest.raises(StoreError, match=f"lake in .* {FULL}"):
            lake.replace("gold.bars", source="s", rows=big, sort_by=["session"])
        assert files(disk.folder) - before <= {"lake/locks/write.lock"}
        assert lake.read(pin, source="s")["session"].tolist() == list(range(2000))
        disk.free()
    assert lake.replace("gold.bars", source="s", rows=big, sort_by=["session"]).n_rows == 9000


def test_a_model_that_does_not_fit_is_registered_when_there_is_space(
    disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    registry = MlflowRegistry(f"sqlite:///{tmp_path}/mlflow.db", disk.folder / "artifacts")
    registry.create()
    disk.fill(leaving=30_000)

    def register() -> ModelVersion:
        files = {"policy.safetensors": bytes(100_000)}
        return registry.register("ppo", files=files, tags={}, identity="a" * 64, alias="candidate")

    with pytest.raises(StoreError, match=f"model registry in .* {FULL}"):
        register()
    disk.free()
    made = register()
    assert (made.created, made.version) == (True, "1")


@pytest.mark.slow
def test_a_home_that_does_not_fit_is_made_when_there_is_space(disk: Disk) -> None:
    for size in ("100k", "300k"):
        disk.grow(size)
        with pytest.raises(StoreError, match=FULL):
            create_stores(disk.folder / "home", gpu_slots=1)
    disk.grow("30m")
    home = create_stores(disk.folder / "home", gpu_slots=1)
    assert home.marker.is_file()


@pytest.mark.slow
def test_a_cell_that_cannot_be_recorded_says_so_and_is_made_when_there_is_space(disk: Disk) -> None:
    disk.grow("6m")
    home = disk.folder / "dagster"
    home.mkdir()

    @dg.asset
    def report() -> dg.MaterializeResult:
        return dg.MaterializeResult()

    job = dg.Definitions(assets=[report]).resolve_implicit_global_asset_job_def
    with dg.DagsterInstance.from_config(str(home), "none.yaml") as instance:
        launcher = DagsterLauncher(instance, job, Location("none", "defs"))
        request = LaunchRequest(asset="report", partition=None, memo_key="m" * 64)
        assert launcher.make(request).status == "made"
        for leaving in (0, 120_000):
            disk.fill(leaving=leaving)
            with pytest.raises(StoreError, match=f"storage of Dagster in {home} {FULL}"):
                launcher.make(request)
            disk.free()
        assert launcher.make(request).status == "made"


LIMITED = """
import resource, signal, sys
from pathlib import Path
from alphaswarm_assets.errors import StoreError
from alphaswarm_assets.records.manifest import pack
from alphaswarm_resources.artifacts_fs import FileArtifacts
from alphaswarm_resources.launcher_dagster import DagsterLauncher, Location
from alphaswarm_resources.ledger_jsonl import JsonlLedger
store, ledger = FileArtifacts(Path(sys.argv[1], "a")), JsonlLedger(Path(sys.argv[1], "l"))
ledger.append({"n": 0})
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
for work in (
    lambda: store.put(pack(kind="report", spec_hash=None, payload={"a": bytes(50_000)})),
    lambda: store.keep_draft("k", bytes(50_000)),
    lambda: ledger.append({"text": "x" * 50_000}),
):
    try:
        work()
    except StoreError as error:
        print("disk is full" in str(error))
ledger.append({"n": 1})
"""


def test_a_file_that_may_not_grow_is_met_like_a_full_disk(tmp_path: Path, start: Start) -> None:
    out, err = start(LIMITED, tmp_path).communicate(timeout=60)
    assert (out, err) == ("True\n" * 3, "")
    assert [row.body for row in JsonlLedger(tmp_path / "l").rows()] == [{"n": 0}, {"n": 1}]
    assert list((tmp_path / "a").rglob("*")) == [tmp_path / "a" / "tmp"]
