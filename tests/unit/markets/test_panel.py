from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.markets.panel import Block, Panel


def _panel() -> Panel:
    shape = (3, 2)
    tradable = np.array([[True, False], [True, True], [True, True]])
    price = np.where(tradable, 10.0, np.nan)
    known = np.array([[False, False], [True, False], [True, True]])
    return Panel(
        symbols=("A", "B"),
        feature_names=("return_1",),
        session=np.array([1, 2, 5], dtype=np.int64),
        open=price,
        close=price,
        tradable=tradable,
        features=np.zeros((*shape, 1)),
        known=known,
    )


def _with(array: np.ndarray[Any, Any], at: tuple[int, ...], value: object) -> np.ndarray[Any, Any]:
    changed = array.copy()
    changed[at] = value
    return changed


def test_a_panel_knows_its_size() -> None:
    panel = _panel()
    assert (panel.n_bars, panel.n_symbols) == (3, 2)
    assert panel.tensors().keys() == {"session", "open", "close", "tradable", "features", "known"}


@pytest.mark.parametrize("name", ["open", "close"])
@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0, -1.0])
def test_a_price_that_is_not_positive_where_tradable_is_refused_by_place(
    name: str, value: float
) -> None:
    panel = _panel()
    with pytest.raises(InvalidInputError, match=f"{name} must be finite and > 0 .* for B at bar 2"):
        replace(panel, **{name: _with(getattr(panel, name), (2, 1), value)})


@pytest.mark.parametrize("name", ["open", "close", "tradable", "known", "features"])
def test_arrays_that_do_not_line_up_are_refused(name: str) -> None:
    panel = _panel()
    with pytest.raises(InvalidInputError, match=f"{name} must have shape"):
        replace(panel, **{name: getattr(panel, name)[:2]})


def test_sessions_that_do_not_increase_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="strictly increasing"):
        replace(_panel(), session=np.array([1, 5, 5], dtype=np.int64))


def test_a_symbol_known_where_it_cannot_be_traded_is_refused() -> None:
    panel = _panel()
    with pytest.raises(InvalidInputError, match="known must imply tradable"):
        replace(panel, known=_with(panel.known, (0, 1), True))


def test_a_feature_that_is_not_finite_is_refused() -> None:
    panel = _panel()
    with pytest.raises(InvalidInputError, match="features must be finite"):
        replace(panel, features=_with(panel.features, (0, 0, 0), np.nan))


@pytest.mark.parametrize(("start", "stop"), [(-1, 3), (3, 2)])
def test_a_block_that_runs_backwards_is_refused(start: int, stop: int) -> None:
    with pytest.raises(InvalidInputError, match="0 <= start <= stop"):
        Block(start=start, stop=stop)


def test_the_length_of_a_block_is_its_bars() -> None:
    assert len(Block(start=3, stop=3)) == 0
    assert len(Block(start=3, stop=10)) == 7
