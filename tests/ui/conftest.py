"""A real browser on a real UI; without one, these tests skip and say how to get it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
WAIT_MS = 30_000


@dataclass
class Visit:
    """A browser's page, and what it did that it should not."""

    page: Any
    errors: list[str] = field(default_factory=list[str])
    outside: list[str] = field(default_factory=list[str])

    def watch(self) -> None:
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self._note(request.url))

    def _note(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme in {"http", "https", "ws", "wss"} and parts.hostname != "127.0.0.1":
            self.outside.append(url)


def _browser() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if (found := shutil.which(name)) is not None:
            return found
    pytest.skip("no Chromium on this machine: apt-get install --no-install-recommends chromium")


@pytest.fixture
def visit(tmp_path: Path) -> Iterator[Callable[[], Visit]]:
    """Open a page in a headless Chromium; at the end it must have failed nowhere, and asked nobody else."""
    api = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install playwright")
    executable = _browser()
    opened: list[Visit] = []
    with ExitStack() as stack:

        def visit() -> Visit:
            playwright = stack.enter_context(api.sync_playwright())
            context = playwright.chromium.launch_persistent_context(
                str(tmp_path / f"profile{len(opened)}"),
                executable_path=executable,
                headless=True,
                args=FLAGS,
                viewport={"width": 1600, "height": 1000},
            )
            stack.callback(context.close)
            page = context.new_page()
            page.set_default_timeout(WAIT_MS)
            opened.append(Visit(page))
            opened[-1].watch()
            return opened[-1]

        yield visit
    assert [seen.errors for seen in opened] == [[] for _ in opened]
    assert [seen.outside for seen in opened] == [[] for _ in opened]
