from __future__ import annotations

import hashlib
import random
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch

from alphaswarm_assets.errors import InvalidInputError
from alphaswarm_assets.streams import Streams, battery_seeds, seed_all


def test_the_same_seed_and_name_give_the_same_numbers() -> None:
    first = Streams(7).fork("policy").generator("noise").standard_normal(100)
    again = Streams(7).fork("policy").generator("noise").standard_normal(100)
    assert first.tobytes() == again.tobytes()


def test_drawing_more_from_one_stream_never_shifts_another() -> None:
    family = Streams(7)
    expected = family.generator("minibatch").permutation(50)
    greedy = family.generator("noise")
    greedy.standard_normal(100_000)
    assert (family.generator("minibatch").permutation(50) == expected).all()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Streams(7).generator("a"), Streams(8).generator("a")),
        (Streams(7).generator("a"), Streams(7).generator("b")),
        (Streams(7).fork("x").generator("a"), Streams(7).generator("a")),
        (Streams(7).fork("x").generator("a"), Streams(7).fork("y").generator("a")),
        (Streams(7).fork("x").fork("y").generator("a"), Streams(7).fork("xy").generator("a")),
        (Streams(1).generator("1a"), Streams(11).generator("a")),
    ],
    ids=["seed", "name", "fork", "fork name", "fork depth", "seed and name do not run together"],
)
def test_another_seed_name_or_fork_gives_other_numbers(
    one: np.random.Generator, other: np.random.Generator
) -> None:
    assert one.bit_generator.random_raw(4).tolist() != other.bit_generator.random_raw(4).tolist()


def test_the_entropy_of_a_stream_is_the_hash_of_its_full_name() -> None:
    text = "alphaswarm.streams/1\x1f7\x1fpolicy\x1fnoise"
    entropy = int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")
    expected = np.random.Generator(np.random.PCG64(entropy)).random(5)
    assert (Streams(7).fork("policy").generator("noise").random(5) == expected).all()


def test_the_numbers_of_a_stream_never_move() -> None:
    # Pinned once; a change here retrains every policy ever made.
    generator = Streams(7).fork("policy").generator("noise")
    assert generator.bit_generator.random_raw(3).tolist() == [
        4985913614058606021,
        7837556849755173420,
        15232710896121151296,
    ]
    assert Streams(7).derive_seed("env") == 2002978542944764192
    assert battery_seeds(7, 5) == (2061336639, 1310933497, 1373870343, 685458854, 1771470627)


def test_a_longer_battery_starts_with_a_shorter_one() -> None:
    assert battery_seeds(3, 40)[:12] == battery_seeds(3, 12)


def test_a_battery_never_holds_a_seed_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Streams, "derive_seed", lambda _, name: int(name) // 3)
    assert battery_seeds(0, 4) == (0, 1, 2, 3)


def test_the_seeds_of_a_battery_fit_in_31_bits() -> None:
    assert all(0 <= seed < 2**31 for seed in battery_seeds(2**63 - 1, 200))


@pytest.mark.parametrize("seed", [-1, 2**63, True, 1.0, "7", None])
def test_what_is_no_seed_is_refused(seed: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"seed must be an integer in \[0, 2\*\*63\)"):
        Streams(seed)


def test_a_name_that_could_be_taken_for_two_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="must not hold"):
        Streams(7).generator("a\x1fb")
    with pytest.raises(InvalidInputError, match="must not hold"):
        Streams(7).fork("a\x1fb")


def test_seed_all_seeds_python_numpy_and_torch() -> None:
    def draw() -> tuple[float, float, float]:
        return random.random(), float(np.random.random()), float(torch.rand(()))  # noqa: NPY002, S311

    seed_all(2**63 - 1)
    first = draw()
    draw()
    seed_all(2**63 - 1)
    assert draw() == first


def test_seed_all_moves_no_stream_of_ours() -> None:
    expected = Streams(7).generator("a").random(3)
    seed_all(11)
    assert (Streams(7).generator("a").random(3) == expected).all()


def test_seed_all_never_loads_torch() -> None:
    code = (
        "import sys; from alphaswarm_assets.streams import seed_all; "
        "seed_all(1); raise SystemExit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
