"""A disk that can be filled."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass
class Disk:
    """A real filesystem of a few hundred kilobytes."""

    folder: Path

    def fill(self, *, leaving: int = 0) -> None:
        """Leave at most *leaving* bytes free."""
        state = os.statvfs(self.folder)
        spare = state.f_bavail * state.f_frsize - leaving
        with (self.folder / "filler").open("ab") as file:
            file.write(bytes(max(0, spare)))

    def free(self) -> None:
        (self.folder / "filler").unlink()

    def grow(self, size: str) -> None:
        subprocess.run(["mount", "-o", f"remount,size={size}", str(self.folder)], check=True)


def mounting(tmp_path: Path) -> Iterator[Disk]:
    """Yield a small disk, or skip where none can be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip(
            "mounting a small disk needs root; the limit on a file's size is tested instead"
        )
    yield Disk(folder)
    subprocess.run(["umount", "-l", str(folder)], check=True)
