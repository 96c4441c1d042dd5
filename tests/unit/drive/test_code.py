from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from alphaswarm_assets.drive import code
from alphaswarm_assets.drive.cells import cells_of
from alphaswarm_assets.errors import InvalidInputError
from tests.unit.drive.conftest import spec_of

HOUSE = {
    "__init__.py": "",
    "README.md": "words",
    "trainer.py": (
        "from tinyhouse.room import lamp\n"
        "from tinyhouse.room.table import LEGS\n"
        "from tinyhouse.described.what import KIND\n"
        "import json, tinyhouse_other\n"
        "def train():\n"
        "    import tinyhouse.lazy\n"
        "    from tinyhouse import late\n"
    ),
    "lazy.py": "",
    "late.py": "from tinyhouse.deep import *\n",
    "deep.py": "import tinyhouse.trainer\n",
    "stranger.py": "",
    "room/__init__.py": "",
    "room/lamp.py": "",
    "room/table.py": "LEGS = 4\n",
    "room/spare.py": "",
    "described/__init__.py": "",
    "described/what.py": "KIND = 1\nfrom tinyhouse.stranger import *\n",
}


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Lay a small package out on disk and let the code under test take it for ours."""
    folder = tmp_path / "tinyhouse"
    for name, text in HOUSE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(code, "_OURS", ("tinyhouse",))
    monkeypatch.setattr(code, "_DESCRIPTIONS", ("tinyhouse.described",))
    monkeypatch.setattr(
        code, "ROOTS", {"policy": ("tinyhouse.trainer",), "lost": ("tinyhouse.gone",)}
    )
    monkeypatch.setattr(code, "LIBRARIES", {"policy": ("numpy",)})
    yield folder
    shutil.rmtree(folder)
    for module in [m for m in sys.modules if m.partition(".")[0] == "tinyhouse"]:
        del sys.modules[module]
    _forget()


def _forget() -> None:
    code.code_version.cache_clear()
    code._imports.cache_clear()
    importlib.invalidate_caches()


def _version() -> str:
    _forget()
    return code.code_version("policy")


def test_the_closure_follows_every_kind_of_import_and_leaves_descriptions_out(house: Path) -> None:
    assert set(code.closure(("tinyhouse.trainer",))) == {
        "tinyhouse",
        "tinyhouse.trainer",
        "tinyhouse.lazy",
        "tinyhouse.late",
        "tinyhouse.deep",
        "tinyhouse.room",
        "tinyhouse.room.lamp",
        "tinyhouse.room.table",
    }


def test_a_description_named_as_a_root_counts(house: Path) -> None:
    found = code.closure(("tinyhouse.lazy", "tinyhouse.described.what"))
    assert set(found) == {"tinyhouse.lazy", "tinyhouse.described.what", "tinyhouse.stranger"}


@pytest.mark.parametrize(
    "name", ["trainer.py", "lazy.py", "deep.py", "room/lamp.py", "room/table.py"]
)
def test_an_edit_in_a_reached_module_moves_the_version(house: Path, name: str) -> None:
    before = _version()
    with (house / name).open("a") as file:
        file.write("\nX = 1\n")
    assert _version() != before


@pytest.mark.parametrize("name", ["README.md", "stranger.py", "room/spare.py", "described/what.py"])
def test_an_edit_elsewhere_does_not_move_the_version(house: Path, name: str) -> None:
    before = _version()
    with (house / name).open("a") as file:
        file.write("\nX = 1\n")
    assert _version() == before


def test_a_module_that_moves_keeps_its_bytes_and_moves_the_version(house: Path) -> None:
    before = _version()
    (house / "room/lamp.py").rename(house / "room/light.py")
    (house / "trainer.py").write_text(HOUSE["trainer.py"].replace("import lamp", "import light"))
    assert _version() != before


def test_another_version_of_a_library_moves_the_version(
    house: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _version()
    monkeypatch.setattr(code.metadata, "version", lambda _: "0.0.1")
    assert _version() != before


@pytest.mark.parametrize(
    "act",
    [
        lambda: code.code_version("lost"),
        lambda: code.closure(("nowhere.at.all",)),
        lambda: code.closure(("tinyhouse.lazy.gone",)),
    ],
)
def test_a_root_without_a_source_is_refused_since_it_could_change_unseen(
    house: Path, act: Callable[[], object]
) -> None:
    with pytest.raises(InvalidInputError, match="no source file was found for module"):
        act()


def test_an_asset_without_roots_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="no sources are known for asset 'novelty'"):
        code.code_version("novelty")


def test_every_asset_of_the_graph_has_roots_and_a_version() -> None:
    for asset in {cell.asset for cell in cells_of(spec_of())}:
        assert len(code.code_version(asset)) == 16


def test_the_checkpoint_depends_on_what_trains_it_and_not_on_what_judges_it() -> None:
    found = code.closure(code.ROOTS["trained_checkpoint"])
    assert {
        "alphaswarm_assets.learning.ppo",
        "alphaswarm_assets.learning.environment",
        "alphaswarm_assets.markets.panel",
        "alphaswarm_assets.streams",
    } <= set(found)
    rooms = {module.split(".")[1] for module in found}
    assert (
        rooms & {"gates", "rehearsal", "defs", "drive", "cli", "definitions", "specs", "ports"}
        == set()
    )


def test_the_table_of_features_is_part_of_what_makes_them() -> None:
    for asset in ("gold_features", "research_dataset"):
        assert "alphaswarm_assets.specs.dataset" in code.closure(code.ROOTS[asset])
