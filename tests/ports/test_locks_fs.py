import os
import re
import threading
import time
from pathlib import Path

import pytest

from alphaswarm_assets.errors import BusyError, StoreError
from alphaswarm_assets.ports import Locks
from alphaswarm_resources.locks_fs import FileLocks
from tests.ports.children import Start, first_line

HOLD = """
import sys, time
from pathlib import Path
from alphaswarm_resources.locks_fs import FileLocks
with FileLocks(Path(sys.argv[1])).hold(sys.argv[2]):
    print("held", flush=True)
    time.sleep(60)
"""

COUNT = """
import sys
from pathlib import Path
from alphaswarm_resources.locks_fs import FileLocks
folder, counter = Path(sys.argv[1]), Path(sys.argv[1], "counter")
for _ in range(50):
    with FileLocks(folder).hold("count", wait_s=30):
        counter.write_text(str(int(counter.read_text()) + 1))
"""


@pytest.fixture
def locks(tmp_path: Path) -> FileLocks:
    return FileLocks(tmp_path / "locks")


def test_file_locks_are_locks(locks: FileLocks) -> None:
    assert isinstance(locks, Locks)


def test_a_lock_can_be_held_again_after_it_was_let_go(locks: FileLocks) -> None:
    for _ in range(2):
        with locks.hold("spec"):
            pass


def test_two_names_do_not_exclude_each_other(locks: FileLocks) -> None:
    with (
        locks.hold("f0|a"),
        locks.hold("f1|a"),
        locks.hold("F0|a"),
        locks.hold("../f0"),
        locks.hold(""),
    ):
        pass


def test_the_holder_is_named_and_what_to_do_is_said(locks: FileLocks) -> None:
    message = rf"lock 'spec' is held by process {os.getpid()} on .* Wait .*kill {os.getpid()}"
    with locks.hold("spec"), pytest.raises(BusyError, match=message), locks.hold("spec"):
        pass


def test_a_lock_is_let_go_when_the_work_inside_fails(locks: FileLocks) -> None:
    with pytest.raises(ZeroDivisionError), locks.hold("spec"):
        raise ZeroDivisionError
    with locks.hold("spec"):
        pass


def test_waiting_ends_when_the_lock_is_let_go(locks: FileLocks) -> None:
    held, waited = threading.Event(), []

    def hold() -> None:
        with locks.hold("spec"):
            held.set()
            time.sleep(0.3)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    began = time.monotonic()
    with locks.hold("spec", wait_s=10):
        waited.append(time.monotonic() - began)
    thread.join()
    assert 0.05 < waited[0] < 5


def test_waiting_has_an_end(locks: FileLocks) -> None:
    began = time.monotonic()
    with (
        locks.hold("spec"),
        pytest.raises(BusyError, match=r"after 0\.2 s"),
        locks.hold("spec", wait_s=0.2),
    ):
        pass
    assert 0.2 <= time.monotonic() - began < 5


@pytest.mark.faults
def test_a_lock_dies_with_its_holder(locks: FileLocks, tmp_path: Path, start: Start) -> None:
    child = start(HOLD, tmp_path / "locks", "spec")
    assert first_line(child) == "held\n"
    with pytest.raises(BusyError, match=rf"process {child.pid} "), locks.hold("spec"):
        pass
    child.kill()
    child.wait()
    with locks.hold("spec", wait_s=5):
        pass


def test_a_note_of_a_dead_holder_names_nobody(
    locks: FileLocks, tmp_path: Path, start: Start
) -> None:
    child = start(HOLD, tmp_path / "locks", "spec")
    first_line(child)
    child.kill()
    child.wait()
    note = (tmp_path / "locks" / "spec.lock").read_bytes()
    assert str(child.pid).encode() in note
    with locks.hold("spec"):
        (tmp_path / "locks" / "spec.lock").write_bytes(note)
        with (
            pytest.raises(BusyError, match="held by another process") as refused,
            locks.hold("spec"),
        ):
            pass
    assert not re.search(r"kill \d", str(refused.value))


def test_processes_take_turns(tmp_path: Path, start: Start) -> None:
    (tmp_path / "counter").write_text("0")
    children = [start(COUNT, tmp_path) for _ in range(3)]
    assert [child.wait(60) for child in children] == [0, 0, 0]
    assert (tmp_path / "counter").read_text() == "150"


def test_a_folder_that_cannot_be_made_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with (
        pytest.raises(StoreError, match="lock folder in"),
        FileLocks(tmp_path / "file" / "locks").hold("spec"),
    ):
        pass
