"""What a rehearsal is played on: a desk that opens paper episodes, and the counters an episode may show."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol, SupportsIndex

from alphaswarm_assets.errors import InvalidInputError


class Episode(Protocol):
    """One paper episode, played while it is iterated.

    An episode whose orders pass a gateway may also have `hard_breach_count`, `pretrade_reject_count` and
    `order_submit_count`; they are read once, after its last step. An absent counter, or None, is missing evidence.
    """

    def __iter__(self) -> Iterator[float]:
        """Yield the simple net return of each step, after all costs; the next step is played when it is asked for."""
        ...


class PaperDesk(Protocol):
    """Where paper episodes come from."""

    def open_episode(self, index: int) -> Episode | None:
        """Return episode *index* (from 0) before its first step, or None when the paper window is used up."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Counters:
    """What a gateway counted; None where there is no gateway to count."""

    hard_breach_count: int | None = None
    pretrade_reject_count: int | None = None
    order_submit_count: int | None = None
    """Orders the policy asked for, the rejected ones among them."""


COUNTERS: Final = ("hard_breach_count", "pretrade_reject_count", "order_submit_count")
"""Names under which an episode shows what its gateway counted."""


def read_counters(episode: Episode, index: int) -> Counters:
    """Return what *episode* shows of its gateway.

    Parameters
    ----------
    episode : Episode
        Played, to its end or to where it was cut.
    index : int
        Its number, for the message.

    Raises
    ------
    InvalidInputError
        If a counter is there and is not a whole number of at least zero.
    """
    return Counters(
        **{name: _count(getattr(episode, name, None), name, index) for name in COUNTERS}
    )


def total(counters: tuple[Counters, ...]) -> Counters:
    """Return the sum over episodes; a counter that one episode lacks, or that no episode showed, is None."""
    return Counters(**{name: _sum([getattr(each, name) for each in counters]) for name in COUNTERS})


def _count(value: object, name: str, index: int) -> int | None:
    if value is None:
        return None
    count = -1 if isinstance(value, bool) or not isinstance(value, SupportsIndex) else value
    if operator.index(count) < 0:
        raise InvalidInputError(
            f"{name} must be an integer >= 0 or None, was {value!r} after episode {index}"
        )
    return operator.index(count)


def _sum(values: list[int | None]) -> int | None:
    counted = [value for value in values if value is not None]
    return sum(counted) if counted and len(counted) == len(values) else None
