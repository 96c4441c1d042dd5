"""One stored artifact: its folder, how it is written, and the checks without which nothing of it is read."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, cast

from alphaswarm_assets.errors import InvalidInputError, MissingArtifactError, StaleArtifactError
from alphaswarm_assets.records.canonical import JsonObject, digest_bytes, digest_json, pretty_json
from alphaswarm_assets.records.manifest import Artifact, Content
from alphaswarm_resources.durable import make_folder, sync_folder, write_new

Signature: TypeAlias = tuple[tuple[int, int, int, int], ...]
"""Size, inode and the two times of every file: it changes when a file does."""

_PART = r"[A-Za-z0-9_][A-Za-z0-9._=+-]{0,119}"
_NAME = re.compile(rf"{_PART}(/{_PART}){{0,3}}")
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class ObjectFolder:
    """The folder of the artifact *digest*: ``manifest.json``, ``envelope.json`` and ``files/``."""

    path: Path
    digest: str

    def manifest(self) -> Content:
        """Return the content manifest.

        Raises
        ------
        MissingArtifactError
            If there is no such folder.
        StaleArtifactError
            If the manifest is missing or is not, byte for byte, the one with this digest.
        """
        if not self.path.is_dir():
            raise MissingArtifactError(
                f"no artifact {self.digest} at {self.path}. Run the spec again: what is missing will be remade"
            )
        data = self._present("manifest.json").read_bytes()
        try:
            content = Content.from_json(cast("dict[str, object]", json.loads(data)))
            whole = pretty_json(content.to_json()).encode() == data
        except (StaleArtifactError, ValueError, KeyError, TypeError, AttributeError) as error:
            found = f"{digest_bytes(data)} ({error})"
            raise self._stale("manifest.json", self.digest, found) from error
        # A manifest with an entry that nobody reads is not the one that was written, though its digest is.
        found = content.digest if whole else digest_bytes(data)
        if found != self.digest:
            raise self._stale("manifest.json", self.digest, found)
        return content

    def payload(self, content: Content) -> dict[str, bytes]:
        """Return the bytes of every file of *content*.

        Raises
        ------
        StaleArtifactError
            If a file is missing or has another hash than *content* says.
        """
        payload = {name: self._present(_inside(name)).read_bytes() for name in content.files}
        for name, data in payload.items():
            self._expect(name, content.files[name], digest_bytes(data))
        return payload

    def verify(self, content: Content) -> None:
        """Read every file of *content* once, without keeping it.

        Raises
        ------
        StaleArtifactError
            If a file is missing or is not what was stored.
        """
        for name, expected in content.files.items():
            sha = hashlib.sha256()
            with self._present(_inside(name)).open("rb") as file:
                while chunk := file.read(_CHUNK):
                    sha.update(chunk)
            self._expect(name, expected, sha.hexdigest())
        self.envelope()

    def envelope(self) -> JsonObject:
        """Return the envelope of the copy that stands here.

        Raises
        ------
        StaleArtifactError
            If it is missing or is not what was stored.
        """
        return open_envelope(self._present("envelope.json"))

    def signature(self, content: Content) -> Signature:
        """Return what changes when a file does.

        Raises
        ------
        StaleArtifactError
            If a file is missing.
        """
        names = ["manifest.json", "envelope.json", *map(_inside, content.files)]
        states = [self._present(name).stat() for name in names]
        return tuple((s.st_size, s.st_ino, s.st_mtime_ns, s.st_ctime_ns) for s in states)

    def _present(self, name: str) -> Path:
        path = self.path / name
        if not path.is_file():
            raise self._stale(name, "a file", "none")
        return path

    def _expect(self, name: str, expected: str, found: str) -> None:
        if expected != found:
            raise self._stale(_inside(name), expected, found)

    def _stale(self, name: str, expected: str, found: str) -> StaleArtifactError:
        return StaleArtifactError(_changed(self.path / name, self.path, expected, found))


def check_name(name: str) -> None:
    """Refuse a name that a stored file cannot have everywhere, or that would lead out of its folder.

    Raises
    ------
    InvalidInputError
        If *name* is not up to four parts of letters, digits and ``._=+-``, joined by slashes, none starting with a dot.
    """
    if not _NAME.fullmatch(name):
        raise InvalidInputError(
            "the name of a stored file must be up to four parts of letters, digits and ._=+- joined by /, "
            f"none starting with a dot, was {name!r}"
        )


def check_artifact(artifact: Artifact) -> None:
    """Refuse an artifact whose payload is not what its manifest lists.

    Raises
    ------
    InvalidInputError
        If a file is missing, is one too many or has another hash, or has a name it cannot have.
    """
    for name in artifact.payload:
        check_name(name)
    expected = dict(artifact.content.files)
    found = {name: digest_bytes(data) for name, data in artifact.payload.items()}
    if found != expected:
        raise InvalidInputError(f"the payload must hold the files {expected!r}, was {found!r}")


def write_object(folder: Path, artifact: Artifact) -> None:
    """Write *artifact* into the new *folder* and wait until every byte and name of it is on the disk."""
    folder.mkdir()
    (folder / "files").mkdir()
    for name, data in artifact.payload.items():
        path = folder / _inside(name)
        make_folder(path.parent)
        write_new(path, data)
        sync_folder(path.parent)
    write_new(folder / "manifest.json", pretty_json(artifact.content.to_json()).encode())
    write_new(folder / "envelope.json", seal_envelope(artifact.envelope))
    sync_folder(folder / "files")
    sync_folder(folder)


def seal_envelope(envelope: JsonObject) -> bytes:
    """Return *envelope* with its digest beside it, as it is written."""
    return pretty_json({"digest": digest_json(envelope), "envelope": envelope}).encode()


def open_envelope(path: Path) -> JsonObject:
    """Return the envelope that `seal_envelope` wrote to *path*.

    Raises
    ------
    StaleArtifactError
        If it is not what was written.
    """
    data = path.read_bytes()
    try:
        envelope = cast("JsonObject", json.loads(data)["envelope"])
        whole = seal_envelope(envelope) == data
    except (ValueError, KeyError, TypeError):
        whole, envelope = False, {}
    if not whole:
        raise StaleArtifactError(
            _changed(path, path.parent, "an envelope under its own digest", digest_bytes(data))
        )
    return envelope


def _inside(name: str) -> str:
    return f"files/{name}"


def _changed(path: Path, folder: Path, expected: str, found: str) -> str:
    return (
        f"{path} must be {expected}, was {found}: it was changed after it was written. "
        f"Restore it, or delete {folder} and run again: it will be remade"
    )
