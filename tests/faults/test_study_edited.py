"""Artifacts that somebody edited or lost: found before they are used, remade with what they need, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from alphaswarm_assets.definitions import House
from alphaswarm_assets.errors import StaleArtifactError
from alphaswarm_assets.specs.research import ResearchSpec
from tests.faults.homes import Shelf, opened
from tests.faults.standing import digests_of, standing_of
from tests.faults.studies import Undisturbed
from tests.graph.test_study import failure_text, made, materialise

pytestmark = pytest.mark.faults

Damage: TypeAlias = Callable[[House, ResearchSpec], None]


@pytest.fixture
def house(shelf: Shelf, undisturbed: Undisturbed) -> Iterator[House]:
    """The finished study."""
    with opened(shelf.put_back("finished")) as house:
        yield house


def stored(house: House, spec: ResearchSpec, cell: str) -> Path:
    """Return the folder of the artifact of *cell*: ``evaluation_report f0``."""
    asset, _, fold = cell.partition(" ")
    pin = house.event_log().latest(asset, f"{fold}|{spec.key}" if fold else spec.key)
    assert pin is not None
    return house.places.artifacts / "objects" / pin.digest[:2] / pin.digest


def flip(path: Path, place: int = -9) -> None:
    """Change one bit."""
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def flipped(cell: str, file: str) -> Damage:
    return lambda house, spec: flip(stored(house, spec, cell) / file)


def policy(house: House, spec: ResearchSpec, fold: str) -> Path:
    content = house.artifacts.manifest(stored(house, spec, f"trained_checkpoint {fold}").name)
    digest = content.inputs[f"policy[{spec.seeds[1]}]"]
    return house.places.artifacts / "objects" / digest[:2] / digest


def flipped_policy(fold: str) -> Damage:
    return lambda house, spec: flip(policy(house, spec, fold) / "files/policy.safetensors")


def pass_for_all(house: House, spec: ResearchSpec) -> None:
    manifest = stored(house, spec, "promotion_verdict") / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"PASS"', '"UNGATED"'))


def deleted(cell: str) -> Damage:
    def delete(house: House, spec: ResearchSpec) -> None:
        folder = stored(house, spec, cell)
        folder.rename(house.home / "elsewhere")

    return delete


def flipped_rows(table: str) -> Damage:
    def flip_rows(house: House, spec: ResearchSpec) -> None:
        (path,) = (house.places.lake / "warehouse").glob(f"{table}/**/*.parquet")
        flip(path, path.stat().st_size // 2)

    return flip_rows


def in_words(name: str) -> str:
    """Return ``evaluation_report f0`` for ``evaluation_report[f0|tiny-0123456789ab]``."""
    asset, _, partition = name.partition("[")
    fold, bar, _ = partition.partition("|")
    return f"{asset} {fold}" if bar else asset


@pytest.mark.parametrize(
    ("damage", "remade"),
    [
        (flipped_policy("f0"), ["trained_checkpoint f0"]),
        (flipped("trained_checkpoint f1", "manifest.json"), ["trained_checkpoint f1"]),
        (flipped("research_dataset", "files/panel.safetensors"), ["research_dataset"]),
        (flipped("evaluation_report f0", "files/series.safetensors"), ["evaluation_report f0"]),
        (deleted("evaluation_summary"), ["evaluation_summary"]),
        (pass_for_all, ["promotion_verdict"]),
        (flipped("paper_pack", "envelope.json"), ["paper_pack"]),
        (flipped_rows("silver/bars"), ["silver_bars"]),
    ],
    ids=[
        "a policy",
        "the manifest of a checkpoint",
        "the panel",
        "the series of a report",
        "a summary that is gone",
        "a decision",
        "the envelope of a pack",
        "rows of a table",
    ],
)
def test_what_was_edited_is_made_again_and_nothing_else_is(
    house: House, shelf: Shelf, undisturbed: Undisturbed, damage: Damage, remade: list[str]
) -> None:
    spec = shelf.spec
    damage(house, spec)
    with opened(shelf.home) as fresh:
        report = fresh.run(spec, watch=lambda _: None)

        assert report.failed == {}
        assert [
            name.partition("|")[0].replace("[f", " f").partition("[")[0] for name in report.made
        ] == remade
        assert digests_of(fresh, spec) == undisturbed.standing.digests
        assert {p.state for p in fresh.plan(spec)} == {"current"}


def test_a_registration_that_was_edited_is_noted_again_and_registers_no_second_version(
    house: House, shelf: Shelf, undisturbed: Undisturbed
) -> None:
    flipped("registered_model", "manifest.json")(house, shelf.spec)
    ended = shelf.run()
    found = standing_of(shelf.home, shelf.spec)

    assert ended.code == 0, ended.err
    assert [in_words(name) for name in ended.report["made"]] == ["registered_model"]
    assert found.digests == undisturbed.standing.digests
    assert found.model_versions == found.registered_rows == found.damaged == 1


@pytest.mark.parametrize(
    ("damage", "cell", "named"),
    [
        (flipped_policy("f1"), "evaluation_report f1", "trained_checkpoint[f1"),
        (flipped_policy("f1"), "paper_pack", "evaluation_summary["),
        (
            flipped("research_dataset", "files/panel.safetensors"),
            "evaluation_report f0",
            "research_dataset[",
        ),
        (pass_for_all, "registered_model", "promotion_verdict["),
    ],
    ids=["a policy measured", "a policy rehearsed", "a panel", "a decision"],
)
def test_launched_alone_on_what_was_edited_it_fails_and_says_what_to_do(
    house: House, shelf: Shelf, damage: Damage, cell: str, named: str
) -> None:
    spec = shelf.spec
    damage(house, spec)
    asset, _, fold = cell.partition(" ")
    with opened(shelf.home) as fresh:
        result = materialise(fresh, asset, f"{fold}|{spec.key}" if fold else spec.key)

    assert not result.success
    assert made(result) == []
    text = failure_text(result)
    assert text.startswith("StaleArtifactError: ")
    assert named in text
    assert " is not current: " in text
    assert f"Run `alphaswarm run {spec.key}`: it remakes what is stale." in text


@pytest.mark.parametrize(
    "damage",
    [
        flipped("evaluation_summary", "manifest.json"),
        flipped("evaluation_report f1", "files/series.safetensors"),
        flipped_policy("f0"),
    ],
    ids=["the evidence", "what the evidence rests on", "a policy that was measured"],
)
def test_a_verdict_launched_alone_on_what_was_edited_is_a_refusal(
    house: House, shelf: Shelf, damage: Damage
) -> None:
    spec = shelf.spec
    damage(house, spec)
    with opened(shelf.home) as fresh:
        result = materialise(fresh, "promotion_verdict", spec.key)
        verdict = fresh.verdict(spec.key)

    assert result.success
    assert verdict is not None
    assert verdict.decision == "REJECT"
    assert any(reason.startswith("evidence_current: ") for reason in verdict.reasons)


def test_a_verdict_that_was_edited_is_not_shown(house: House, shelf: Shelf) -> None:
    pass_for_all(house, shelf.spec)
    with opened(shelf.home) as fresh, pytest.raises(StaleArtifactError, match="was changed after"):
        fresh.verdict(shelf.spec.key)
