from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import pytest

from alphaswarm_assets.arrays import BoolArray
from alphaswarm_assets.errors import InvalidInputError, MarketDataError
from alphaswarm_assets.learning.normalizer import Normalizer, fit_normalizer
from alphaswarm_assets.markets.panel import Block, Panel

MakePanel: TypeAlias = Callable[..., Panel]


def _features(
    panel_of: MakePanel, values: Sequence[float], known: BoolArray | None = None
) -> Panel:
    price = np.full((len(values), 1), 10.0)
    column = np.array(values, dtype=np.float64)[:, None, None]
    return panel_of(price, price, known=known, features=column)


def test_statistics_are_of_the_training_window_alone(panel_of: MakePanel) -> None:
    # Case c39: eight rows of 1 and 2, then four of about 101. Scaled with all of them the last would be about 1.4.
    panel = _features(panel_of, [1, 2, 1, 2, 1, 2, 1, 2, 101, 102, 101, 102])
    normalizer = fit_normalizer(panel, Block(start=0, stop=8))
    assert (normalizer.mean[0], normalizer.std[0]) == (1.5, 0.5)
    assert (panel.features[8, 0, 0] - normalizer.mean[0]) / normalizer.std[0] == 199.0
    assert normalizer.apply(panel.features, panel.known)[8, 0, 0] == 10.0


def test_cells_that_are_not_known_have_no_say_and_read_as_zero(panel_of: MakePanel) -> None:
    known = np.array([True, True, False, True])[:, None]
    panel = _features(panel_of, [1.0, 3.0, 0.0, 5.0], known)
    normalizer = fit_normalizer(panel, Block(start=0, stop=4))
    assert normalizer.mean[0] == 3.0
    assert normalizer.apply(panel.features, panel.known)[2, 0, 0] == 0.0


def test_a_feature_that_does_not_vary_is_centred_and_not_blown_up(panel_of: MakePanel) -> None:
    panel = _features(panel_of, [0.1] * 7)
    normalizer = fit_normalizer(panel, Block(start=0, stop=7))
    assert normalizer.std[0] == 1.0
    assert np.abs(normalizer.apply(panel.features, panel.known)).max() < 1e-15


def test_a_window_in_which_nothing_is_known_is_refused(panel_of: MakePanel) -> None:
    panel = _features(panel_of, [0.0] * 5, np.zeros((5, 1), dtype=np.bool_))
    with pytest.raises(
        MarketDataError, match=r"no symbol of A has all its features in bars \[1, 4\)"
    ):
        fit_normalizer(panel, Block(start=1, stop=4))


@pytest.mark.parametrize(
    ("mean", "std"), [([0.0], [0.0]), ([np.nan], [1.0]), ([0.0, 0.0], [1.0, 1.0])]
)
def test_statistics_that_cannot_standardise_are_refused(
    mean: list[float], std: list[float]
) -> None:
    with pytest.raises(InvalidInputError, match="normaliser"):
        Normalizer(feature_names=("f",), mean=np.array(mean), std=np.array(std))
