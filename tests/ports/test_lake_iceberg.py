import os
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from alphaswarm_assets.errors import (
    InvalidInputError,
    MissingArtifactError,
    RefusedError,
    StaleArtifactError,
    StoreError,
)
from alphaswarm_assets.ports import Columns, Lake, TablePin
from alphaswarm_resources.lake_iceberg import IcebergLake
from alphaswarm_resources.lake_rows import LakeRows
from tests.ports.children import Start

SORT = ("symbol", "session")


def bars(n: int = 6, *, seed: int = 0, scale: float = 1.0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    return {
        "symbol": np.array(["AAPL", "IBM", "Ä"] * n)[:n][order],
        "session": np.arange(n, dtype=np.int64)[order],
        "close": (scale * rng.normal(size=n))[order],
        "known": (rng.random(n) > 0.5)[order],
    }


def equal(one: Columns, other: Columns) -> bool:
    return set(one) == set(other) and all(np.array_equal(one[name], other[name]) for name in one)


def in_order(rows: Columns) -> Columns:
    order = np.lexsort([rows["session"], rows["symbol"]])
    return {name: column[order] for name, column in rows.items()}


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lake")
    IcebergLake(folder).create()
    return folder


@pytest.fixture
def lake(tmp_path: Path, empty: Path) -> IcebergLake:
    # A lake without tables holds no path, so a copy of it is one.
    shutil.copytree(empty, tmp_path / "a lake")
    return IcebergLake(tmp_path / "a lake")


def table_of(lake: IcebergLake, name: str) -> Any:
    return lake._catalog.load_table(name)


def snapshots(lake: IcebergLake, name: str) -> list[int]:
    return [snapshot.snapshot_id for snapshot in table_of(lake, name).snapshots()]


def test_iceberg_is_a_lake(lake: IcebergLake) -> None:
    assert isinstance(lake, Lake)


def test_rows_come_back_sorted_and_of_their_kinds(lake: IcebergLake, tmp_path: Path) -> None:
    rows = bars()
    pin = lake.replace("gold.bars", source="wiki", rows=rows, sort_by=SORT)
    assert (pin.table, pin.n_rows) == ("gold.bars", 6)
    for reader in (lake, IcebergLake(tmp_path / "a lake")):
        read = reader.read(pin, source="wiki")
        assert equal(read, in_order(rows))
        assert {name: column.dtype.kind for name, column in read.items()} == {
            "symbol": "U", "session": "i", "close": "f", "known": "b",
        }  # fmt: skip


def test_writing_what_is_there_adds_no_snapshot_whatever_its_order(lake: IcebergLake) -> None:
    pin = lake.replace("gold.bars", source="wiki", rows=bars(), sort_by=SORT)
    before = snapshots(lake, "gold.bars")
    assert lake.replace("gold.bars", source="wiki", rows=bars(), sort_by=SORT) == pin
    assert lake.replace("gold.bars", source="wiki", rows=in_order(bars()), sort_by=SORT) == pin
    assert snapshots(lake, "gold.bars") == before


def test_equal_rows_have_an_equal_digest_in_any_lake(
    lake: IcebergLake, empty: Path, tmp_path: Path
) -> None:
    shutil.copytree(empty, tmp_path / "other")
    other = IcebergLake(tmp_path / "other")
    other.replace("silver.bars", source="else", rows=bars(seed=9), sort_by=SORT)
    one = lake.replace("gold.bars", source="wiki", rows=bars(), sort_by=SORT)
    two = other.replace("silver.bars", source="mine", rows=bars(), sort_by=("session", "symbol"))
    again = other.replace("gold.bars", source="mine", rows=in_order(bars()), sort_by=SORT)
    assert one.content_digest == again.content_digest
    assert one.snapshot_id != again.snapshot_id
    assert two.content_digest == LakeRows.of(bars(), ("session", "symbol")).digest


def test_the_digest_is_that_of_a_known_arrow_stream() -> None:
    # Recomputed here from the rule itself: sorted rows, one batch, columns by name, Arrow IPC stream.
    import hashlib

    import pyarrow as pa

    rows = in_order(bars())
    table = pa.table({name: pa.array(rows[name].tolist()) for name in sorted(rows)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_batch(table.combine_chunks().to_batches()[0])
    assert (
        LakeRows.of(bars(), SORT).digest == hashlib.sha256(sink.getvalue().to_pybytes()).hexdigest()
    )


def test_replacing_one_source_moves_no_pin_of_another(lake: IcebergLake) -> None:
    wiki = lake.replace("gold.bars", source="wiki", rows=bars(), sort_by=SORT)
    mine = lake.replace("gold.bars", source="mine", rows=bars(9, seed=1), sort_by=SORT)
    newer = lake.replace("gold.bars", source="mine", rows=bars(3, seed=2), sort_by=SORT)
    assert lake.replace("gold.bars", source="wiki", rows=bars(), sort_by=SORT) == wiki
    assert equal(lake.read(wiki, source="wiki"), in_order(bars()))
    assert equal(lake.read(mine, source="mine"), in_order(bars(9, seed=1)))
    assert equal(lake.read(newer, source="mine"), in_order(bars(3, seed=2)))
    data = table_of(lake, "gold.bars").scan().to_arrow()
    assert sorted(set(data["source"].to_pylist())) == ["mine", "wiki"]
    assert data.num_rows == 9


def test_a_pin_is_read_as_it_was_after_everything_that_came_later(lake: IcebergLake) -> None:
    first = lake.replace("gold.bars", source="wiki", rows=bars(), sort_by=SORT)
    for n in range(4):
        lake.replace("gold.bars", source="wiki", rows=bars(seed=n + 1), sort_by=SORT)
    lake.replace(
        "gold.bars", source="wiki", rows={**bars(), "f1": bars(seed=7)["close"]}, sort_by=SORT
    )
    back = lake.replace("gold.bars", source="wiki", rows=bars(), sort_by=SORT)
    assert back.content_digest == first.content_digest
    assert back.snapshot_id != first.snapshot_id
    for pin in (first, back):
        assert equal(lake.read(pin, source="wiki"), in_order(bars()))


def test_nanosecond_times_stay_distinct_and_in_order(lake: IcebergLake) -> None:
    # Iceberg's own timestamps end at microseconds (apache/iceberg-python issue 1045): the first two would be one.
    times = np.array([1703541600181198464, 1703541600181198465, 1703541600181198999])
    rows = {"ts_ns": times[::-1].copy(), "px": np.array([4810.0, 4810.25, 4810.0])}
    pin = lake.replace("bronze.ticks", source="vendor", rows=rows, sort_by=["ts_ns"])
    read = lake.read(pin, source="vendor")
    assert read["ts_ns"].tolist() == times.tolist()
    assert read["px"].tolist() == [4810.0, 4810.25, 4810.0]


def test_rows_that_compare_as_equal_have_one_order_all_the_same() -> None:
    rows = {"x": np.array([0.0, -0.0, 0.0, np.nan, -np.nan]), "n": np.zeros(5, dtype=np.int64)}
    digests = set()
    for seed in range(8):
        order = np.random.default_rng(seed).permutation(5)
        digests.add(
            LakeRows.of({name: column[order] for name, column in rows.items()}, ["n"]).digest
        )
    assert len(digests) == 1


SPECIAL = st.sampled_from([0.0, -0.0, float("nan"), float("inf"), -float("inf"), 5e-324, 1.7e308])
# NumPy's own text drops what follows a final NUL.
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=4)


@st.composite
def any_rows(draw: st.DrawFn) -> dict[str, Any]:
    n = draw(st.integers(1, 5))
    return {
        "x": np.array(draw(st.lists(SPECIAL | st.floats(width=64), min_size=n, max_size=n))),
        "n": draw(hnp.arrays(np.int64, n)),
        "b": draw(hnp.arrays(np.bool_, n)),
        "s": np.array(draw(st.lists(TEXT, min_size=n, max_size=n)), dtype=np.str_),
    }


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=any_rows())
def test_any_rows_come_back_bit_for_bit(lake: IcebergLake, rows: dict[str, Any]) -> None:
    pin = lake.replace("silver.any", source="s", rows=rows, sort_by=["s", "n"])
    read = lake.read(pin, source="s")
    assert (
        LakeRows.of(read, ["s", "n"]).digest
        == LakeRows.of(rows, ["s", "n"]).digest
        == pin.content_digest
    )
    wanted = LakeRows.of(rows, ["s", "n"]).columns
    assert {name: column.tobytes() for name, column in read.items()} == {
        name: column.tobytes() for name, column in wanted.items()
    }


BAD_ROWS = {
    "no columns": {},
    "no rows": {"session": np.array([], dtype=np.int64)},
    "uneven columns": {"session": np.arange(3), "close": np.zeros(2)},
    "a column too small": {"session": np.arange(3, dtype=np.int32)},
    "a column of objects": {"session": np.array([1, None, 2], dtype=object)},
    "a column of dates": {"session": np.array(["2020-01-01"], dtype="datetime64[D]")},
    "two dimensions": {"session": np.zeros((2, 2), dtype=np.int64)},
    "the lake's own column": {"session": np.arange(1), "source": np.array(["x"])},
    "nothing to sort by": {"close": np.zeros(2)},
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_rows_that_cannot_be_kept_are_refused_before_anything_is_written(
    lake: IcebergLake, case: str
) -> None:
    with pytest.raises(InvalidInputError, match="must"):
        lake.replace("gold.bars", source="wiki", rows=BAD_ROWS[case], sort_by=["session"])
    assert not lake._catalog.table_exists("gold.bars")


@pytest.mark.parametrize("table", ["bars", "golden.bars", "gold.a.b", ""])
def test_a_table_stands_in_one_of_the_three_layers(lake: IcebergLake, table: str) -> None:
    with pytest.raises(InvalidInputError, match=r"bronze\|silver\|gold"):
        lake.replace(table, source="wiki", rows=bars(), sort_by=SORT)


def test_a_column_keeps_its_type(lake: IcebergLake) -> None:
    pin = lake.replace("gold.bars", source="wiki", rows=bars(), sort_by=SORT)
    changed = {**bars(), "close": np.arange(6)}
    with pytest.raises(
        InvalidInputError, match="column 'close' must be double as in the table, was long"
    ):
        lake.replace("gold.bars", source="mine", rows=changed, sort_by=SORT)
    assert snapshots(lake, "gold.bars") == [pin.snapshot_id]


def test_sources_of_one_table_may_have_other_columns(lake: IcebergLake) -> None:
    few = {name: column for name, column in bars().items() if name != "known"}
    more = {**bars(), "f1": bars(seed=3)["close"]}
    pins = [
        lake.replace("gold.bars", source=str(n), rows=rows, sort_by=SORT)
        for n, rows in enumerate((bars(), few, more))
    ]
    for n, rows in enumerate((bars(), few, more)):
        assert equal(lake.read(pins[n], source=str(n)), in_order(rows))


def expire(lake: IcebergLake, snapshot_id: int) -> None:
    table_of(lake, "gold.bars").maintenance.expire_snapshots().by_id(snapshot_id).commit()


def test_a_snapshot_that_expired_is_missing_and_the_current_one_is_not_read_instead(
    lake: IcebergLake,
) -> None:
    old = lake.replace("gold.bars", source="wiki", rows=bars(), sort_by=SORT)
    new = lake.replace("gold.bars", source="wiki", rows=bars(seed=1), sort_by=SORT)
    expire(lake, old.snapshot_id)
    for ask in (lambda: lake.read(old, source="wiki"), lambda: lake.protect(old, tag="verdict-1")):
        with pytest.raises(
            MissingArtifactError, match=f"snapshot {old.snapshot_id} of gold.bars is gone.*anew"
        ):
            ask()
    assert equal(lake.read(new, source="wiki"), in_order(bars(seed=1)))


def test_a_table_that_was_never_written_is_missing(lake: IcebergLake) -> None:
    pin = TablePin(table="gold.none", snapshot_id=1, content_digest="0" * 64, n_rows=1)
    for ask in (lambda: lake.read(pin, source="wiki"), lambda: lake.protect(pin, tag="t")):
        with pytest.raises(MissingArtifactError, match=r"no table gold\.none"):
            ask()


def test_a_protected_snapshot_does_not_expire(lake: IcebergLake) -> None:
    old = lake.replace("gold.bars", source="wiki", rows=bars(), sort_by=SORT)
    lake.protect(old, tag="verdict-1")
    lake.protect(old, tag="verdict-1")
    lake.replace("gold.bars", source="wiki", rows=bars(seed=1), sort_by=SORT)
    with pytest.raises(ValueError, match="protected"):
        expire(lake, old.snapshot_id)
    assert equal(lake.read(old, source="wiki"), in_order(bars()))


def test_a_tag_never_moves(lake: IcebergLake) -> None:
    old = lake.replace("gold.bars", source="wiki", rows=bars(), sort_by=SORT)
    new = lake.replace("gold.bars", source="wiki", rows=bars(seed=1), sort_by=SORT)
    lake.protect(old, tag="verdict-1")
    told = f"tag 'verdict-1' of gold.bars must stand for snapshot {new.snapshot_id}, was {old.snapshot_id}"
    with pytest.raises(RefusedError, match=told):
        lake.protect(new, tag="verdict-1")
    assert table_of(lake, "gold.bars").refs()["verdict-1"].snapshot_id == old.snapshot_id
    lake.protect(new, tag="verdict-2")


def test_a_pin_is_read_for_the_source_it_was_made_for(lake: IcebergLake) -> None:
    wiki = lake.replace("gold.bars", source="wiki", rows=bars(), sort_by=SORT)
    mine = lake.replace("gold.bars", source="mine", rows=bars(seed=1), sort_by=SORT)
    for pin, source in ((wiki, "mine"), (mine, "wiki"), (mine, "' or 1=1 --")):
        with pytest.raises(StaleArtifactError, match="must be one of source"):
            lake.read(pin, source=source)


def test_a_pin_with_another_digest_or_count_is_stale(lake: IcebergLake) -> None:
    pin = lake.replace("gold.bars", source="wiki", rows=bars(), sort_by=SORT)
    for digest, n_rows in (("0" * 64, 6), (pin.content_digest, 5)):
        other = TablePin(
            table=pin.table, snapshot_id=pin.snapshot_id, content_digest=digest, n_rows=n_rows
        )
        with pytest.raises(
            StaleArtifactError, match=rf"must hold {n_rows} rows .*{digest}, was 6 rows"
        ):
            lake.read(other, source="wiki")


def data_files(lake: IcebergLake) -> list[Path]:
    return sorted(Path(lake._folder).rglob("*.parquet"))


@pytest.mark.faults
@pytest.mark.parametrize("damage", ["other rows", "half a file", "an empty file", "no file"])
def test_damaged_rows_are_never_read_and_are_written_anew(lake: IcebergLake, damage: str) -> None:
    other = lake.replace("silver.bars", source="wiki", rows=bars(scale=2.0), sort_by=SORT)
    (forged,) = data_files(lake)
    pin = lake.replace("gold.bars", source="wiki", rows=bars(), sort_by=SORT)
    (path,) = set(data_files(lake)) - {forged}
    changes = {
        "other rows": lambda: path.write_bytes(forged.read_bytes()),
        "half a file": lambda: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
        "an empty file": lambda: path.write_bytes(b""),
        "no file": path.unlink,
    }
    changes[damage]()
    with pytest.raises(
        StaleArtifactError, match=r"Restore the files of the lake, or run the spec again"
    ):
        lake.read(pin, source="wiki")
    anew = lake.replace("gold.bars", source="wiki", rows=bars(), sort_by=SORT)
    assert anew.content_digest == pin.content_digest
    assert anew.snapshot_id != pin.snapshot_id
    assert equal(lake.read(anew, source="wiki"), in_order(bars()))
    assert equal(lake.read(other, source="wiki"), in_order(bars(scale=2.0)))


def test_a_lake_that_was_not_made_says_what_to_do(tmp_path: Path) -> None:
    pin = TablePin(table="gold.bars", snapshot_id=1, content_digest="0" * 64, n_rows=1)
    lake = IcebergLake(tmp_path / "none")
    with pytest.raises(StoreError, match=r"there is no lake in .* Run: alphaswarm init"):
        lake.read(pin, source="wiki")
    assert not (tmp_path / "none").exists()


@pytest.mark.faults
def test_a_lake_that_was_moved_says_so_and_takes_the_rows_anew(
    lake: IcebergLake, tmp_path: Path
) -> None:
    pin = lake.replace("gold.bars", source="wiki", rows=bars(), sort_by=SORT)
    (tmp_path / "a lake").rename(tmp_path / "moved")
    moved = IcebergLake(tmp_path / "moved")
    with pytest.raises(
        StaleArtifactError, match=r"metadata of gold.bars in .*moved is gone .*a lake"
    ):
        moved.read(pin, source="wiki")
    anew = moved.replace("gold.bars", source="wiki", rows=bars(), sort_by=SORT)
    assert anew.content_digest == pin.content_digest
    assert equal(moved.read(anew, source="wiki"), in_order(bars()))


def test_making_a_lake_twice_keeps_what_is_in_it(lake: IcebergLake, tmp_path: Path) -> None:
    pin = lake.replace("gold.bars", source="wiki", rows=bars(), sort_by=SORT)
    again = IcebergLake(tmp_path / "a lake")
    again.create()
    assert equal(again.read(pin, source="wiki"), in_order(bars()))


WRITE = """
import sys
from pathlib import Path
import numpy as np
from alphaswarm_resources.lake_iceberg import IcebergLake
lake = IcebergLake(Path(sys.argv[1]))
for n in range(8):
    rows = {"session": np.arange(5), "close": np.full(5, float(n))}
    pin = lake.replace("gold.bars", source=sys.argv[2], rows=rows, sort_by=["session"])
    assert lake.read(pin, source=sys.argv[2])["close"].tolist() == [float(n)] * 5
"""


@pytest.mark.slow
def test_processes_that_write_at_once_lose_nothing(
    lake: IcebergLake, tmp_path: Path, start: Start
) -> None:
    children = [start(WRITE, tmp_path / "a lake", source) for source in "ab"]
    assert [child.communicate(timeout=120) for child in children] == [("", "")] * 2
    data = table_of(lake, "gold.bars").scan().to_arrow()
    assert sorted(data["source"].to_pylist()) == ["a"] * 5 + ["b"] * 5
    assert set(data["close"].to_pylist()) == {7.0}


def test_another_engine_that_gets_in_first_is_met_by_trying_again(
    lake: IcebergLake, tmp_path: Path
) -> None:
    from alphaswarm_resources import lake_tables

    lake.replace("gold.bars", source="wiki", rows=bars(), sort_by=SORT)
    stale = table_of(lake, "gold.bars")
    # Whoever holds the table from before commits on top of what is gone; ours does so once and then looks again.
    IcebergLake(tmp_path / "a lake").replace(
        "gold.bars", source="mine", rows=bars(seed=1), sort_by=SORT
    )
    given = iter([stale])
    load = lake._catalog.load_table
    lake._catalog.load_table = lambda name: next(given, None) or load(name)
    pin = lake.replace("gold.bars", source="wiki", rows=bars(seed=2), sort_by=SORT)
    assert lake_tables.newest_of(load("gold.bars"), "gold.bars", "mine") is not None
    assert equal(lake.read(pin, source="wiki"), in_order(bars(seed=2)))


def test_the_demo_sets_size_is_replaced_and_read_quickly(lake: IcebergLake) -> None:
    rows = bars(12_154)
    lake.replace("gold.bars", source="warm", rows=bars(), sort_by=SORT)
    began = time.perf_counter()
    pin = lake.replace("gold.bars", source="wiki", rows=rows, sort_by=SORT)
    lake.read(pin, source="wiki")
    assert time.perf_counter() - began < 5 * max(1, os.getloadavg()[0])
