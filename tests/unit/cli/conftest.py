"""A house, a command line over it, a spec and a page, for every test of the command line."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from alphaswarm_assets.drive.verdicts import VerdictView
from alphaswarm_assets.ports import Progress
from alphaswarm_assets.specs.loading import parse_spec
from alphaswarm_assets.specs.research import ResearchSpec
from tests.unit.cli.small_house import SPEC, CommandLine, SmallHouse, a_verdict


@pytest.fixture
def house(tmp_path: Path) -> SmallHouse:
    return SmallHouse(tmp_path / "home")


@pytest.fixture
def alphaswarm(house: SmallHouse) -> CommandLine:
    return CommandLine(house)


@pytest.fixture
def spec() -> ResearchSpec:
    return parse_spec(SPEC, source="momentum.yaml")


@pytest.fixture
def spec_file(tmp_path: Path) -> Path:
    path = tmp_path / "momentum.yaml"
    path.write_text(SPEC, encoding="utf-8")
    return path


@pytest.fixture
def page() -> Console:
    return Console(
        record=True, width=120, file=io.StringIO(), markup=False, emoji=False, highlight=False
    )


@pytest.fixture
def progress() -> Callable[..., Progress]:
    def at(step: int, total: int = 1000, label: str = "f0 · seed 1") -> Progress:
        return Progress(
            label=label, step=step, total=total, at=f"2026-01-01T00:00:{step % 60:02d}+00:00"
        )

    return at


@pytest.fixture
def passed_verdict(spec: ResearchSpec) -> VerdictView:
    return a_verdict(spec.key, "PASS")
