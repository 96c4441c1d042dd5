"""The halt switch is lost in the middle of a paper session: it reads as engaged, and nothing goes past it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from alphaswarm_assets.definitions import House, compose
from alphaswarm_assets.runtime.rehearsing import WindowDesk
from alphaswarm_resources.halt_reasons import UNREACHABLE
from tests.faults.homes import Shelf
from tests.faults.standing import digests_of
from tests.faults.studies import Undisturbed
from tests.graph.test_study import failure_text, made, materialise
from tests.ports.redis_servers import RedisServer

pytestmark = pytest.mark.faults


@pytest.fixture
def house(shelf: Shelf, undisturbed: Undisturbed, redis_server: RedisServer) -> Iterator[House]:
    """The finished study, with its halt switch in Redis."""
    house = replace(compose(shelf.put_back("finished")), redis_url=redis_server.url)
    with house.instance:
        yield house


def killing(server: RedisServer, *, at: int) -> Any:
    """Kill *server* while the steps of episode *at* are played."""
    open_episode = WindowDesk.open_episode

    def opened(desk: WindowDesk, index: int) -> Iterator[float] | None:
        episode = open_episode(desk, index)
        return _killed_within(server, episode) if index == at and episode else episode

    return opened


def _killed_within(server: RedisServer, episode: Iterator[float]) -> Iterator[float]:
    for step, value in enumerate(episode):
        if step == 5:
            server.kill()
        yield value


def test_a_session_whose_halt_switch_is_gone_halts_and_leaves_no_pack(
    house: House,
    shelf: Shelf,
    undisturbed: Undisturbed,
    redis_server: RedisServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = shelf.spec
    before = digests_of(house, spec)
    monkeypatch.setattr(WindowDesk, "open_episode", killing(redis_server, at=1))
    result = materialise(house, "paper_pack", spec.key)
    last: Any = house.runs.rows()[-1].body

    assert not result.success
    assert made(result) == []
    text = failure_text(result)
    assert text.startswith(
        f"RefusedError: the paper session of {spec.key} was halted ({spec.key}: "
    )
    assert UNREACHABLE in text
    assert "after 2 episodes" in text
    assert (last["target"], last["status"]) == ("paper", "halted")
    assert digests_of(house, spec) == before

    monkeypatch.undo()
    still_gone = materialise(house, "paper_pack", spec.key)
    assert "after 0 episodes" in failure_text(still_gone)

    redis_server.process = subprocess.Popen(redis_server.process.args, stdout=subprocess.DEVNULL)
    deadline_s = time.monotonic() + 20
    while house.halts.reason(spec.key) is not None:
        assert time.monotonic() < deadline_s
        time.sleep(0.02)
    assert materialise(house, "paper_pack", spec.key).success
    assert digests_of(house, spec) == before
