"""Writers killed in the middle of their work: nothing torn is ever read, and what they left is swept out."""

import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from alphaswarm_resources.artifacts_fs import FileArtifacts
from alphaswarm_resources.durable import Scratch
from alphaswarm_resources.ledger_jsonl import JsonlLedger
from alphaswarm_resources.processes import this_process
from tests.ports.children import Start, first_line

pytestmark = pytest.mark.faults

WRITE = """
import itertools, os, sys
from pathlib import Path
from alphaswarm_assets.records.manifest import pack
from alphaswarm_resources.artifacts_fs import FileArtifacts
from alphaswarm_resources.ledger_jsonl import JsonlLedger
root = Path(sys.argv[1])
store, ledger = FileArtifacts(root / "artifacts"), JsonlLedger(root / "ledger.jsonl")
print("writing", flush=True)
for n in itertools.count():
    payload = {f"part{k}/{k}": os.urandom(200_000) for k in range(4)}
    digest = store.put(pack(kind="report", spec_hash=None, payload=payload, envelope={"n": n}))
    store.remember(f"memo{n % 3}", digest)
    store.keep_draft("draft", os.urandom(400_000))
    ledger.append({"digest": digest, "text": "x" * 100_000})
"""


@pytest.mark.slow
def test_whatever_the_instant_nothing_torn_is_read(tmp_path: Path, start: Start) -> None:
    n_rows = n_objects = 0
    for delay_s in (0.0, 0.003, 0.01, 0.02, 0.03, 0.05, 0.08, 0.13, 0.21, 0.34):
        child = start(WRITE, tmp_path)
        assert first_line(child) == "writing\n"
        time.sleep(delay_s)
        child.kill()
        child.wait()
        store, ledger = (
            FileArtifacts(tmp_path / "artifacts"),
            JsonlLedger(tmp_path / "ledger.jsonl"),
        )
        scratch = tmp_path / "artifacts" / "tmp"
        assert not scratch.exists() or not list(scratch.iterdir())
        digests = [path.name for path in (tmp_path / "artifacts" / "objects").glob("*/*")]
        assert all(store.get(digest).digest == digest for digest in digests)
        assert len(digests) >= n_objects
        rows = ledger.rows()
        assert len(rows) >= n_rows
        assert {str(row.body["digest"]) for row in rows} <= set(digests)
        n_rows, n_objects = len(ledger.rows()), len(digests)
        for n in range(3):
            assert store.recall(f"memo{n}") in {None, *digests}
        draft = store.draft("draft")
        assert draft is None or len(draft) == 400_000
    assert n_rows > 3


def test_only_what_dead_processes_left_is_swept_out(tmp_path: Path, start: Start) -> None:
    folder = tmp_path / "tmp"
    folder.mkdir()
    child = start("input()")
    me = this_process()
    alive = f"{me.host}~{me.pid}~{me.start_ticks}~0"
    earlier = f"{me.host}~{me.pid}~{me.start_ticks - 1}~0"
    dead = f"{me.host}~{child.pid}~1~7"
    young, old = "elsewhere~1~1~0", "elsewhere~1~1~1"
    for name in (alive, earlier, dead, young, old, "unknown"):
        (folder / name).mkdir()
        (folder / name / "file").write_text("x")
    (folder / "unknown~file~1~2").write_text("x")
    long_ago_s = time.time() - 90_000
    os.utime(folder / old, (long_ago_s, long_ago_s))
    Scratch(folder)
    assert {path.name for path in folder.iterdir()} == {alive, young}


def test_a_writer_that_lives_is_not_disturbed_by_a_sweep(tmp_path: Path, start: Start) -> None:
    child = start(WRITE, tmp_path)
    assert first_line(child) == "writing\n"
    for _ in range(30):
        FileArtifacts(tmp_path / "artifacts")
        time.sleep(0.01)
    assert child.poll() is None
    os.kill(child.pid, signal.SIGKILL)
    _, err = child.communicate()
    assert err == ""
    shutil.rmtree(tmp_path / "artifacts")
