"""Artifacts on a filesystem, by content digest: written whole, verified whenever they are read."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias, cast

from alphaswarm_assets.errors import (
    InvalidInputError,
    MissingArtifactError,
    StaleArtifactError,
)
from alphaswarm_assets.ports import Artifacts
from alphaswarm_assets.records.canonical import (
    JsonObject,
    digest_bytes,
    digest_json,
    pretty_json,
)
from alphaswarm_assets.records.manifest import Artifact, Content
from alphaswarm_resources.durable import Scratch, file_name, make_folder, storing, sync_folder, write_new
from alphaswarm_resources.locks_fs import FileLocks
from alphaswarm_resources.memo_fs import Drafts, Memos

_DIGEST = re.compile(r"[0-9a-f]{64}")
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._=+-]*(/[A-Za-z0-9_][A-Za-z0-9._=+-]*){0,3}")
_CHUNK = 1 << 20
_Signature: TypeAlias = tuple[tuple[int, int, int, int], ...]


class FileArtifacts(Artifacts):
    """Artifacts under one folder.

    ``objects/<2>/<digest>/`` holds ``manifest.json``, the ``envelope.json`` of the first copy and ``files/``;
    ``envelopes/<digest>/`` the envelopes of later equal ones; ``memo/`` what answered which memo key; ``drafts/`` what
    a killed step resumes from.
    """

    def __init__(self, folder: Path) -> None:
        """Use the store in *folder*, which is made when it is needed, and sweep out what dead writers left."""
        self._folder = folder
        with storing("artifact store", folder):
            self._scratch = Scratch(folder / "tmp")
        self._locks = FileLocks(folder / "locks")
        self._memos = Memos(folder / "memo", self._scratch)
        self._drafts = Drafts(folder / "drafts", self._scratch)
        self._verified: dict[str, _Signature] = {}

    def put(self, artifact: Artifact) -> str:
        """Store *artifact* durably and return its content digest; storing it twice keeps the first copy.

        A copy that no longer verifies is moved to ``set-aside/`` and replaced.

        Raises
        ------
        InvalidInputError
            If the payload is not what the manifest lists, or a file has a name it cannot have.
        StoreError
            If the store cannot be written; nothing half-written stays.
        """
        _check_payload(artifact)
        with storing("artifact store", self._folder):
            if self.holds(artifact.digest) or not self._place(artifact):
                self._add_envelope(artifact)
        return artifact.digest

    def get(self, digest: str) -> Artifact:
        """Return the artifact with *digest* after verifying its manifest and every file.

        Raises
        ------
        MissingArtifactError
            If it is not there.
        StaleArtifactError
            If a file of it is missing or is not what was stored.
        """
        content = self.manifest(digest)
        with storing("artifact store", self._folder):
            payload = {name: self._read(digest, f"files/{name}") for name in content.files}
            for name, data in payload.items():
                self._expect(digest, f"files/{name}", content.files[name], digest_bytes(data))
            return Artifact(content=content, envelope=self._first_envelope(digest), payload=payload)

    def manifest(self, digest: str) -> Content:
        """Return the verified content manifest alone, without reading the files.

        Raises
        ------
        MissingArtifactError
            If the artifact is not there.
        StaleArtifactError
            If the manifest is not what was stored.
        """
        with storing("artifact store", self._folder):
            if not self._object(digest).is_dir():
                raise MissingArtifactError(
                    f"no artifact {digest} in {self._folder}. Run the spec again: what is missing will be remade"
                )
            data = self._read(digest, "manifest.json")
        try:
            content = Content.from_json(cast("dict[str, object]", json.loads(data)))
            as_written = pretty_json(content.to_json()).encode()
        except (ValueError, KeyError, TypeError, AttributeError):
            self._expect(digest, "manifest.json", digest, f"no manifest: {data[:40]!r}")
            raise
        # Bytes, not only the digest: a manifest with a key that nobody reads is not the one that was written.
        self._expect(digest, "manifest.json", digest, content.digest if data == as_written else digest_bytes(data))
        for name in content.files:
            _check_name(name)
        return content

    def holds(self, digest: str) -> bool:
        """Return whether the artifact is there and every byte of it verifies.

        A file that was verified by this process and has not changed since is not read again.
        """
        try:
            content = self.manifest(digest)
            with storing("artifact store", self._folder):
                signature = self._signature(digest, content)
                if self._verified.get(digest) != signature:
                    for name, expected in content.files.items():
                        self._expect(digest, f"files/{name}", expected, self._hash(digest, name))
                    self._first_envelope(digest)
                    self._verified[digest] = signature
        except (MissingArtifactError, StaleArtifactError):
            return False
        return True

    def envelopes(self, digest: str) -> list[JsonObject]:
        """Return the envelope of every copy that was stored: the first one's first, then the others by digest.

        Raises
        ------
        MissingArtifactError
            If the artifact is not there.
        StaleArtifactError
            If an envelope is not what was stored.
        """
        self.manifest(digest)
        with storing("artifact store", self._folder):
            later = sorted((self._folder / "envelopes" / digest).glob("*.json"))
            return [self._first_envelope(digest), *(_open_envelope(path) for path in later)]

    def remember(self, memo_key: str, digest: str) -> None:
        """Note that *memo_key* was answered by the artifact *digest*.

        Raises
        ------
        MissingArtifactError
            If that artifact is not there.
        StoreError
            If the note cannot be written.
        """
        self.manifest(digest)
        with storing("artifact store", self._folder):
            self._memos.write(memo_key, digest)

    def recall(self, memo_key: str) -> str | None:
        """Return the digest noted for *memo_key* if that artifact still verifies."""
        with storing("artifact store", self._folder):
            digest = self._memos.read(memo_key)
        return digest if digest is not None and self.holds(digest) else None

    def keep_draft(self, key: str, data: bytes) -> None:
        """Write *data* atomically as the draft *key*: a snapshot a killed step resumes from.

        Raises
        ------
        StoreError
            If it cannot be written; the draft before it stays.
        """
        with storing("artifact store", self._folder):
            self._drafts.write(key, data)

    def draft(self, key: str) -> bytes | None:
        """Return the draft *key*, or None if there is none or it does not verify."""
        with storing("artifact store", self._folder):
            return self._drafts.read(key)

    def drop_draft(self, key: str) -> None:
        """Forget the draft *key*."""
        with storing("artifact store", self._folder):
            self._drafts.drop(key)

    def _object(self, digest: str) -> Path:
        if not _DIGEST.fullmatch(digest):
            raise InvalidInputError(f"an artifact's digest must be 64 hex digits, was {digest!r}")
        return self._folder / "objects" / digest[:2] / digest

    def _place(self, artifact: Artifact) -> bool:
        target = self._object(artifact.digest)
        with self._scratch.path() as temporary:
            _write_object(temporary, artifact)
            make_folder(target.parent)
            with self._locks.hold("place", wait_s=60.0):
                if target.exists():
                    if self.holds(artifact.digest):
                        return False
                    self._set_aside(target)
                temporary.rename(target)
                sync_folder(target.parent)
        return True

    def _set_aside(self, damaged: Path) -> None:
        aside = self._folder / "set-aside"
        make_folder(aside)
        names = (aside / f"{damaged.name}.{n}" for n in range(1, 10_000))
        damaged.rename(next(path for path in names if not path.exists()))

    def _add_envelope(self, artifact: Artifact) -> None:
        if artifact.envelope != self._first_envelope(artifact.digest):
            name = f"{digest_json(artifact.envelope)[:12]}.json"
            sealed = _seal_envelope(artifact.envelope)
            self._scratch.create(self._folder / "envelopes" / artifact.digest / name, sealed)

    def _first_envelope(self, digest: str) -> JsonObject:
        return _open_envelope(self._object(digest) / "envelope.json")

    def _signature(self, digest: str, content: Content) -> _Signature:
        names = ["manifest.json", "envelope.json", *(f"files/{name}" for name in content.files)]
        return tuple(_state_of(self._present(digest, name)) for name in names)

    def _read(self, digest: str, name: str) -> bytes:
        return self._present(digest, name).read_bytes()

    def _hash(self, digest: str, name: str) -> str:
        sha = hashlib.sha256()
        with self._present(digest, f"files/{name}").open("rb") as file:
            while chunk := file.read(_CHUNK):
                sha.update(chunk)
        return sha.hexdigest()

    def _present(self, digest: str, name: str) -> Path:
        path = self._object(digest) / name
        if not path.is_file():
            self._expect(digest, name, "a file", "none")
        return path

    def _expect(self, digest: str, name: str, expected: str, found: str) -> None:
        if expected != found:
            raise _stale(self._object(digest), name, expected, found)
