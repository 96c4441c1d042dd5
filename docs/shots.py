"""Take the pictures of the UI that the documents show, from a home where a study passed and another was refused.

``python docs/shots.py HOME OUT``; needs Chromium, and playwright from the extra ``dev``. `make demo` makes such a home.
"""  # noqa: INP001 -- a script, not a package

from __future__ import annotations

import io
import shutil
import sys
import tempfile
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image

from alphaswarm_assets.cli.services import start, stop
from alphaswarm_assets.cli.serving import HOST, free_port
from alphaswarm_assets.definitions import House, compose

ANSWER_S = 120.0
SETTLE_MS = 2500
N_COLOURS = 96
MOST_BYTES = 150_000
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


def main() -> None:
    """Write every picture into the folder the second argument names."""
    home, out = (Path(argument) for argument in sys.argv[1:])
    house = compose(home)
    views = [house.verdict(key) for key in list(house.specs.keys())]
    by_decision = {view.decision: view.key for view in views if view is not None}
    missing = sorted({"PASS", "REJECT"} - set(by_decision))
    if missing:
        sys.exit(f"{home} has no study whose verdict is {' or '.join(missing)}; run `make demo`")
    passed, refused = by_decision["PASS"], by_decision["REJECT"]
    out.mkdir(parents=True, exist_ok=True)
    with _serving(house) as address, _browsing() as page:
        page.goto(f"{address}/asset-groups")
        page.get_by_text("Hide navigation").click()
        _take_graph(page, out / "asset-graph.png")
        for asset, key, name, height in (
            ("promotion_verdict", refused, "verdict-reject", 1250),
            ("promotion_verdict", passed, "verdict-pass", 1250),
            ("paper_pack", passed, "paper-pack", 900),
        ):
            page.set_viewport_size({"width": 1360, "height": height})
            page.goto(f"{address}/assets/{asset}?view=partitions&partition={key}")
            page.get_by_text("memo_key", exact=True).wait_for()
            _keep(page, out / f"{name}.png")


@contextmanager
def _serving(house: House) -> Generator[str]:
    port = free_port(None)
    arguments = ["-h", HOST, "-p", str(port), *house.workspace_arguments()]
    environment, logs = house.child_environment(), house.home / "logs"
    service = start("shots", "dagster_webserver", arguments, environment=environment, logs=logs)
    deadline_s = time.monotonic() + ANSWER_S
    try:
        while not _answers(f"http://{HOST}:{port}/server_info"):
            if service.process.poll() is not None or time.monotonic() > deadline_s:
                sys.exit(f"the UI did not start:\n{service.last_words()}")
            time.sleep(0.25)
        yield f"http://{HOST}:{port}"
    finally:
        stop([service])


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=2.0):  # noqa: S310 -- our own server
            return True
    except OSError:
        return False


@contextmanager
def _browsing() -> Generator[Any]:
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        sys.exit("no Chromium on this machine: apt-get install --no-install-recommends chromium")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as profile:
        context = playwright.chromium.launch_persistent_context(
            profile,
            executable_path=found,
            headless=True,
            args=FLAGS,
            viewport={"width": 1560, "height": 660},
        )
        yield context.new_page()
        context.close()


def _take_graph(page: Any, path: Path) -> None:
    page.get_by_text("Materialize all").wait_for()
    beside = page.get_by_placeholder("Jump to").locator("xpath=following::button[1]")
    beside.click()  # the list of groups: the graph needs the room
    page.wait_for_timeout(SETTLE_MS)
    page.keyboard.press("Alt+e")
    page.get_by_text("paper_pack", exact=True).first.wait_for()
    _keep(page, path)


def _keep(page: Any, path: Path) -> None:
    """Write what *page* shows as a PNG of few colours: words and lines need no more of them."""
    page.wait_for_timeout(SETTLE_MS)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    reduced = picture.quantize(
        colors=N_COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE
    )
    reduced.save(path, format="PNG", optimize=True)
    size = path.stat().st_size
    if size > MOST_BYTES:
        sys.exit(f"{path} must be at most {MOST_BYTES:,} bytes, was {size:,}")
    sys.stdout.write(f"{path}  {size / 1000:.0f} kB\n")


if __name__ == "__main__":
    main()
