from __future__ import annotations

import json
from pathlib import Path

import pytest

from alphaswarm_assets.ports import HALT_ALL
from alphaswarm_assets.specs.loading import load_spec
from alphaswarm_assets.specs.research import KEY_PATTERN
from tests.unit.cli.small_house import CommandLine


@pytest.fixture(autouse=True)
def home(alphaswarm: CommandLine) -> None:
    alphaswarm("init")


def test_a_spec_is_halted_for_a_reason_and_resumed_with_it(
    alphaswarm: CommandLine, spec_file: Path
) -> None:
    key = load_spec(spec_file).key
    assert (
        alphaswarm("halt", str(spec_file), "--reason", "prices [stale]").stdout
        == f"halted {key}: prices [stale]\n"
    )
    assert alphaswarm.house.halts.reason(key) == "prices [stale]"
    assert (
        alphaswarm("resume", str(spec_file)).stdout
        == f"{key} goes on; it was halted for: prices [stale]\n"
    )
    assert alphaswarm.house.halts.reason(key) is None


def test_a_second_halt_changes_nothing_and_says_so(
    alphaswarm: CommandLine, spec_file: Path
) -> None:
    alphaswarm("halt", str(spec_file), "--reason", "first")
    result = alphaswarm("halt", str(spec_file), "--reason", "second", "--json")
    assert json.loads(result.stdout) == {
        "key": load_spec(spec_file).key,
        "halted": True,
        "changed": False,
        "reason": "first",
    }
    assert "stands: first" in alphaswarm("halt", str(spec_file), "--reason", "second").stdout


def test_a_key_is_halted_though_no_registry_knows_it(alphaswarm: CommandLine) -> None:
    assert alphaswarm("halt", "unknown-0123456789ab").exit_code == 0
    assert alphaswarm.house.halts.reason("unknown-0123456789ab") == "halted by the operator"


def test_everything_is_halted_by_one_key_that_no_spec_can_have(
    alphaswarm: CommandLine, spec_file: Path
) -> None:
    alphaswarm("halt", "--all", "--reason", "exchange down")
    alphaswarm("halt", str(spec_file), "--reason", "mine")
    assert alphaswarm.house.halts.reason(HALT_ALL) == "exchange down"
    assert KEY_PATTERN.fullmatch(HALT_ALL) is None
    out = alphaswarm("resume", str(spec_file)).stdout
    assert "still halted: everything, for: exchange down" in out
    assert (
        alphaswarm("resume", "--all").stdout
        == "everything goes on; it was halted for: exchange down\n"
    )


def test_resuming_what_is_not_halted_says_so(alphaswarm: CommandLine) -> None:
    result = alphaswarm("resume", "--all")
    assert (result.exit_code, result.stdout) == (0, "everything was not halted\n")


@pytest.mark.parametrize(
    "arguments", [["halt"], ["resume"], ["halt", "momentum-0123456789ab", "--all"]]
)
def test_one_spec_or_all_must_be_named(alphaswarm: CommandLine, arguments: list[str]) -> None:
    result = alphaswarm(*arguments)
    assert result.exit_code == 2
    assert "--all" in result.stderr
