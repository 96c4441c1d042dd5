from pathlib import Path

import pytest

from alphaswarm_assets.ports import Progress, ProgressBoard
from alphaswarm_resources.progress_fs import FileProgressBoard


def progress(step: int, **values: float) -> Progress:
    return Progress(
        label=f"f0 · seed {step}",
        step=step,
        total=100,
        at="2026-01-01T00:00:00+00:00",
        values=values,
    )


@pytest.fixture
def board(tmp_path: Path) -> FileProgressBoard:
    return FileProgressBoard(tmp_path / "progress")


def test_a_folder_is_a_progress_board(board: FileProgressBoard) -> None:
    assert isinstance(board, ProgressBoard)


def test_the_last_report_of_a_topic_is_read_by_anybody(
    board: FileProgressBoard, tmp_path: Path
) -> None:
    for step in range(3):
        board.post("run-a/f0/7", progress(step, loss=0.5))
    assert FileProgressBoard(tmp_path / "progress").read("run-a/") == {
        "run-a/f0/7": progress(2, loss=0.5)
    }


def test_topics_are_told_apart_and_found_by_what_they_start_with(board: FileProgressBoard) -> None:
    topics = ["a", "a/f0|x", "a/f0|X", "ab", "b/../a", "b/" + "x" * 400]
    for n, topic in enumerate(topics):
        board.post(topic, progress(n))
    assert board.read("") == {topic: progress(n) for n, topic in enumerate(topics)}
    assert list(board.read("a/")) == ["a/f0|X", "a/f0|x"]
    board.clear("a/")
    assert sorted(board.read("")) == sorted(["a", "ab", *topics[4:]])
    board.clear("")
    assert board.read("") == {}


def test_a_number_that_is_none_is_reported_as_it_is(board: FileProgressBoard) -> None:
    board.post("a", progress(1, loss=float("nan"), kl=float("inf")))
    values = board.read("a")["a"].values
    assert values["loss"] != values["loss"]
    assert values["kl"] == float("inf")


def test_nothing_posted_is_nothing_read(board: FileProgressBoard) -> None:
    assert board.read("") == {}
    board.clear("")


@pytest.mark.faults
@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b'{"topic": "a"}',
        b'{"topic": "a", "label": "", "step": 1, "total": 1, "x": 1}',
    ],
)
def test_a_garbled_report_says_nothing(
    board: FileProgressBoard, tmp_path: Path, damage: bytes
) -> None:
    board.post("a", progress(1))
    board.post("b", progress(2))
    (tmp_path / "progress" / "a.json").write_bytes(damage)
    assert board.read("") == {"b": progress(2)}


@pytest.mark.faults
def test_a_report_that_cannot_be_written_stops_no_step(tmp_path: Path) -> None:
    board = FileProgressBoard(tmp_path / "progress")
    (tmp_path / "progress").write_text("in the way")
    board.post("a", progress(1))
    assert board.read("") == {}
