from __future__ import annotations

import pytest

from alphaswarm_assets.drive.plan import next_cells
from alphaswarm_assets.errors import InvalidInputError
from tests.unit.drive.conftest import World, spec_of

COLLECT = ("bronze_bars", "silver_bars", "gold_features", "research_dataset")
FOLDS = tuple(
    f"{a}[{f}]" for a in ("trained_checkpoint", "evaluation_report") for f in ("f0", "f1")
)
END = ("evaluation_summary", "promotion_verdict", "registered_model", "paper_pack")
ALL = (*COLLECT, *FOLDS, *END)


def _cell(world: World, short: str) -> str:
    return next(name for name, planned in world.plan().items() if world.short(planned) == short)


def test_in_an_empty_world_the_first_cell_is_ready_and_the_others_wait(world: World) -> None:
    states = world.states()
    assert tuple(states) == ALL
    assert states["bronze_bars"] == "ready"
    assert {states[name] for name in ALL[1:]} == {"waiting"}
    plan = world.plan()
    assert plan["bronze_bars[wiki_5stocks]"].why == "never made"
    assert plan["silver_bars[wiki_5stocks]"].why == "waits for bronze_bars[wiki_5stocks]"


def test_cells_become_ready_stage_by_stage_until_all_are_current(world: World) -> None:
    waves = []
    while made := world.make_ready():
        waves.append(made)
    assert waves == [
        ["bronze_bars"],
        ["silver_bars"],
        ["gold_features"],
        ["research_dataset"],
        ["trained_checkpoint[f0]", "trained_checkpoint[f1]"],
        ["evaluation_report[f0]", "evaluation_report[f1]"],
        ["evaluation_summary"],
        ["promotion_verdict"],
        ["registered_model", "paper_pack"],
    ]
    assert set(world.states().values()) == {"current"}


def test_a_cell_whose_code_changed_is_made_again_and_stops_nothing_above(world: World) -> None:
    world.make_all()
    world.code["trained_checkpoint"] = "code-2"
    states, plan = world.states(), world.plan()
    assert {states[name] for name in COLLECT} == {"current"}
    assert {states["trained_checkpoint[f0]"], states["trained_checkpoint[f1]"]} == {"ready"}
    assert {states[name] for name in (FOLDS[2], FOLDS[3], *END)} == {"waiting"}
    assert plan[_cell(world, "trained_checkpoint[f0]")].why == "its code changed"


def test_equal_content_from_changed_code_makes_nothing_below_again(world: World) -> None:
    world.make_all()
    old = world.latest("gold_features", "wiki_5stocks")
    world.code["gold_features"] = "code-2"
    (gold,) = (p for p in world.plan().values() if p.state == "ready")
    assert gold.memo_key is not None
    assert old is not None
    # The same bytes, so the same data version, under a new memo key.
    pin = world.materialise("gold_features", "wiki_5stocks", gold.memo_key, content=old.memo_key)
    assert pin.data_version == old.data_version
    assert set(world.states().values()) == {"current"}


def test_a_parent_that_changed_makes_its_children_be_made_again(world: World) -> None:
    world.make_all()
    dataset = _cell(world, "research_dataset")
    key = world.plan()[dataset].memo_key
    assert key is not None
    world.materialise("research_dataset", world.spec.key, key, content="other rows")
    states, plan = world.states(), world.plan()
    assert states["research_dataset"] == "current"
    assert states["trained_checkpoint[f0]"] == "ready"
    assert plan[_cell(world, "trained_checkpoint[f0]")].why == "what it is made from changed"


def test_a_source_whose_bytes_changed_is_read_again(world: World) -> None:
    world.make_all()
    world.fingerprint = "bars-2"
    assert world.states()["bronze_bars"] == "ready"
    assert world.plan()["bronze_bars[wiki_5stocks]"].why == "what it is made from changed"


def test_what_the_source_makes_is_shared_by_specs_and_what_the_spec_makes_is_not(
    world: World,
) -> None:
    world.make_all()
    world.spec = spec_of(training={"seed": 2, "total_timesteps": 10})
    states = world.states()
    assert [states[name] for name in COLLECT] == ["current", "current", "current", "ready"]


def test_a_missing_or_broken_artifact_is_made_again(world: World) -> None:
    world.make_all()
    pin = world.latest("evaluation_report", f"f1|{world.spec.key}")
    assert pin is not None
    world.lost.add(pin.digest)
    states, plan = world.states(), world.plan()
    assert [name for name, state in states.items() if state == "ready"] == ["evaluation_report[f1]"]
    assert plan[_cell(world, "evaluation_report[f1]")].why == (
        f"its artifact {pin.digest[:12]} is missing or does not verify"
    )


def test_a_materialisation_without_a_memo_key_is_not_current(world: World) -> None:
    world.make_all()
    world.materialise("promotion_verdict", world.spec.key, "filed by hand")
    assert world.states()["promotion_verdict"] == "ready"


@pytest.mark.parametrize("decision", ["REJECT", "missing", "", "pass"])
def test_nothing_is_promoted_or_rehearsed_unless_the_verdict_says_so(
    world: World, decision: str
) -> None:
    world.decision = decision
    world.make_all()
    states = world.states()
    assert states["promotion_verdict"] == "current"
    assert (states["registered_model"], states["paper_pack"]) == ("not_due", "not_due")
    assert world.plan()[_cell(world, "paper_pack")].why == f"the verdict is {decision}"


def test_an_ungated_verdict_lets_the_policy_go_on(world: World) -> None:
    world.decision = "UNGATED"
    world.make_all()
    assert world.states()["paper_pack"] == "current"


def test_a_verdict_that_turned_to_reject_takes_its_promotion_out_of_the_plan(world: World) -> None:
    world.make_all()
    world.decision = "REJECT"
    assert world.states()["registered_model"] == "not_due"


def test_a_failed_fold_is_missing_evidence_for_the_summary(world: World) -> None:
    for _ in range(5):
        world.make_ready()
    failed = _cell(world, "evaluation_report[f0]")
    before = world.states(given_up=[failed])
    assert (before["evaluation_report[f0]"], before["evaluation_summary"]) == (
        "given_up",
        "waiting",
    )
    other = world.plan()[_cell(world, "evaluation_report[f1]")]
    assert other.memo_key is not None
    world.materialise("evaluation_report", other.cell.partition, other.memo_key)
    planned = world.plan(given_up=[failed])[f"evaluation_summary[{world.spec.key}]"]
    assert planned.state == "ready"
    # With the fold there, the summary has another key: it is made again once the fold is.
    world.make_ready()
    assert world.plan()[f"evaluation_summary[{world.spec.key}]"].memo_key != planned.memo_key


def test_a_fold_whose_training_failed_is_missing_evidence_too(world: World) -> None:
    for _ in range(4):
        world.make_ready()
    failed = [_cell(world, "trained_checkpoint[f0]"), _cell(world, "trained_checkpoint[f1]")]
    states = world.states(given_up=failed)
    assert (states["evaluation_report[f0]"], states["evaluation_report[f1]"]) == (
        "waiting",
        "waiting",
    )
    assert states["evaluation_summary"] == "ready"


@pytest.mark.parametrize("short", COLLECT)
def test_what_all_folds_stand_on_is_never_missing_evidence(world: World, short: str) -> None:
    for _ in range(COLLECT.index(short)):
        world.make_ready()
    states = world.states(given_up=[_cell(world, short)])
    assert states[short] == "given_up"
    assert {states[name] for name in (*FOLDS, *END)} == {"waiting"}


def test_a_failed_summary_leaves_the_verdict_waiting(world: World) -> None:
    for _ in range(6):
        world.make_ready()
    states = world.states(given_up=[_cell(world, "evaluation_summary")])
    assert (states["evaluation_summary"], states["promotion_verdict"]) == ("given_up", "waiting")


def test_some_folds_are_planned_with_what_they_stand_on_and_nothing_that_needs_all(
    world: World,
) -> None:
    assert tuple(world.states(folds=["f1"])) == (
        *COLLECT,
        "trained_checkpoint[f1]",
        "evaluation_report[f1]",
    )
    assert tuple(world.states(folds=[])) == COLLECT


def test_a_fold_the_spec_lacks_is_refused_by_name(world: World) -> None:
    with pytest.raises(
        InvalidInputError, match=f"{world.spec.key} has the folds f0, f1, was asked for f2, f7"
    ):
        world.plan(folds=["f7", "f0", "f2"])


def test_what_was_found_current_is_not_verified_twice_in_one_process(world: World) -> None:
    world.make_all()
    world.looked_at.clear()
    stores = world.stores()
    next_cells(world.spec, stores)
    once = len(world.looked_at)
    next_cells(world.spec, stores)
    assert once == len(ALL)
    assert len(world.looked_at) == once
    next_cells(world.spec, world.stores())
    assert len(world.looked_at) == 2 * once


def test_a_spec_of_one_block_is_planned_to_its_verdict() -> None:
    world = World(spec_of(1))
    world.decision = "REJECT"
    world.make_all()
    assert world.states() == {
        **dict.fromkeys(
            (*COLLECT, "trained_checkpoint[f0]", "evaluation_report[f0]", *END[:2]), "current"
        ),
        "registered_model": "not_due",
        "paper_pack": "not_due",
    }
