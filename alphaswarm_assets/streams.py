"""Named random streams, forked from one seed.

A stream's numbers depend on its seed and its name alone: drawing more from one never shifts another, and a new
stream never moves an old one. Everything of ours draws from here; `seed_all` exists for third-party code only.
"""

from __future__ import annotations

import hashlib
import random  # noqa: TID251 -- for `seed_all` alone; nothing of ours draws from it
import sys
from dataclasses import dataclass

import numpy as np

from alphaswarm_assets.errors import InvalidInputError

_MAX_SEED = 2**63 - 1
_SEPARATOR = "\x1f"


@dataclass(frozen=True, slots=True)
class Streams:
    """A family of independent generators under one seed."""

    seed: int
    """Root of the family, 0 <= seed < 2**63."""
    path: tuple[str, ...] = ()
    """Names of the forks that led here."""

    def __post_init__(self) -> None:
        """Refuse a seed that is not a non-negative 63-bit integer, and a name that could be taken for two.

        Raises
        ------
        InvalidInputError
            If the seed is not an int in range, or a name holds the separator.
        """
        if type(self.seed) is not int or not 0 <= self.seed <= _MAX_SEED:
            raise InvalidInputError(f"seed must be an integer in [0, 2**63), was {self.seed!r}")
        for name in self.path:
            _check_name(name)

    def fork(self, name: str) -> Streams:
        """Return the family of streams called *name* below this one."""
        return Streams(self.seed, (*self.path, name))

    def generator(self, name: str) -> np.random.Generator:
        """Return a fresh PCG64 generator for the stream *name*; the same name gives the same numbers."""
        return np.random.Generator(np.random.PCG64(self._entropy(name)))

    def derive_seed(self, name: str) -> int:
        """Return a 63-bit seed named *name*, for something that takes a seed of its own."""
        return self._entropy(name) & _MAX_SEED

    def _entropy(self, name: str) -> int:
        _check_name(name)
        text = _SEPARATOR.join(("alphaswarm.streams/1", str(self.seed), *self.path, name))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def battery_seeds(seed: int, n_seeds: int) -> tuple[int, ...]:
    """Return *n_seeds* distinct seeds forked from *seed*; a longer battery starts with a shorter one."""
    family = Streams(seed).fork("battery")
    seeds: dict[int, None] = {}
    i = 0
    while len(seeds) < n_seeds:
        seeds[family.derive_seed(str(i)) % 2**31] = None
        i += 1
    return tuple(seeds)


def seed_all(seed: int) -> None:
    """Seed the three process-wide generators (Python, NumPy, torch) once a run, for third-party code.

    Nothing of ours draws from them. Torch is seeded only if it is loaded already: this call never loads it.
    """
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: TID251, NPY002 -- the one sanctioned call; third parties may draw from it
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(seed)


def _check_name(name: str) -> None:
    if _SEPARATOR in name:
        raise InvalidInputError(f"a stream's name must not hold {_SEPARATOR!r}, was {name!r}")
