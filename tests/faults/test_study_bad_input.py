"""Input that a study cannot use, or that changed under it: a clear error, nothing lost, and the mended study runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from alphaswarm_assets.definitions import House
from alphaswarm_assets.drive.loop import DriveReport
from alphaswarm_assets.errors import MarketDataError
from alphaswarm_assets.specs.research import ResearchSpec
from tests.faults.homes import Shelf, opened
from tests.faults.studies import Undisturbed
from tests.graph.conftest import tiny_spec, write_bars
from tests.graph.test_study import failure_text, made, materialise

pytestmark = pytest.mark.faults


@pytest.fixture
def house(shelf: Shelf, undisturbed: Undisturbed) -> Iterator[House]:
    """The finished study."""
    with opened(shelf.put_back("finished")) as house:
        yield house


def run(house: House, spec: ResearchSpec) -> DriveReport:
    return house.run(spec, watch=lambda _: None)


def dataset(line: str) -> ResearchSpec:
    return tiny_spec(
        dataset=f"dataset: {{source: tiny, features: [return_1, return_5, volatility_21], {line}}}"
    )


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "symbols: [AAA, BBC]",
            "dataset.symbols: source 'tiny' has no symbol 'BBC'. Did you mean 'BBB'? It has AAA, BBB, CCC.",
        ),
        (
            "start: 1999-01-04, end: 1999-12-31",
            "dataset.start..end: source 'tiny' has no bar in 1999-01-04..1999-12-31; it has bars from 2015",
        ),
        (
            "symbols: [AAA, CCC], start: 2015-01-05, end: 2015-05-01",
            "dataset.start..end: symbol 'CCC' has no bar in 2015-01-05..2015-05-01; it has bars from 2015-06",
        ),
    ],
    ids=["an unknown symbol", "a window without data", "a window before a symbol lists"],
)
def test_what_the_source_does_not_have_fails_the_dataset_and_nothing_else(
    house: House, line: str, told: str
) -> None:
    spec = dataset(line)
    report = run(house, spec)
    states = {p.cell.asset: p.state for p in report.plan}

    assert list(report.failed) == [f"research_dataset[{spec.key}]"]
    assert report.failed[f"research_dataset[{spec.key}]"].startswith(f"MarketDataError: {told}")
    assert report.made == ()
    assert states["gold_features"] == "current"
    assert states["promotion_verdict"] == "waiting"


def test_a_source_that_is_not_there_is_named_before_anything_is_registered(house: House) -> None:
    spec = tiny_spec(dataset="dataset: {source: tyni, features: [return_1]}")
    with pytest.raises(
        MarketDataError, match=r"no bar source 'tyni'; there are tiny.*put tyni\.csv into"
    ):
        run(house, spec)
    assert spec.key not in list(house.specs.keys())


@pytest.mark.parametrize("asset", ["trained_checkpoint", "evaluation_report"])
def test_a_fold_that_the_spec_lacks_fails_naming_it(house: House, shelf: Shelf, asset: str) -> None:
    key = shelf.spec.key
    result = materialise(house, asset, f"f5|{key}")

    assert not result.success
    assert made(result) == []
    assert failure_text(result) == (
        f"InvalidInputError: spec {key} has walk_forward.n_blocks = 3, so its folds are f0, f1; there is no f5"
    )


def test_a_broken_line_of_bars_fails_the_bronze_table_and_the_mended_file_runs(
    house: House, shelf: Shelf, undisturbed: Undisturbed
) -> None:
    path = house.home / "bars" / "tiny.csv"
    whole = path.read_text()
    path.write_text(whole.replace("2015-01-07,AAA,", "07/01/2015,AAA,", 1))
    report = run(house, shelf.spec)

    (told,) = report.failed.values()
    assert told.startswith(
        "MarketDataError: date must be a date as YYYY-MM-DD, was '07/01/2015' in line "
    )
    assert report.made == ()
    path.write_text(whole)
    mended = run(house, shelf.spec)
    assert mended.made == ()
    assert set(mended.current) == set(undisturbed.standing.digests)


def test_other_bars_make_what_stood_on_the_old_ones_stale(house: House, shelf: Shelf) -> None:
    spec = shelf.spec
    write_bars(house.home / "bars" / "tiny.csv", seed=6)
    for asset in ("bronze_bars", "silver_bars", "gold_features"):
        assert materialise(house, asset, "tiny").success
    assert materialise(house, "research_dataset", spec.key).success
    alone = materialise(house, "evaluation_report", f"f0|{spec.key}")

    assert not alone.success
    assert made(alone) == []
    assert failure_text(alone) == (
        f"StaleArtifactError: evaluation_report[f0|{spec.key}] would be made from what is stale: "
        f"trained_checkpoint[f0|{spec.key}] is not current: what it is made from changed. "
        f"Run `alphaswarm run {spec.key}`: it remakes what is stale."
    )

    ended = shelf.run()
    assert ended.code == 0, ended.err
    assert [name.partition("[")[0] for name in ended.report["made"]] == [
        *["trained_checkpoint"] * 2,
        *["evaluation_report"] * 2,
        "evaluation_summary",
        "promotion_verdict",
        "registered_model",
        "paper_pack",
    ]
    assert ended.report["verdict"]["current"] is True
