from __future__ import annotations

import re
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from alphaswarm_assets.arrays import Float64Array, Int64Array
from alphaswarm_assets.defs.drawing import glance
from alphaswarm_assets.defs.pictures import MOST_LETTERS, equity_glance
from alphaswarm_assets.streams import Streams

SVG = "{http://www.w3.org/2000/svg}"


def days(n: int) -> Int64Array:
    return (np.datetime64("2008-01-02") + np.arange(n)).astype("datetime64[D]").astype(np.int64)


def wild(n: int, name: str) -> Float64Array:
    steps = Streams(3).generator(name).normal(0.0, 0.08, n)
    return np.exp(np.cumsum(steps, dtype=np.float64))


def lines_of(markdown: str) -> list[tuple[str, list[tuple[int, int]]]]:
    """Return colour and absolute points of every path in the picture."""
    found = re.match(
        r"!\[equity\]\(data:image/svg\+xml,([^ ()]*(?:\([^ ()]*\)[^ ()]*)*)\)\n\n", markdown
    )
    assert found is not None, markdown[:200]
    root = ET.fromstring(unquote(found[1]))  # noqa: S314 -- our own picture
    return [(str(p.get("stroke")), _walk(str(p.get("d")))) for p in root.iter(f"{SVG}path")]


def _walk(path: str) -> list[tuple[int, int]]:
    start, _, moves = path.removeprefix("M").partition("l")
    if not moves:  # the line of the start
        at, _, width = start.partition("h")
        x, y = (int(n) for n in at.split(","))
        return [(x, y), (x + int(width), y)]
    x, y = (int(n) for n in start.split(","))
    points = [(x, y)]
    numbers = [int(n) for n in re.findall(r"-?\d+", moves)]
    for dx, dy in zip(numbers[::2], numbers[1::2], strict=True):
        x, y = x + dx, y + dy
        points.append((x, y))
    return points


@pytest.mark.parametrize("n", [2, 3, 50, 2199, 20_000])
def test_the_picture_is_shown_in_place_however_wild_the_curves(n: int) -> None:
    curves = {"ensemble": wild(n, "a"), "equal_weight": wild(n, "b")}
    assert 0 < len(equity_glance(days(n), curves)) <= MOST_LETTERS


def test_the_lines_start_at_the_start_and_end_where_the_curves_do() -> None:
    rise, fall = np.linspace(1.0, 3.0, 500), np.linspace(1.0, 0.5, 500)
    grey, orange, blue = lines_of(equity_glance(days(500), {"up": rise, "down": fall}))
    top, bottom = glance.MARGIN_PX, glance.HEIGHT_PX - glance.MARGIN_PX
    assert [colour for colour, _ in (grey, orange, blue)] == ["silver", "darkorange", "royalblue"]
    assert blue[1][-1] == (glance.WIDTH_PX, top)  # 3 is the highest there is, 0.5 the lowest
    assert orange[1][-1] == (glance.WIDTH_PX, bottom)
    assert blue[1][0] == orange[1][0] == grey[1][0]
    # 1 stands a fifth of the way from 0.5 up to 3.
    assert grey[1][0][1] == round(bottom - (bottom - top) / 5)


def test_what_no_eye_can_see_is_said_in_words() -> None:
    curves = {"ensemble": np.array([1.0, 2.0, 3.9]), "442108054": np.array([1.0, 1.0, 6.88])}
    said = equity_glance(days(3), curves).partition("\n\n")[2].replace("\u00a0", " ")
    assert said == (
        "blue: ensemble, 1 → 3.90 · orange: seed 442108054, 1 → 6.88\\\n"
        "2008-01-02 to 2008-01-04, net of costs; grey: where it started"
    )


def test_a_flat_curve_is_a_line_and_none_is_nothing() -> None:
    flat = lines_of(equity_glance(days(10), {"do_nothing": np.ones(10)}))
    assert {y for _, points in flat for _, y in points} == {glance.HEIGHT_PX - glance.MARGIN_PX}
    assert equity_glance(days(10), {}) == ""
    assert equity_glance(days(1), {"a": np.ones(1)}) == ""


def test_every_number_of_points_divides_the_width() -> None:
    assert all(glance.WIDTH_PX % n == 0 for n in glance.POINTS)
