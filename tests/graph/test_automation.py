"""The job `research` and the sensor `advance`, on a real home: what is asked for, when, and how a study ends."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import dagster as dg
import pytest

from alphaswarm_assets.definitions import House, compose, definitions_of
from alphaswarm_assets.defs import automation
from alphaswarm_assets.defs.advancing import MAX_ATTEMPTS, Request, open_requests
from alphaswarm_assets.specs.loading import parse_spec
from alphaswarm_assets.specs.research import ResearchSpec
from tests.graph.conftest import TINY, write_bars
from tests.graph.ticking import asked_for, evaluate, make, pretend, runs_of, tick

Ask: TypeAlias = Callable[..., ResearchSpec]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    made = compose(tmp_path_factory.mktemp("automation") / "home")
    made.initialise()
    return made


@pytest.fixture(scope="module")
def definitions(house: House) -> dg.Definitions:
    return definitions_of(house)


@pytest.fixture
def ask(house: House, request: pytest.FixtureRequest) -> Iterator[Ask]:
    """Register a study on a table of the test's own, and file a request for it; close it when the test is over."""
    source = f"bars{zlib.crc32(request.node.name.encode())}"
    asked: list[ResearchSpec] = []

    def ask(name: str = "tiny", promotion: str = "{min_sharpe: -50, min_seeds: 2}") -> ResearchSpec:
        write_bars(house.home / "bars" / f"{source}.csv")
        text = TINY.replace("source: tiny", f"source: {source}").replace(
            "name: tiny", f"name: {name}"
        )
        spec = parse_spec(
            text.replace("{min_sharpe: -50, min_seeds: 2}", promotion), source="tiny.yaml"
        )
        house.specs.register(spec)
        house.instance.add_dynamic_partitions("spec", [spec.key])
        house.instance.add_dynamic_partitions("source", [source])
        house.requests.append({"event": "requested", "spec_key": spec.key, "run_id": ""})
        asked.append(spec)
        return spec

    yield ask
    for spec in asked:
        house.requests.append({"event": "closed", "spec_key": spec.key, "note": "the test is over"})


def drive(house: House, definitions: dg.Definitions) -> list[list[tuple[str, str]]]:
    """Tick and make until nothing is asked for; return what was asked for, tick by tick."""
    steps: list[list[tuple[str, str]]] = []
    while (result := tick(house, definitions)).run_requests:
        steps.append(asked_for(result))
        assert len(steps) < 12
        for run in result.run_requests:
            make(house, run)
    return steps


def closing_note(house: House, spec: ResearchSpec) -> str:
    row = house.requests.rows()[-1].body
    assert (row["event"], row["spec_key"]) == ("closed", spec.key)
    return str(row["note"])


def file_request(house: House, definitions: dg.Definitions, key: str) -> dg.ExecuteInProcessResult:
    return definitions.resolve_job_def("research").execute_in_process(
        instance=house.instance,
        run_config={"spec": key},
        raise_on_error=False,
    )


def failure(result: dg.ExecuteInProcessResult) -> str:
    (event,) = [e for e in result.all_events if e.is_step_failure]
    data = event.step_failure_data.user_failure_data
    assert data is not None
    return str(data.description)


@pytest.mark.slow
def test_a_study_is_driven_stage_by_stage_to_its_verdict_and_closed(
    house: House, definitions: dg.Definitions, ask: Ask
) -> None:
    spec = ask()
    table = spec.dataset.source
    assert drive(house, definitions) == [
        [("bronze_bars+silver_bars+gold_features", table)],
        [("research_dataset", "tiny")],
        [
            ("trained_checkpoint+evaluation_report", "f0"),
            ("trained_checkpoint+evaluation_report", "f1"),
        ],
        [("evaluation_summary+promotion_verdict", "tiny")],
        [("registered_model", "tiny"), ("paper_pack", "tiny")],
    ]
    assert closing_note(house, spec) == "done: the verdict is PASS"
    verdict = house.verdict(spec.key)
    assert verdict is not None
    assert (verdict.decision, verdict.current) == ("PASS", True)
    assert spec.key not in {request.spec_key for request in open_requests(house.requests)}


@pytest.mark.slow
def test_a_fold_whose_runs_fail_is_done_without_and_the_verdict_says_so(
    house: House, definitions: dg.Definitions, ask: Ask
) -> None:
    spec = ask("lame")
    for _ in range(2):
        for run in runs_of(house, definitions):
            make(house, run)
    f0, f1 = runs_of(house, definitions)
    make(house, f1)
    for n in range(MAX_ATTEMPTS):
        (again,) = runs_of(house, definitions)
        assert again.run_key == f"{f0.tags['alphaswarm/memo_key']}-{_number(house, spec)}-{n}"
        pretend(house, definitions, again, dg.DagsterRunStatus.FAILURE)
    assert drive(house, definitions) == [[("evaluation_summary+promotion_verdict", "lame")]]
    assert closing_note(house, spec) == (
        f"done: the verdict is REJECT; {MAX_ATTEMPTS} runs of trained_checkpoint[f0|{spec.key}] came to nothing"
    )
    verdict = house.verdict(spec.key)
    assert verdict is not None
    assert any("all_folds_present" in reason for reason in verdict.reasons)


def _number(house: House, spec: ResearchSpec) -> int:
    (request,) = [r for r in open_requests(house.requests) if r.spec_key == spec.key]
    return request.number


@pytest.mark.parametrize(
    "event", [None, "PIPELINE_STARTING", "PIPELINE_START", "PIPELINE_CANCELING"]
)
def test_nothing_is_asked_for_twice_while_a_run_is_under_way(
    house: House, definitions: dg.Definitions, ask: Ask, event: str | None
) -> None:
    spec = ask()
    (run,) = runs_of(house, definitions)
    under_way = pretend(house, definitions, run, dg.DagsterRunStatus.NOT_STARTED)
    if event is not None:
        happened = dg.DagsterEvent(event, str(run.job_name))
        house.instance.report_dagster_event(happened, under_way.run_id)
    waiting = tick(house, definitions)
    assert waiting.run_requests == []
    assert f"waits for bronze_bars[{spec.dataset.source}]" in str(waiting.skip_reason)
    house.instance.report_run_canceled(under_way)
    assert asked_for(tick(house, definitions)) == asked_for_sources(spec)


def asked_for_sources(spec: ResearchSpec) -> list[tuple[str, str]]:
    return [("bronze_bars+silver_bars+gold_features", spec.dataset.source)]


def test_two_studies_on_one_table_ask_for_it_once(
    house: House, definitions: dg.Definitions, ask: Ask
) -> None:
    ask("one")
    ask("two")
    assert asked_for(tick(house, definitions)) == asked_for_sources(ask("three"))


def test_a_study_without_a_way_on_is_closed_and_a_new_request_tries_again(
    house: House, definitions: dg.Definitions, ask: Ask
) -> None:
    spec = ask()
    for _ in range(MAX_ATTEMPTS):
        (run,) = runs_of(house, definitions)
        pretend(house, definitions, run, dg.DagsterRunStatus.FAILURE)
    assert not tick(house, definitions).run_requests
    note = closing_note(house, spec)
    assert note.startswith("stopped before a verdict: ")
    assert f"runs of bronze_bars[{spec.dataset.source}] came to nothing" in note
    ask()
    assert asked_for(tick(house, definitions)) == asked_for_sources(spec)


def test_a_run_that_ended_because_the_ui_was_closed_is_not_held_against_its_cell(
    house: House, definitions: dg.Definitions, ask: Ask
) -> None:
    spec = ask()
    keys: set[str | None] = set()
    for _ in range(MAX_ATTEMPTS + 1):
        (run,) = runs_of(house, definitions)
        keys.add(run.run_key)
        ended = {"dagster/failure_reason": "UNEXPECTED_TERMINATION"}
        pretend(house, definitions, run, dg.DagsterRunStatus.FAILURE, **ended)
    assert asked_for(tick(house, definitions)) == asked_for_sources(spec)
    assert len(keys) == MAX_ATTEMPTS + 1  # the daemon starts no run twice under one key


def test_a_study_that_the_command_drives_is_left_to_it(
    house: House, definitions: dg.Definitions, ask: Ask
) -> None:
    spec = ask()
    with house.locks.hold(f"spec-{spec.key}"):
        left = tick(house, definitions)
    assert left.run_requests == []
    assert "another process drives it" in str(left.skip_reason)
    assert asked_for(tick(house, definitions)) == asked_for_sources(spec)


def test_a_study_whose_table_is_gone_is_closed_with_the_reason(
    house: House, definitions: dg.Definitions, ask: Ask
) -> None:
    spec = ask()
    (house.home / "bars" / f"{spec.dataset.source}.csv").unlink()
    assert not tick(house, definitions).run_requests
    assert closing_note(house, spec).startswith(
        f"cannot be driven: dataset.source: there is no bar source '{spec.dataset.source}'"
    )


def test_without_a_request_the_sensor_says_what_to_launch(
    house: House, definitions: dg.Definitions
) -> None:
    result = evaluate(house, definitions)
    assert isinstance(result, dg.SkipReason)
    assert "launch the job `research`" in str(result.skip_message)


def test_a_tick_looks_at_few_studies_and_the_next_goes_on_after_them() -> None:
    requests = [Request(spec_key=f"s{n:02}", number=n) for n in range(25)]
    n = automation.STUDIES_PER_TICK
    assert automation._in_turn(requests, None) == requests[:n]
    assert automation._in_turn(requests, "s24") == requests[:n]
    assert automation._in_turn(requests, f"s{n - 1:02}") == requests[n : 2 * n]
    assert automation._in_turn(requests, "closed meanwhile") == requests[:n]
    assert automation._in_turn(requests[:3], "s01") == [requests[2], *requests[:2]]


def test_the_job_files_a_request_and_makes_the_partitions_known(
    house: House, definitions: dg.Definitions
) -> None:
    write_bars(house.home / "bars" / "fresh.csv")
    spec = parse_spec(TINY.replace("source: tiny", "source: fresh"), source="tiny.yaml")
    house.specs.register(spec)
    filed = file_request(house, definitions_of(house), spec.key)
    assert filed.success
    assert house.instance.has_dynamic_partition("spec", spec.key)
    assert house.instance.has_dynamic_partition("source", "fresh")
    row = house.requests.rows()[-1].body
    assert row == {"event": "requested", "spec_key": spec.key, "run_id": filed.run_id}
    house.requests.append({"event": "closed", "spec_key": spec.key, "note": "the test is over"})


def test_the_job_refuses_a_key_that_is_not_registered_in_plain_words(
    house: House, definitions: dg.Definitions
) -> None:
    text = failure(file_request(house, definitions, "nobody-0123456789ab"))
    assert "nobody-0123456789ab is not a valid research spec" in text
    assert "(key): is not registered" in text
    assert "alphaswarm spec register" in text


def test_the_job_refuses_a_spec_that_this_version_cannot_run_and_names_the_field(
    house: House, definitions: dg.Definitions
) -> None:
    spec = parse_spec(TINY.replace("{seed: 11,", "{algorithm: dqn, seed: 11,"), source="tiny.yaml")
    house.specs.register(spec)
    text = failure(file_request(house, definitions, spec.key))
    assert "training.algorithm: must be 'ppo' in this version, was 'dqn'" in text


def test_the_job_refuses_a_source_that_is_not_there_and_names_those_that_are(
    house: House, definitions: dg.Definitions, tmp_path: Path
) -> None:
    spec = parse_spec(TINY.replace("source: tiny", "source: nowhere"), source="tiny.yaml")
    house.specs.register(spec)
    text = failure(file_request(house, definitions, spec.key))
    assert "there is no bar source 'nowhere'" in text
    assert "wiki_5stocks" in text
    assert not house.instance.has_dynamic_partition("spec", spec.key)
