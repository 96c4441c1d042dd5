from __future__ import annotations

import os
from pathlib import Path

import pytest

from alphaswarm_assets.cli.place import Place, compose_house
from alphaswarm_assets.cli.sources import source_names
from alphaswarm_assets.definitions import House


def test_the_sources_a_check_knows_are_those_of_the_house(tmp_path: Path) -> None:
    (tmp_path / "bars").mkdir()
    (tmp_path / "bars" / "mine.csv").touch()
    assert source_names(tmp_path) == sorted(House(home=tmp_path).sources)


def test_the_folder_a_command_works_in_is_the_one_the_house_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = {name: value for name, value in os.environ.items() if name != "ALPHASWARM_HOME"}
    monkeypatch.setattr(os, "environ", elsewhere)  # composing points this process at its home
    monkeypatch.chdir(tmp_path)
    place = Place(home=None, compose=compose_house)
    assert place.compose(place.home).home == place.folder.absolute()
