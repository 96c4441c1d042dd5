"""What a person sees in the Dagster UI who has never seen the code: the graph, and the page of a refusal."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from alphaswarm_assets.definitions import House, compose
from alphaswarm_assets.drive.cells import cells_of
from alphaswarm_assets.specs.research import ResearchSpec
from tests.graph.conftest import tiny_spec, write_bars
from tests.ui.conftest import Visit
from tests.ui.served import serving

pytestmark = [pytest.mark.ui, pytest.mark.slow]


@pytest.fixture(scope="module")
def refused(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[House, ResearchSpec]:
    house = compose(tmp_path_factory.mktemp("pages") / "home")
    write_bars(house.home / "bars" / "tiny.csv")
    house.initialise()
    spec = tiny_spec(promotion="promotion: {min_sharpe: 50, min_seeds: 2}")
    house.run(spec, watch=lambda _: None)
    return house, spec


@pytest.fixture(scope="module")
def address(refused: tuple[House, ResearchSpec]) -> Iterator[str]:
    with serving(refused[0], daemon=False) as address:
        yield address


def test_the_graph_shows_every_asset_in_its_stage(
    visit: Callable[[], Visit], address: str, refused: tuple[House, ResearchSpec]
) -> None:
    page = visit().page
    page.goto(f"{address}/asset-groups")
    page.get_by_text("Materialize all").wait_for()
    page.get_by_text("rehearse").first.wait_for()
    page.wait_for_timeout(1500)  # the graph hears no key before it has laid itself out
    page.keyboard.press("Alt+e")
    for cell in cells_of(refused[1]):
        page.get_by_text(cell.asset, exact=True).first.wait_for()


def test_the_page_of_a_verdict_opens_with_the_decision_and_the_gate_that_refused(
    visit: Callable[[], Visit], address: str, refused: tuple[House, ResearchSpec]
) -> None:
    page = visit().page
    page.goto(f"{address}/assets/promotion_verdict?view=partitions&partition={refused[1].key}")
    page.get_by_role("heading", name=f"REJECT: {refused[1].key}").wait_for()
    page.get_by_text("min_sharpe: threshold_failed (needs sharpe >= 50").wait_for()
    gate = page.get_by_role("row").filter(has_text="min_sharpe").filter(has_text="≥ 50").last
    assert "✗ threshold failed" in gate.inner_text().replace("\u00a0", " ")
    equity = page.get_by_role("img", name="equity")
    assert equity.evaluate("image => image.decode().then(() => image.naturalWidth)") > 300
    keys = page.locator("table").first.inner_text()
    assert keys.index("decision") < keys.index("gates") < keys.index("policies")
    assert keys.index("policies") < keys.index("digest")


def test_a_gate_is_a_check_with_a_page_of_its_own(
    visit: Callable[[], Visit], address: str, refused: tuple[House, ResearchSpec]
) -> None:
    page = visit().page
    page.goto(f"{address}/assets/promotion_verdict?view=checks&checkDetail=min_sharpe")
    page.get_by_text("Sharpe ratio a year, net of costs, mean over seeds").wait_for()
    page.get_by_text("needs ≥ 50").wait_for()
    page.get_by_text(refused[1].key).first.wait_for()


def test_what_was_refused_has_no_model_and_no_paper_pack(
    visit: Callable[[], Visit], address: str, refused: tuple[House, ResearchSpec]
) -> None:
    page = visit().page
    for asset in ("registered_model", "paper_pack"):
        page.goto(f"{address}/assets/{asset}?view=partitions&partition={refused[1].key}")
        page.get_by_text("Missing (1)").wait_for()
        page.get_by_text("No metadata entries").wait_for()
