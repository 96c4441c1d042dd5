"""How far long steps are, as one small file a topic."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from alphaswarm_assets.ports import Progress, ProgressBoard
from alphaswarm_resources.durable import Scratch, file_name


class FileProgressBoard(ProgressBoard):
    """Progress under one folder, for any process of this machine to read."""

    def __init__(self, folder: Path) -> None:
        """Use the board in *folder*, which is made when it is needed."""
        self._folder = folder
        self._scratch = Scratch(folder / "tmp")

    def post(self, topic: str, progress: Progress) -> None:
        """Replace the progress of *topic*.

        A report that cannot be written is dropped: a step must not fail because nobody can watch it.
        """
        values = {name: float(value) for name, value in progress.values.items()}
        report = {**asdict(progress), "topic": topic, "values": values}
        with suppress(OSError):
            self._scratch.replace(self._path(topic), json.dumps(report).encode(), durable=False)

    def read(self, prefix: str) -> Mapping[str, Progress]:
        """Return the progress of every topic that starts with *prefix*, by topic."""
        return dict(sorted((topic, progress) for topic, progress, _ in self._reports(prefix)))

    def clear(self, prefix: str) -> None:
        """Forget every topic that starts with *prefix*."""
        for _, _, path in self._reports(prefix):
            with suppress(OSError):
                path.unlink()

    def _path(self, topic: str) -> Path:
        return self._folder / file_name(topic, ".json")

    def _reports(self, prefix: str) -> Iterator[tuple[str, Progress, Path]]:
        for path in self._folder.glob("*.json"):
            # A report that is gone or garbled by the time it is read says nothing; the next one will.
            with suppress(OSError, ValueError, KeyError, TypeError):
                report = cast("dict[str, Any]", json.loads(path.read_bytes()))
                topic = str(report.pop("topic"))
                if topic.startswith(prefix):
                    yield topic, Progress(**report), path
