"""Small files with a checksum of their own: which artifact answered a memo key, and what a killed step resumes from."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from alphaswarm_assets.records.canonical import pretty_json
from alphaswarm_resources.durable import Scratch, file_name

_DRAFT = b"alphaswarm.draft/1 "


@dataclass(frozen=True, slots=True)
class Memos:
    """Digests by memo key."""

    folder: Path
    scratch: Scratch

    def write(self, memo_key: str, digest: str) -> None:
        """Note *digest* under *memo_key*."""
        self.scratch.replace(self._path(memo_key), _sealed_memo(memo_key, digest))

    def read(self, memo_key: str) -> str | None:
        """Return the digest under *memo_key*, or None if there is none or the note does not verify."""
        try:
            data = self._path(memo_key).read_bytes()
            digest = str(json.loads(data)["digest"])
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None
        return digest if data == _sealed_memo(memo_key, digest) else None

    def _path(self, memo_key: str) -> Path:
        name = file_name(memo_key, ".json")
        return self.folder / name[:2] / name


@dataclass(frozen=True, slots=True)
class Drafts:
    """Bytes by key, behind a header that tells whether they are whole."""

    folder: Path
    scratch: Scratch

    def write(self, key: str, data: bytes) -> None:
        """Replace the draft *key* by *data*."""
        self.scratch.replace(self._path(key), _header(key, data) + data)

    def read(self, key: str) -> bytes | None:
        """Return the draft *key*, or None if there is none or it does not verify."""
        try:
            header, _, data = self._path(key).read_bytes().partition(b"\n")
        except FileNotFoundError:
            return None
        return data if header + b"\n" == _header(key, data) else None

    def drop(self, key: str) -> None:
        """Forget the draft *key*."""
        self._path(key).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / file_name(key, ".draft")


def _sealed_memo(memo_key: str, digest: str) -> bytes:
    seal = hashlib.sha256(f"{memo_key}\n{digest}".encode()).hexdigest()
    return pretty_json({"memo_key": memo_key, "digest": digest, "seal": seal}).encode()


def _header(key: str, data: bytes) -> bytes:
    seal = hashlib.sha256(key.encode() + b"\n")
    seal.update(data)
    return _DRAFT + seal.hexdigest().encode() + b"\n"
