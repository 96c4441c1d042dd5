"""A study asked for in the browser: the daemon takes it to a verdict and a paper pack."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from alphaswarm_assets.definitions import House, compose
from tests.graph.conftest import tiny_spec, write_bars
from tests.ui.conftest import Visit
from tests.ui.served import serving

VERDICT_S = 240.0
"""Forty seconds on a quiet machine with two processors."""


@pytest.mark.ui
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_study_launched_in_the_browser_ends_in_a_verdict_and_a_paper_pack(
    visit: Callable[[], Visit], tmp_path: Path
) -> None:
    house, spec = compose(tmp_path / "home"), tiny_spec()
    write_bars(house.home / "bars" / "tiny.csv")
    house.initialise()
    house.specs.register(spec)
    page = visit().page
    with serving(house, daemon=True) as address:
        page.goto(f"{address}/jobs")
        page.get_by_text("research", exact=True).first.click()
        page.get_by_text("Launchpad", exact=True).click()
        page.locator(".CodeMirror").first.click()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type(f"spec: {spec.key}")
        page.get_by_role("button", name="Launch Run").click()
        page.get_by_text("RUN_SUCCESS").first.wait_for(timeout=90_000)

        assert closing_note(house) == "done: the verdict is PASS"
        page.goto(f"{address}/assets/promotion_verdict?view=partitions&partition={spec.key}")
        page.get_by_role("heading", name=f"PASS: {spec.key}").wait_for()
        page.goto(f"{address}/assets/paper_pack?view=partitions&partition={spec.key}")
        page.get_by_text("accepted", exact=True).first.wait_for()
        page.goto("about:blank")  # a page that loses its server says so on the console


def closing_note(house: House) -> str:
    """Wait until the sensor closes the study, and return what it noted."""
    deadline_s = time.monotonic() + VERDICT_S
    while True:
        last = house.requests.rows()[-1].body
        if last["event"] == "closed":
            return str(last["note"])
        assert time.monotonic() < deadline_s, [run.status for run in house.instance.get_runs()]
        time.sleep(0.5)
