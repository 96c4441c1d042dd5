"""The brake as files: one for each halted key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from alphaswarm_assets.errors import StoreError
from alphaswarm_assets.ports import HaltSwitch
from alphaswarm_resources.durable import Scratch, file_name, storing
from alphaswarm_resources.halt_reasons import unreachable, worded

_STORE = "halt switch"


class FileHaltSwitch(HaltSwitch):
    """A switch whose state is which files there are in one folder.

    A file is made and taken away in one atomic step that waits for nobody: a stalled process must not keep an operator
    from braking. A folder that is not there reads as halted and is never made on the way, since an empty one would let
    everything run.
    """

    def __init__(self, folder: Path) -> None:
        """Use the switch in *folder*, which `create_stores` makes."""
        self._folder = folder
        with storing(_STORE, folder):
            self._scratch = Scratch(folder / "tmp")

    def reason(self, key: str) -> str | None:
        """Return why *key* is halted, or None if it may run; an unreachable switch reads as halted, with the cause."""
        if not self._folder.is_dir():
            return unreachable(self._absent())
        path = self._path(key)
        try:
            return _note(path)["reason"]
        except FileNotFoundError:
            return None
        except OSError as error:
            return unreachable(str(error))

    def engage(self, key: str, reason: str) -> bool:
        """Halt *key* for *reason*; return False, and change nothing, if it is halted already.

        Raises
        ------
        StoreError
            If the halt cannot be written.
        """
        note = json.dumps({"key": key, "reason": worded(reason)}, indent=2).encode()
        self._require_folder()
        with storing(_STORE, self._folder):
            return self._scratch.create(self._path(key), note)

    def release(self, key: str) -> str | None:
        """Let *key* run again and return the reason it was halted for, None if it was not.

        Raises
        ------
        StoreError
            If the halt cannot be taken away.
        """
        self._require_folder()
        with storing(_STORE, self._folder), self._scratch.path() as taken:
            try:
                # Of two that release at once, one moves the file and learns the reason.
                self._path(key).rename(taken)
            except FileNotFoundError:
                return None
            return _note(taken)["reason"]

    def engaged(self) -> Mapping[str, str]:
        """Return every halted key with its reason.

        Raises
        ------
        StoreError
            If the switch cannot be read: an empty answer would say that nothing is halted.
        """
        self._require_folder()
        halted: dict[str, str] = {}
        with storing(_STORE, self._folder):
            for path in sorted(self._folder.glob("*.json")):
                with suppress(FileNotFoundError):
                    note = _note(path)
                    halted[note["key"]] = note["reason"]
        return halted

    def _path(self, key: str) -> Path:
        return self._folder / file_name(key, ".json")

    def _require_folder(self) -> None:
        if not self._folder.is_dir():
            raise StoreError(self._absent())

    def _absent(self) -> str:
        return (
            f"there is no folder {self._folder}, and with it every halt is lost. Restore it, or make it empty by hand "
            "once you know that nothing has to stay halted"
        )


def _note(path: Path) -> dict[str, str]:
    """Return key and reason; a file that cannot be understood halts the key its name is made of."""
    data = path.read_bytes()
    try:
        note: object = json.loads(data)
        match note:
            case {"key": str(key), "reason": str(reason)} if reason:
                return {"key": key, "reason": reason}
            case _:
                pass
    except ValueError:
        pass
    return {"key": path.stem, "reason": unreachable(f"{path.name} holds {data[:40]!r}")}
