"""Walk-forward: K chronological blocks, folds that train on the past and are measured on what follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from alphaswarm_assets.errors import InvalidInputError, MarketDataError
from alphaswarm_assets.markets.panel import Block
from alphaswarm_assets.records.canonical import Json, JsonObject
from alphaswarm_assets.specs.research import ResearchSpec

MIN_BLOCK_BARS = 20
"""Shorter blocks give no statistics worth the name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fold:
    """One step of the walk."""

    name: str
    train: Block
    evaluate: Block | None
    """None with a single block: nothing is left to be measured on."""

    def to_json(self) -> JsonObject:
        """Return the fold as JSON."""
        window = [self.evaluate.start, self.evaluate.stop] if self.evaluate else None
        return {"name": self.name, "train": [self.train.start, self.train.stop], "evaluate": window}


@dataclass(frozen=True, kw_only=True, slots=True)
class Walk:
    """How T bars are used: folds first, the newest bars for paper."""

    folds: tuple[Fold, ...]
    paper: Block | None

    def fold(self, name: str) -> Fold:
        """Return the fold called *name*.

        Raises
        ------
        InvalidInputError
            If the walk has no such fold.
        """
        for fold in self.folds:
            if fold.name == name:
                return fold
        have = ", ".join(f.name for f in self.folds)
        raise InvalidInputError(f"this spec has the folds {have}, was asked for {name!r}")


def plan_walk(spec: ResearchSpec, n_bars: int) -> Walk:
    """Return the walk of *spec* over *n_bars* bars.

    The newest ``paper.reserve_fraction`` is set aside first. What is left is cut in K equal blocks, the last of which
    takes the remainder; fold k trains on blocks 0..k less the purge, and is evaluated on block k+1.

    Raises
    ------
    MarketDataError
        If a window would be too short to train or to measure on.
    """
    reserved = round(n_bars * spec.paper.reserve_fraction) if spec.paper else 0
    usable, n_blocks = n_bars - reserved, spec.walk_forward.n_blocks
    size = usable // n_blocks
    purge = spec.walk_forward.purge_bars
    purge = spec.dataset.look_back_bars if purge is None else purge
    if size < MIN_BLOCK_BARS or (n_blocks > 1 and size - purge < MIN_BLOCK_BARS):
        raise MarketDataError(
            f"{n_bars} bars, {reserved} of them reserved for paper, make {n_blocks} blocks of {size} with a "
            f"purge of {purge}: a training window needs at least {MIN_BLOCK_BARS} bars after the purge. Widen "
            "dataset.start..end, lower walk_forward.n_blocks, or set walk_forward.purge_bars."
        )
    if spec.paper and reserved < MIN_BLOCK_BARS:
        raise MarketDataError(
            f"paper.reserve_fraction {spec.paper.reserve_fraction} of {n_bars} bars reserves {reserved}; a paper "
            f"session needs at least {MIN_BLOCK_BARS}. Raise the fraction or widen dataset.start..end."
        )
    episodes = spec.evaluation.episodes
    if n_blocks > 1 and size // episodes < 2:
        raise MarketDataError(
            f"evaluation.episodes {episodes} cuts an evaluation block of {size} bars in windows of {size // episodes}; "
            "an episode needs at least 2. Lower evaluation.episodes or walk_forward.n_blocks."
        )
    edges = [k * size for k in range(n_blocks)] + [usable]
    paper = Block(start=usable, stop=n_bars) if reserved else None
    if n_blocks == 1:
        return Walk(
            folds=(Fold(name="f0", train=Block(start=0, stop=usable), evaluate=None),), paper=paper
        )
    folds = tuple(
        Fold(
            name=f"f{k}",
            train=Block(start=0, stop=edges[k + 1] - purge),
            evaluate=Block(start=edges[k + 1], stop=edges[k + 2]),
        )
        for k in range(n_blocks - 1)
    )
    return Walk(folds=folds, paper=paper)


def walk_from_json(raw: JsonObject) -> Walk:
    """Rebuild the walk that `walk_to_json` wrote.

    Raises
    ------
    InvalidInputError
        If *raw* is no walk.
    """
    try:
        raw_folds = cast("Sequence[Mapping[str, Json]]", raw["folds"])
        folds = tuple(
            Fold(
                name=str(fold["name"]),
                train=_block(fold["train"]),
                evaluate=None if fold["evaluate"] is None else _block(fold["evaluate"]),
            )
            for fold in raw_folds
        )
        paper = None if raw["paper"] is None else _block(raw["paper"])
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInputError(f"a walk is missing a field or has a bad one: {error!r}") from error
    return Walk(folds=folds, paper=paper)


def walk_to_json(walk: Walk) -> JsonObject:
    """Return *walk* as JSON."""
    paper = [walk.paper.start, walk.paper.stop] if walk.paper else None
    return {"folds": [fold.to_json() for fold in walk.folds], "paper": paper}


def _block(raw: Json) -> Block:
    match raw:
        case [int(start), int(stop)]:
            return Block(start=start, stop=stop)
        case _:
            raise InvalidInputError(f"a block must be [start, stop], was {raw!r}")
