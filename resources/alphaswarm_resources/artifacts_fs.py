"""Artifacts on a filesystem, by content digest: written whole, verified whenever they are read."""

from __future__ import annotations

import re
from pathlib import Path

from alphaswarm_assets.errors import InvalidInputError, MissingArtifactError, StaleArtifactError
from alphaswarm_assets.ports import Artifacts
from alphaswarm_assets.records.canonical import JsonObject, digest_json
from alphaswarm_assets.records.manifest import Artifact, Content
from alphaswarm_resources.durable import Scratch, make_folder, storing, sync_folder
from alphaswarm_resources.locks_fs import FileLocks
from alphaswarm_resources.memo_fs import Drafts, Memos
from alphaswarm_resources.object_folder import (
    ObjectFolder,
    Signature,
    check_artifact,
    open_envelope,
    seal_envelope,
    write_object,
)

_DIGEST = re.compile(r"[0-9a-f]{64}")
_STORE = "artifact store"


class FileArtifacts(Artifacts):
    """Artifacts under one folder.

    ``objects/<2>/<digest>/`` holds the manifest, the envelope of the first copy and the files; ``envelopes/<digest>/``
    the envelopes of later equal copies; ``memo/`` what answered which memo key; ``drafts/`` what a killed step resumes
    from; ``set-aside/`` copies that were damaged and have been remade.
    """

    def __init__(self, folder: Path) -> None:
        """Use the store in *folder*, which is made when it is needed, and sweep out what dead writers left."""
        self._folder = folder
        with storing(_STORE, folder):
            self._scratch = Scratch(folder / "tmp")
        self._locks = FileLocks(folder / "locks")
        self._memos = Memos(folder / "memo", self._scratch)
        self._drafts = Drafts(folder / "drafts", self._scratch)
        self._verified: dict[str, Signature] = {}

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
        check_artifact(artifact)
        with storing(_STORE, self._folder):
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
        with storing(_STORE, self._folder):
            stored = self._object(digest)
            content = stored.manifest()
            return Artifact(
                content=content, envelope=stored.envelope(), payload=stored.payload(content)
            )

    def manifest(self, digest: str) -> Content:
        """Return the verified content manifest alone, without reading the files.

        Raises
        ------
        MissingArtifactError
            If the artifact is not there.
        StaleArtifactError
            If the manifest is not what was stored.
        """
        with storing(_STORE, self._folder):
            return self._object(digest).manifest()

    def holds(self, digest: str) -> bool:
        """Return whether the artifact is there and every byte of it verifies.

        A file this process has verified is read again only after it changed.
        """
        stored = self._object(digest)
        try:
            with storing(_STORE, self._folder):
                content = stored.manifest()
                signature = stored.signature(content)
                if self._verified.get(digest) != signature:
                    stored.verify(content)
                    self._verified[digest] = signature
        except (MissingArtifactError, StaleArtifactError):
            return False
        return True

    def envelopes(self, digest: str) -> list[JsonObject]:
        """Return the envelope of every copy that was stored: the first copy's, then the others by their digest.

        Raises
        ------
        MissingArtifactError
            If the artifact is not there.
        StaleArtifactError
            If an envelope is not what was stored.
        """
        with storing(_STORE, self._folder):
            stored = self._object(digest)
            stored.manifest()
            later = sorted(self._later_envelopes(digest).glob("*.json"))
            return [stored.envelope(), *map(open_envelope, later)]

    def remember(self, memo_key: str, digest: str) -> None:
        """Note that *memo_key* was answered by the artifact *digest*.

        Raises
        ------
        MissingArtifactError
            If that artifact is not there.
        StoreError
            If the note cannot be written.
        """
        with storing(_STORE, self._folder):
            self._object(digest).manifest()
            self._memos.write(memo_key, digest)

    def recall(self, memo_key: str) -> str | None:
        """Return the digest noted for *memo_key* if that artifact still verifies."""
        with storing(_STORE, self._folder):
            digest = self._memos.read(memo_key)
        return digest if digest is not None and self.holds(digest) else None

    def keep_draft(self, key: str, data: bytes) -> None:
        """Write *data* atomically as the draft *key*: a snapshot a killed step resumes from.

        Raises
        ------
        StoreError
            If it cannot be written; the draft before it stays.
        """
        with storing(_STORE, self._folder):
            self._drafts.write(key, data)

    def draft(self, key: str) -> bytes | None:
        """Return the draft *key*, or None if there is none or it does not verify."""
        with storing(_STORE, self._folder):
            return self._drafts.read(key)

    def drop_draft(self, key: str) -> None:
        """Forget the draft *key*."""
        with storing(_STORE, self._folder):
            self._drafts.drop(key)

    def _object(self, digest: str) -> ObjectFolder:
        if not _DIGEST.fullmatch(digest):
            raise InvalidInputError(
                f"the digest of an artifact must be 64 hex digits, was {digest!r}"
            )
        return ObjectFolder(self._folder / "objects" / digest[:2] / digest, digest)

    def _place(self, artifact: Artifact) -> bool:
        target = self._object(artifact.digest).path
        with self._scratch.path() as temporary:
            write_object(temporary, artifact)
            make_folder(target.parent)
            with self._locks.hold("place", wait_s=60.0):
                if self.holds(artifact.digest):
                    return False
                if target.exists():
                    self._set_aside(target)
                temporary.rename(target)
            sync_folder(target.parent)
        return True

    def _set_aside(self, damaged: Path) -> None:
        aside = self._folder / "set-aside"
        make_folder(aside)
        candidates = (aside / f"{damaged.name}.{n}" for n in range(1, 10_000))
        damaged.rename(next(path for path in candidates if not path.exists()))

    def _add_envelope(self, artifact: Artifact) -> None:
        first = self._object(artifact.digest).envelope()
        sealed = seal_envelope(artifact.envelope)
        if sealed != seal_envelope(first):
            name = f"{digest_json(artifact.envelope)[:12]}.json"
            self._scratch.create(self._later_envelopes(artifact.digest) / name, sealed)

    def _later_envelopes(self, digest: str) -> Path:
        return self._folder / "envelopes" / digest
