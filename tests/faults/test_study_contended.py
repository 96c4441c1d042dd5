"""Two commands at once over one home: of one study the second is told to wait, of two studies both end right."""

from __future__ import annotations

from pathlib import Path

import pytest

from alphaswarm_assets.specs.loading import load_spec
from tests.faults.commands import Command, start
from tests.faults.homes import Shelf, opened
from tests.faults.standing import digests_of, require_whole, standing_of
from tests.faults.studies import Undisturbed
from tests.graph.conftest import TINY

pytestmark = pytest.mark.faults


def under_way(command: Command) -> bool:
    return "trained_checkpoint" in command.err


def test_a_study_that_another_process_drives_is_left_to_it(
    shelf: Shelf, undisturbed: Undisturbed
) -> None:
    shelf.put_back("initialised")
    first = start(shelf.home, *shelf.run_arguments)
    assert first.wait_for(lambda: under_way(first))
    second = start(shelf.home, *shelf.run_arguments, beside="second").wait()

    assert second.code == 75
    assert second.out == ""
    assert f"lock 'spec-{shelf.spec.key}' is held by process {first.process.pid} on " in second.err
    assert "Wait until it has finished" in second.err
    assert first.wait().code == 0
    assert standing_of(shelf.home, shelf.spec) == undisturbed.standing


def test_two_studies_at_once_end_as_each_does_alone(shelf: Shelf, undisturbed: Undisturbed) -> None:
    """The second asks for more than the first and is refused; both make the tables they share."""
    strict = shelf.folder / "strict.yaml"
    strict.write_text(TINY.replace("min_sharpe: -50", "min_sharpe: 50"), encoding="utf-8")
    shelf.put_back("finished")
    assert start(shelf.home, "run", strict, "--json").wait().code == 0
    alone = content(shelf, strict)

    shelf.put_back("initialised")
    first = start(shelf.home, *shelf.run_arguments)
    second = start(shelf.home, "run", strict, "--json", beside="second")
    ended = first.wait(), second.wait()

    assert [e.code for e in ended] == [0, 0], "\n".join(e.err for e in ended)
    assert [e.report["verdict"]["decision"] for e in ended] == ["PASS", "REJECT"]
    require_whole(shelf.home)
    assert content(shelf, strict) == alone
    found = standing_of(shelf.home, shelf.spec)
    assert found == undisturbed.standing


def content(shelf: Shelf, spec_file: Path) -> dict[str, str | None]:
    with opened(shelf.home) as house:
        return digests_of(house, load_spec(spec_file))
