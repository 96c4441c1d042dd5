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
from tests.faults.standing import Standing, registered, standing_of
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
    return [name.partition("[")[0] for name in ended.report["made"]], standing_of(
        shelf.home, shelf.spec
    )


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
        return {
            d: len(house.artifacts.envelopes(d)) for d, kind in kinds.items() if kind == "policy"
        }


def test_rows_that_were_torn_are_set_aside_and_the_rows_before_them_count(
    home: Path, shelf: Shelf, undisturbed: Undisturbed
) -> None:
    delete_artifact(home, shelf.spec, "promotion_verdict")
    ledgers = {name: home / "ledgers" / f"{name}.jsonl" for name in ("specs", "runs", "promotions")}
    whole = {name: path.read_bytes() for name, path in ledgers.items()}
    for name, path in ledgers.items():
        path.write_bytes(whole[name] + whole[name][:70])
    made, found = run_again(shelf)

    assert made == ["promotion_verdict"]
    assert found == undisturbed.standing
    # Of the three, a verdict that is given again is noted in the ledger of runs alone.
    runs = ledgers["runs"]
    assert runs.with_name("runs.jsonl.torn-1").read_bytes() == whole["runs"][:70]
    assert runs.read_bytes().startswith(whole["runs"])
    assert runs.stat().st_size > len(whole["runs"])


def edit(path: Path, change: Callable[[str], str]) -> None:
    first, *others = path.read_text().splitlines()
    path.write_text("\n".join([change(first), *others]) + "\n")


def delete_artifact(home: Path, spec: ResearchSpec, asset: str) -> None:
    with opened(home) as house:
        pin = house.event_log().latest(asset, spec.key)
    assert pin is not None
    shutil.rmtree(home / "artifacts" / "objects" / pin.digest[:2] / pin.digest)


def test_a_promotion_that_was_edited_lets_nothing_be_registered(home: Path, shelf: Shelf) -> None:
    delete_artifact(home, shelf.spec, "registered_model")
    path = home / "ledgers" / "promotions.jsonl"
    edit(path, lambda row: row.replace("PASS", "REJECT"))
    ended = shelf.run()

    assert ended.code == 1
    assert list(ended.report["failed"]) == [f"registered_model[{shelf.spec.key}]"]
    (told,) = ended.report["failed"].values()
    assert told.startswith(f"LedgerError: ledger {str(path)!r} is broken at row 0: ")
    assert told.endswith("Restore the file from a copy; do not edit it.")
    assert registered(home) == 1


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


def test_a_registry_that_was_deleted_is_noticed_and_the_model_registered_again(
    shelf: Shelf, home: Path
) -> None:
    shutil.rmtree(home / "mlflow")
    made, standing = run_again(shelf)

    assert made == ["registered_model"]
    assert run_again(shelf) == ([], standing)
