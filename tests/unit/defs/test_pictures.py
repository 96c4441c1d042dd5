from __future__ import annotations

import base64
import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from alphaswarm_assets.arrays import Float64Array
from alphaswarm_assets.defs import pictures
from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.streams import Streams

REPOSITORY = Path(__file__).resolve().parents[3]
T = 1400
DAYS = (np.datetime64("2008-01-02") + np.arange(T)).astype("datetime64[D]").astype(np.int64)
LARGEST_BYTES = 60_000


def walks(n: int, name: str = "walks") -> Float64Array:
    steps = Streams(1).generator(name).normal(0.0004, 0.012, size=(n, T))
    return np.cumprod(1.0 + steps, axis=1, dtype=np.float64)


def learning(n_seeds: int) -> dict[int, list[tuple[int, float]]]:
    noise = Streams(2).generator("learning").normal(0.0, 0.03, size=(n_seeds, 60))
    return {
        7 + s: [(2048 * k, float(noise[s, k] - 0.1)) for k in range(60)] for s in range(n_seeds)
    }


def gate(
    check: str, observed: object, comparator: str, threshold: object, status: str
) -> dict[str, Any]:
    return {
        "check": check,
        "observed": observed,
        "comparator": comparator,
        "threshold": threshold,
        "status": status,
        "passed": status == "pass",
        "reason": None
        if status == "pass"
        else f"{check} was {observed!r}, which costs $5 and more words than fit " * 3,
        "unit": "fraction",
    }


def metric(name: str, point: object, lo: object, hi: object, iqm: object) -> dict[str, Any]:
    return {"metric": name, "point": point, "lo": lo, "hi": hi, "iqm": iqm}


WALK = {
    "folds": [
        {"name": f"f{k}", "train": [0, 150 * k + 150], "evaluate": [150 * k + 170, 150 * k + 320]}
        for k in range(6)
    ],
    "paper": [1260, T],
}
ONE_FOLD = {"folds": [{"name": "f0", "train": [0, 1], "evaluate": None}], "paper": None}
NO_INTERVAL = {"value": None, "reason": "one seed has no interval"}
NAN = float("nan")

ORDINARY: dict[str, Callable[[], bytes]] = {
    "equity": lambda: pictures.equity_curves(
        DAYS,
        {"ensemble": walks(5).mean(axis=0), "equal_weight": walks(1)[0], "do_nothing": np.ones(T)},
        walks(5),
    ),
    "equity of nine": lambda: pictures.equity_curves(
        DAYS, {f"policy {i}": w for i, w in enumerate(walks(9))}
    ),
    "drawdown": lambda: pictures.drawdown_curve(DAYS, walks(1)[0]),
    "learning, 5 seeds": lambda: pictures.learning_curves(learning(5)),
    "learning, 20 seeds": lambda: pictures.learning_curves(learning(20)),
    "folds": lambda: pictures.folds_chart(WALK, DAYS),
    "folds over bars": lambda: pictures.folds_chart(WALK, T),
    "intervals": lambda: pictures.interval_plot(
        [
            metric("sharpe_annual", 0.62, 0.21, 1.04, 0.66),
            metric("total_return", 0.3, -0.02, 0.6, 0.29),
            metric("calmar", None, None, None, None),
            metric("sortino", 0.9, NO_INTERVAL, NO_INTERVAL, 0.9),
        ]
    ),
    "gates": lambda: pictures.gate_chart(
        [
            gate("min_sharpe", 0.62, ">=", 0.5, "pass"),
            gate("max_pbo", 0.63, "<=", 0.5, "threshold_failed"),
            gate("min_dsr_probability", None, ">=", 0.9, "missing_evidence"),
            gate("require_ci_positive", 0.0, ">", 0.0, "threshold_failed"),
            gate("min_seeds", 5, ">=", 5, "pass"),
        ]
    ),
}

DEGENERATE: dict[str, Callable[[], bytes]] = {
    "one session": lambda: pictures.equity_curves(
        DAYS[:1], {"a": np.array([1.1])}, np.array([[1.1]])
    ),
    "no session": lambda: pictures.equity_curves(DAYS[:0], {"a": np.empty(0)}),
    "no curve": lambda: pictures.equity_curves(DAYS[:3], {}),
    "only NaN": lambda: pictures.equity_curves(
        DAYS[:3], {"a": np.full(3, NAN)}, np.full((2, 3), NAN)
    ),
    "gaps and infinities": lambda: pictures.equity_curves(
        DAYS[:4], {"a": np.array([1, NAN, np.inf, 1.2])}
    ),
    "all equal": lambda: pictures.equity_curves(
        DAYS[:3], {"a": np.ones(3), "b": np.ones(3)}, np.ones((1, 3))
    ),
    "labels that mean something to the drawing": lambda: pictures.equity_curves(
        DAYS[:3],
        {
            "_a": np.ones(3),
            "$b": np.ones(3),
            r"$\frac{$": np.ones(3),
            "": np.ones(3),
            "x" * 300: np.ones(3),
        },
    ),
    "drawdown of one session": lambda: pictures.drawdown_curve(DAYS[:1], np.array([0.9])),
    "drawdown of nothing": lambda: pictures.drawdown_curve(DAYS[:3], np.full(3, NAN)),
    "no drawdown": lambda: pictures.drawdown_curve(DAYS[:3], np.ones(3)),
    "ruin": lambda: pictures.drawdown_curve(DAYS[:3], np.array([1.0, 0.5, 0.0])),
    "no seed": lambda: pictures.learning_curves({}),
    "one step": lambda: pictures.learning_curves({1: [(0, 1.0)]}),
    "seeds without values": lambda: pictures.learning_curves({1: [(0, NAN)], 2: []}),
    "twelve equal seeds": lambda: pictures.learning_curves(
        {i: [(0, 1.0), (10, 1.0)] for i in range(12)}
    ),
    "twelve seeds of unlike steps": lambda: pictures.learning_curves(
        {i: [(i, 1.0), (10 + i, NAN)] for i in range(12)}
    ),
    "no metric": lambda: pictures.interval_plot([]),
    "metrics without extent": lambda: pictures.interval_plot(
        [
            metric("m", 1.0, 1.0, 1.0, 1.0),
            metric("z", 0.0, 0.0, 0.0, 0.0),
            metric("n", NAN, NAN, NAN, NAN),
        ]
    ),
    "metrics at the ends of a float64": lambda: pictures.interval_plot(
        [metric("large", 1e300, -1e300, 1.2e300, 1e300), metric("tiny", 1e-310, 0, 1e-310, 0)]
    ),
    "no gate": lambda: pictures.gate_chart([]),
    "gates without numbers": lambda: pictures.gate_chart(
        [
            gate("a", None, ">=", None, "not_applicable"),
            gate("b", "nan", ">=", 0.5, "missing_evidence"),
        ]
    ),
    "a near miss": lambda: pictures.gate_chart(
        [gate("max_drawdown", 0.1 + 0.2, "<=", 0.3, "threshold_failed")]
    ),
    "no fold": lambda: pictures.folds_chart({"folds": [], "paper": None}, DAYS[:3]),
    "a fold of one bar": lambda: pictures.folds_chart(ONE_FOLD, DAYS[:1]),
    "no bar": lambda: pictures.folds_chart(ONE_FOLD, DAYS[:0]),
    "no bar to count": lambda: pictures.folds_chart(ONE_FOLD, 0),
    "one bar to count": lambda: pictures.folds_chart(ONE_FOLD, 1),
}


def opened(png: bytes) -> Image.Image:
    picture = Image.open(io.BytesIO(png))
    picture.load()
    return picture


@pytest.mark.parametrize("name", ORDINARY)
def test_a_picture_is_900_pixels_wide_on_white_and_small(name: str) -> None:
    png = ORDINARY[name]()
    picture = opened(png)
    assert picture.format == "PNG"
    assert picture.width == 900
    assert 150 <= picture.height <= 500
    assert picture.convert("RGB").getpixel((2, 2)) == (255, 255, 255)
    assert len(png) <= LARGEST_BYTES


@pytest.mark.parametrize("name", ORDINARY)
def test_the_same_data_gives_the_same_bytes(name: str) -> None:
    assert ORDINARY[name]() == ORDINARY[name]()


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data_is_drawn_without_a_warning(name: str) -> None:
    # Warnings are errors in this suite.
    assert opened(DEGENERATE[name]()).width == 900


def test_a_curve_of_another_length_is_refused_by_name() -> None:
    with pytest.raises(
        InvalidInputError,
        match=r"'ensemble' must have one value a session, shape \(3,\), was \(2,\)",
    ):
        pictures.equity_curves(DAYS[:3], {"ensemble": np.ones(2)})
    with pytest.raises(InvalidInputError, match=r"band must have shape \(S, 3\), was \(2, 2\)"):
        pictures.equity_curves(DAYS[:3], {"ensemble": np.ones(3)}, np.ones((2, 2)))


def test_passing_and_failing_gates_differ_in_colour_and_in_words() -> None:
    passes = pictures.gate_chart([gate("max_pbo", 0.4, "<=", 0.5, "pass")])
    fails = pictures.gate_chart([gate("max_pbo", 0.6, "<=", 0.5, "threshold_failed")])
    words = (558, 60, 890, 95)
    blue, vermillion = (opened(png).convert("RGB").crop(words) for png in (passes, fails))
    assert np.asarray(blue, dtype=int)[..., 2].sum() > np.asarray(blue, dtype=int)[..., 0].sum()
    assert (
        np.asarray(vermillion, dtype=int)[..., 0].sum()
        > np.asarray(vermillion, dtype=int)[..., 2].sum()
    )


def test_a_markdown_image_carries_the_picture_itself() -> None:
    png = pictures.drawdown_curve(DAYS[:3], np.ones(3))
    text = pictures.markdown_image(png, "drawdown [of\nthe ensemble]")
    head, data = text.split("base64,")
    assert head == "![drawdown (of the ensemble)](data:image/png;"
    assert base64.b64decode(data.removesuffix(")")) == png


def said_by(code: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=REPOSITORY
    )
    return done.stdout.split()


def test_loading_the_pictures_loads_no_drawing_library() -> None:
    code = "import sys, alphaswarm_assets.defs.pictures; print('matplotlib' in sys.modules, 'PIL' in sys.modules)"
    assert said_by(code) == ["False", "False"]


def test_drawing_leaves_no_trace_in_the_drawing_library() -> None:
    code = (
        "import sys, matplotlib, numpy as np\n"
        "from alphaswarm_assets.defs import pictures\n"
        "before = matplotlib.rcParams.copy()\n"
        "pictures.drawdown_curve(np.arange(3), np.ones(3))\n"
        "print(matplotlib.rcParams.copy() == before, 'matplotlib.pyplot' in sys.modules)"
    )
    assert said_by(code) == ["True", "False"]
