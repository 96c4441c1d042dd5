import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alphaswarm_assets.errors import InvalidInputError, MissingArtifactError, StaleArtifactError
from alphaswarm_assets.ports import Artifacts
from alphaswarm_assets.records.manifest import Artifact, pack
from alphaswarm_resources.artifacts_fs import FileArtifacts
from tests.ports.children import Start

ABSENT = "0" * 64
FILES = {"policy.safetensors": b"\x00\x01weights", "seeds/7.json": b"{}"}


def report(**changes: object) -> Artifact:
    given = {
        "kind": "report",
        "spec_hash": "a" * 64,
        "payload": FILES,
        "inputs": {"dataset": "b" * 64},
        "seed": 7,
    }
    return pack(**{**given, "facts": {"sharpe": 0.5}, "envelope": {"run_id": "r1"}, **changes})  # pyright: ignore[reportArgumentType]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "artifacts"


@pytest.fixture
def store(folder: Path) -> FileArtifacts:
    return FileArtifacts(folder)


def object_folder(folder: Path, digest: str) -> Path:
    return folder / "objects" / digest[:2] / digest


def all_files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_folder_is_an_artifact_store(store: FileArtifacts) -> None:
    assert isinstance(store, Artifacts)


def test_opening_a_store_writes_nothing(store: FileArtifacts, folder: Path) -> None:
    assert not store.holds(ABSENT)
    assert store.recall("memo") is None
    assert store.draft("draft") is None
    assert not folder.exists()


def test_what_was_put_comes_back_whole(store: FileArtifacts, folder: Path) -> None:
    artifact = report()
    assert store.put(artifact) == artifact.digest
    for reader in (store, FileArtifacts(folder)):
        assert reader.holds(artifact.digest)
        assert reader.get(artifact.digest) == artifact
        assert reader.manifest(artifact.digest) == artifact.content
    assert not list((folder / "tmp").iterdir())


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    payload=st.dictionaries(
        st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,20}", fullmatch=True), st.binary(), max_size=4
    ),
    facts=st.dictionaries(
        st.text(max_size=5),
        st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
    ),
)
def test_any_payload_and_facts_come_back_as_they_were(
    store: FileArtifacts, payload: dict[str, bytes], facts: dict[str, Any]
) -> None:
    artifact = report(payload=payload, facts=facts)
    assert store.get(store.put(artifact)) == artifact


def test_the_second_copy_of_equal_content_keeps_the_first_and_adds_its_envelope(
    store: FileArtifacts, folder: Path
) -> None:
    first, again, other = (
        report(),
        report(envelope={"run_id": "r1"}),
        report(envelope={"run_id": "r2"}),
    )
    digest = store.put(first)
    before = object_folder(folder, digest).stat().st_ino
    assert store.put(again) == store.put(other) == store.put(other) == digest
    assert object_folder(folder, digest).stat().st_ino == before
    assert store.get(digest).envelope == {"run_id": "r1"}
    assert store.envelopes(digest) == [{"run_id": "r1"}, {"run_id": "r2"}]


def test_what_is_not_there_is_missing_and_says_so(store: FileArtifacts) -> None:
    assert not store.holds(ABSENT)
    for ask in (
        store.get,
        store.manifest,
        store.envelopes,
        lambda digest: store.remember("memo", digest),
    ):
        with pytest.raises(
            MissingArtifactError, match=rf"no artifact {ABSENT} .* Run the spec again"
        ):
            ask(ABSENT)


@pytest.mark.parametrize("digest", ["", "../../etc", "A" * 64, "0" * 63])
def test_what_is_no_digest_is_refused(store: FileArtifacts, digest: str) -> None:
    with pytest.raises(InvalidInputError, match="64 hex digits"):
        store.get(digest)


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "/etc/passwd",
        "a/../../b",
        "",
        ".hidden",
        "a//b",
        "a\\b",
        "a\x00b",
        "ü",
        "a/b/c/d/e",
        "x" * 200,
    ],
)
def test_a_file_cannot_have_a_name_that_leads_elsewhere(
    store: FileArtifacts, folder: Path, name: str
) -> None:
    with pytest.raises(InvalidInputError, match="the name of a stored file must be"):
        store.put(report(payload={name: b"x"}))
    assert not folder.exists() or not all_files(folder)


def test_a_payload_that_is_not_the_manifests_is_refused_even_when_the_artifact_is_there(
    store: FileArtifacts,
) -> None:
    good = report()
    store.put(good)
    for payload in ({}, {**FILES, "more": b""}, {**FILES, "seeds/7.json": b"[]"}):
        with pytest.raises(InvalidInputError, match="the payload must hold"):
            store.put(replace(good, payload=payload))


EDITS = {
    "a flipped byte": ("files/policy.safetensors", lambda data: data[:-1] + b"S"),
    "a byte more": ("files/seeds/7.json", lambda data: data + b"\n"),
    "an emptied file": ("files/policy.safetensors", lambda _: b""),
    "another number in the manifest": ("manifest.json", lambda data: data.replace(b"0.5", b"1.5")),
    "a note nobody reads in the manifest": (
        "manifest.json",
        lambda data: data.replace(b"{\n", b'{\n  "x": 1,\n', 1),
    ),
    "a manifest of another schema": (
        "manifest.json",
        lambda data: data.replace(b"artifact/1", b"artifact/9"),
    ),
    "half a manifest": ("manifest.json", lambda data: data[: len(data) // 2]),
    "a manifest that is a list": ("manifest.json", lambda _: b"[]"),
    "an edited envelope": ("envelope.json", lambda data: data.replace(b"r1", b"r9")),
    "no envelope": ("envelope.json", lambda _: b""),
}


@pytest.mark.faults
@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_artifact_is_never_read_and_the_file_is_named(
    store: FileArtifacts, folder: Path, edit: str
) -> None:
    name, change = EDITS[edit]
    digest = store.put(report())
    assert store.holds(digest)
    path = object_folder(folder, digest) / name
    path.write_bytes(change(path.read_bytes()))
    for reader in (store, FileArtifacts(folder)):
        assert not reader.holds(digest)
        with pytest.raises(StaleArtifactError) as refused:
            reader.get(digest)
        told = str(refused.value)
        assert str(path) in told
        assert "must be" in told
        assert ", was " in told
        assert (
            f"Restore it, or delete {object_folder(folder, digest)} and run again: it will be remade"
            in told
        )


@pytest.mark.faults
def test_a_file_with_the_old_size_and_time_is_still_found_edited(
    store: FileArtifacts, folder: Path
) -> None:
    digest = store.put(report())
    assert store.holds(digest)
    path = object_folder(folder, digest) / "files/policy.safetensors"
    before = path.stat()
    with path.open("r+b") as file:
        file.write(b"\xff")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not store.holds(digest)


@pytest.mark.faults
@pytest.mark.parametrize("name", ["files/policy.safetensors", "manifest.json", "envelope.json"])
def test_an_artifact_without_one_of_its_files_is_stale(
    store: FileArtifacts, folder: Path, name: str
) -> None:
    digest = store.put(report())
    (object_folder(folder, digest) / name).unlink()
    assert not store.holds(digest)
    with pytest.raises(StaleArtifactError, match="must be a file, was none"):
        store.get(digest)


@pytest.mark.faults
def test_a_damaged_copy_is_set_aside_and_remade_by_the_next_put(
    store: FileArtifacts, folder: Path
) -> None:
    artifact = report()
    digest = store.put(artifact)
    for n in (1, 2):
        path = object_folder(folder, digest) / "files/policy.safetensors"
        path.write_bytes(b"tampered")
        assert store.recall("memo") is None
        assert store.put(artifact) == digest
        assert store.get(digest) == artifact
        assert (
            folder / "set-aside" / f"{digest}.{n}" / "files/policy.safetensors"
        ).read_bytes() == b"tampered"


def test_a_memo_is_recalled_by_every_process(store: FileArtifacts, folder: Path) -> None:
    digest, other = store.put(report()), store.put(report(seed=8))
    for memo in ("c" * 64, "evaluation_report f0|a-000000000000", "../x", ""):
        assert store.recall(memo) is None
        store.remember(memo, digest)
        assert FileArtifacts(folder).recall(memo) == digest
        store.remember(memo, other)
        assert store.recall(memo) == other


@pytest.mark.faults
def test_a_memo_whose_artifact_or_note_was_damaged_recalls_nothing(
    store: FileArtifacts, folder: Path
) -> None:
    digest, other = store.put(report()), store.put(report(seed=8))
    store.remember("c" * 64, digest)
    (note,) = (folder / "memo").rglob("*.json")
    whole = note.read_text()
    for damage in (
        whole[:40],
        "",
        "[]",
        "{}",
        whole.replace(digest, other),
        whole.replace("c" * 64, "d" * 64),
    ):
        note.write_text(damage)
        assert store.recall("c" * 64) is None
    note.write_text(whole)
    assert store.recall("c" * 64) == digest
    (object_folder(folder, digest) / "files/seeds/7.json").write_bytes(b"x")
    assert store.recall("c" * 64) is None


def test_a_draft_is_replaced_read_and_forgotten(store: FileArtifacts, folder: Path) -> None:
    for key in ("train_seed f0|a-000000000000 7", "k" * 64, "K" * 64):
        assert store.draft(key) is None
        store.keep_draft(key, b"one\ntwo\n" + key.encode())
        store.keep_draft(key, b"three\n\x00" + key.encode())
        assert FileArtifacts(folder).draft(key) == b"three\n\x00" + key.encode()
    store.drop_draft("k" * 64)
    store.drop_draft("k" * 64)
    assert store.draft("k" * 64) is None
    assert store.draft("K" * 64) is not None


@pytest.mark.faults
def test_a_damaged_draft_is_no_draft(store: FileArtifacts, folder: Path) -> None:
    store.keep_draft("k", b"weights")
    (path,) = (folder / "drafts").iterdir()
    whole = path.read_bytes()
    for damage in (
        whole[:-1],
        whole + b"x",
        b"",
        b"\n",
        whole[:20],
        whole.replace(b"weights", b"Weights"),
    ):
        path.write_bytes(damage)
        assert store.draft("k") is None
    store.keep_draft("other", b"weights")
    (folder / "drafts" / "other.draft").replace(path)
    assert store.draft("k") is None


def test_two_processes_that_put_the_same_leave_one_copy(folder: Path, start: Start) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from alphaswarm_assets.records.manifest import pack\n"
        "from alphaswarm_resources.artifacts_fs import FileArtifacts\n"
        "for n in range(20):\n"
        "    store = FileArtifacts(Path(sys.argv[1]))\n"
        "    made = {'payload': {'a': bytes([n]) * 1000}, 'envelope': {'by': sys.argv[2]}}\n"
        "    print(store.put(pack(kind='report', spec_hash=None, **made)))\n"
    )
    children = [start(code, folder, n) for n in range(3)]
    told = [child.communicate(timeout=60) for child in children]
    assert [err for _, err in told] == ["", "", ""]
    assert len({out for out, _ in told}) == 1
    store = FileArtifacts(folder)
    for digest in told[0][0].split():
        assert {str(envelope["by"]) for envelope in store.envelopes(digest)} == {"0", "1", "2"}


def test_holding_what_was_verified_costs_no_reading(store: FileArtifacts) -> None:
    digest = store.put(report(payload={"big": bytes(30_000_000)}))
    began = time.perf_counter()
    assert store.holds(digest)
    first_s = time.perf_counter() - began
    began = time.perf_counter()
    assert store.holds(digest)
    assert time.perf_counter() - began < first_s / 3
