"""Stores that somebody deleted, tore or edited: what can be made again is, and what cannot be believed is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from alphaswarm_assets.errors import LedgerError
from alphaswarm_assets.specs.research import ResearchSpec
from tests.faults.homes import Shelf, opened
from tests.faults.standing import Standing, standing_of
from tests.faults.studies import Undisturbed

pytestmark = pytest.mark.faults

TABLES = ["bronze_bars", "silver_bars", "gold_features"]


@pytest.fixture
def home(shelf: Shelf, undisturbed: Undisturbed) -> Path:
    """The home of the finished study."""
    return shelf.put_back("finished")


def run_again(shelf: Shelf) -> tuple[list[str], Standing]:
    """Give the same command again; return the assets it made and how the home stands then."""
    ended = shelf.run()
    assert ended.code == 0, ended.err
    assert ended.report["failed"] == {}
    return [name.partition("[")[0] for name in ended.report["made"]], standing_of(shelf.home, shelf.spec)


@pytest.mark.parametrize("lost", ["lake", "lake/warehouse", "lake/catalog.db"])
def test_a_lake_that_was_deleted_is_filled_again_and_nothing_is_trained(
    home: Path, shelf: Shelf, undisturbed: Undisturbed, lost: str
) -> None:
    path = home / lost
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    made, found = run_again(shelf)

    assert made == TABLES
    assert found == undisturbed.standing


def test_an_event_log_that_was_deleted_is_written_again_and_nothing_is_trained(
    home: Path, shelf: Shelf, undisturbed: Undisturbed
) -> None:
    policies = trained(home, shelf.spec)
    shutil.rmtree(home / "dagster")
    made, found = run_again(shelf)

    assert len(made) == len(undisturbed.standing.digests)
    assert found == undisturbed.standing
    assert trained(home, shelf.spec) == policies


def trained(home: Path, spec: ResearchSpec) -> dict[str, int]:
    """Return how often each policy was stored, by digest."""
    with opened(home) as house:
        folders = (home / "artifacts" / "objects").glob("??/*")
        kinds = {path.name: house.artifacts.manifest(path.name).kind for path in folders}
        return {d: len(house.artifacts.envelopes(d)) for d, kind in kinds.items() if kind == "policy"}


@pytest.mark.parametrize("ledger", ["specs", "runs", "promotions"])
def test_a_row_that_was_torn_is_set_aside_and_the_rows_before_it_count(
    home: Path, shelf: Shelf, ledger: str
) -> None:
    path = home / "ledgers" / f"{ledger}.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:70])
    shutil.rmtree(home / "artifacts" / "objects")
    (home / "artifacts" / "objects").mkdir()
    made, found = run_again(shelf)

    assert len(made) == 12
    assert found.is_settled_but_for_strays
    torn = path.with_name(f"{path.name}.torn-1")
    if ledger == "specs":  # nothing is written to it: the spec is registered already
        assert path.read_bytes() == whole + whole[:70]
    else:
        assert torn.read_bytes() == whole[:70]
        assert path.read_bytes().startswith(whole)


def edit(path: Path, change: Callable[[str], str]) -> None:
    first, *others = path.read_text().splitlines()
    path.write_text("\n".join([change(first), *others]) + "\n")


def test_a_promotion_that_was_edited_lets_nothing_be_registered(home: Path, shelf: Shelf) -> None:
    """The row says REJECT where the verdict said PASS; whoever registers reads the ledger first."""
    registration = digest_of(home, shelf.spec, "registered_model")
    shutil.rmtree(home / "artifacts" / "objects" / registration[:2] / registration)
    edit(home / "ledgers" / "promotions.jsonl", lambda row: row.replace("PASS", "REJECT"))
    ended = shelf.run()

    assert ended.code == 1
    (told,) = ended.report["failed"].values()
    assert told.startswith("LedgerError: ledger ")
    assert "promotions.jsonl" in told
    assert "Restore the file from a copy; do not edit it." in told or "row 1" in told


def digest_of(home: Path, spec: ResearchSpec, asset: str) -> str:
    with opened(home) as house:
        pin = house.event_log().latest(asset, spec.key)
    assert pin is not None
    return pin.digest


def test_a_spec_that_was_edited_in_its_ledger_is_not_run(home: Path, shelf: Shelf) -> None:
    def lower_the_bar(row: str) -> str:
        held = json.loads(row)
        held["body"] = json.loads(json.dumps(held["body"]).replace("-50", "-99"))
        return json.dumps(held, sort_keys=True, separators=(",", ":"))

    edit(home / "ledgers" / "specs.jsonl", lower_the_bar)
    with opened(home) as house, pytest.raises(LedgerError):
        house.specs.get(shelf.spec.key)
    ended = shelf.run()
    assert ended.code == 1
    assert "specs.jsonl" in ended.err
    assert ended.out == ""
