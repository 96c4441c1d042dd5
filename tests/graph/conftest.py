"""A small study on simulated bars: three symbols, 420 sessions, two folds, two seeds; seconds from bars to verdict."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from alphaswarm_assets.definitions import House, compose
from alphaswarm_assets.specs.loading import parse_spec
from alphaswarm_assets.specs.research import ResearchSpec
from alphaswarm_assets.streams import Streams

TINY = """
name: tiny
dataset: {source: tiny, features: [return_1, return_5, volatility_21]}
walk_forward: {n_blocks: 3}
environment: {cost_bps: 5, episode_bars: 60}
training: {seed: 11, total_timesteps: 2048, n_envs: 8, n_steps: 32, batch_size: 64, hidden_sizes: [16, 16]}
evaluation: {episodes: 2, n_seeds: 2, bootstrap: {n_resamples: 200}}
promotion: {min_sharpe: -50, min_seeds: 2}
mlflow: {register_model_as: tiny}
paper: {max_episodes: 3, max_drawdown: 0.9, reserve_fraction: 0.2}
"""


def write_bars(path: Path, *, seed: int = 5, n_sessions: int = 420, drift: float = 0.0004) -> None:
    """Write a CSV of simulated bars; the third symbol lists at session 150."""
    random = Streams(seed).generator("bars")
    days = np.datetime64("2015-01-05") + np.arange(n_sessions) * np.timedelta64(1, "D")
    lines = ["date,symbol,open,high,low,close,volume,adj_close"]
    for symbol, first in (("AAA", 0), ("BBB", 0), ("CCC", 150)):
        close = 50 * np.exp(np.cumsum(random.normal(drift, 0.01, n_sessions)))
        opened = close * np.exp(random.normal(0, 0.003, n_sessions))
        for t in range(first, n_sessions):
            o, c = opened[t], close[t]
            high, low = max(o, c) * 1.002, min(o, c) * 0.998
            lines.append(
                f"{days[t]},{symbol},{o:.6f},{high:.6f},{low:.6f},{c:.6f},{1000 + t},{c:.6f}"
            )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def tiny_spec(**replacements: str) -> ResearchSpec:
    """Return the tiny spec with whole lines replaced by name: ``promotion="promotion: {min_sharpe: 9}"``."""
    lines = [replacements.get(line.split(":")[0], line) for line in TINY.strip().splitlines()]
    return parse_spec("\n".join(lines), source="tiny.yaml")


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with every store made and nothing in them: making one takes seconds."""
    house = compose(tmp_path_factory.mktemp("template") / "home")
    write_bars(house.home / "bars" / "tiny.csv")
    house.initialise()
    return house.home


def copy_home(template: Path, home: Path) -> House:
    """Return a house over a copy of *template*; the one absolute path in it, MLflow's, is mended."""
    shutil.copytree(template, home)
    database = sqlite3.connect(home / "mlflow" / "mlflow.db")
    with database:
        database.execute(
            "UPDATE experiments SET artifact_location = replace(artifact_location, ?, ?)",
            (str(template), str(home)),
        )
    database.close()
    return compose(home)


@pytest.fixture
def house_at(template: Path) -> Callable[[Path], House]:
    """Make a house with the simulated source ``tiny`` in a folder."""
    return lambda home: copy_home(template, home)
