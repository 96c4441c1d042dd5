import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from alphaswarm_assets.errors import StoreError
from alphaswarm_assets.ports import HaltSwitch
from alphaswarm_resources.halt_file import FileHaltSwitch
from alphaswarm_resources.halt_redis import RedisHaltSwitch
from tests.ports.children import Start
from tests.ports.redis_servers import RedisServer

Switches: TypeAlias = tuple[HaltSwitch, HaltSwitch]
KEYS = ["ppo-a1b2c3d4e5f6", "f0|ppo-a1b2c3d4e5f6", "Weird key/../*?[é]", "*"]


@pytest.fixture(params=["file", "redis"])
def switches(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[HaltSwitch, HaltSwitch]]:
    """Two handles on one switch, as two processes have them."""
    if request.param == "file":
        (tmp_path / "halt").mkdir()
        yield FileHaltSwitch(tmp_path / "halt"), FileHaltSwitch(tmp_path / "halt")
    else:
        url = request.getfixturevalue("redis_server").url
        yield RedisHaltSwitch(url), RedisHaltSwitch(url)


def test_it_is_a_halt_switch(switches: Switches) -> None:
    assert isinstance(switches[0], HaltSwitch)


@pytest.mark.parametrize("key", KEYS)
def test_a_key_runs_is_halted_and_runs_again(switches: Switches, key: str) -> None:
    mine, other = switches
    assert mine.reason(key) is None
    assert mine.release(key) is None
    assert mine.engage(key, "rollback:max_drawdown")
    assert other.reason(key) == "rollback:max_drawdown"
    assert other.engaged() == {key: "rollback:max_drawdown"}
    assert other.release(key) == "rollback:max_drawdown"
    assert mine.reason(key) is None
    assert mine.engaged() == {}


def test_a_halt_is_never_overwritten(switches: Switches) -> None:
    mine, other = switches
    assert mine.engage("k", "operator")
    assert not other.engage("k", "rollback:max_drawdown")
    assert not mine.engage("k", "operator")
    assert mine.reason("k") == "operator"


def test_keys_are_halted_one_by_one_and_listed_together(switches: Switches) -> None:
    mine, other = switches
    for n, key in enumerate(KEYS):
        assert mine.engage(key, f"reason {n}")
    assert other.engaged() == {key: f"reason {n}" for n, key in enumerate(KEYS)}
    other.release("*")
    assert mine.reason(KEYS[0]) == "reason 0"
    assert len(mine.engaged()) == len(KEYS) - 1


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_a_blank_reason_brakes_too(switches: Switches, reason: str) -> None:
    mine, _ = switches
    assert mine.engage("k", reason)
    assert mine.reason("k") == mine.engaged()["k"] == "no reason given"


@pytest.mark.parametrize("reason", ["größer als 5 %\nzweite Zeile", '{"reason": "quoted"}', "null"])
def test_any_words_come_back_as_they_were(switches: Switches, reason: str) -> None:
    mine, other = switches
    mine.engage("k", reason)
    assert other.reason("k") == reason
    assert other.release("k") == reason


ENGAGE = """
import sys
from pathlib import Path
from typing import TypeAlias
from alphaswarm_resources.halt_file import FileHaltSwitch
from alphaswarm_resources.halt_redis import RedisHaltSwitch
place = sys.argv[1]
switch = RedisHaltSwitch(place) if "://" in place else FileHaltSwitch(Path(place))
print(sum(switch.engage(f"k{n}", sys.argv[2]) for n in range(50)))
"""


@pytest.mark.parametrize("kind", ["file", "redis"])
def test_of_processes_that_halt_at_once_one_did_it(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path, start: Start
) -> None:
    if kind == "redis":
        place = request.getfixturevalue("redis_server").url
        switch: HaltSwitch = RedisHaltSwitch(place)
    else:
        place = tmp_path / "halt"
        place.mkdir()
        switch = FileHaltSwitch(place)
    children = [start(ENGAGE, place, n) for n in range(3)]
    made = [int(child.communicate(timeout=60)[0]) for child in children]
    assert sum(made) == 50
    halted = list(switch.engaged().values())
    assert [halted.count(str(n)) for n in range(3)] == made


@pytest.mark.faults
def test_a_folder_that_vanished_reads_as_halted_and_is_not_made_again(tmp_path: Path) -> None:
    folder = tmp_path / "halt"
    folder.mkdir()
    switch = FileHaltSwitch(folder)
    assert switch.reason("k") is None
    folder.rmdir()
    told = switch.reason("k")
    assert told is not None
    assert told.startswith("halt switch unreachable: there is no folder")
    assert "make it empty by hand" in told
    for ask in (lambda: switch.engage("k", "x"), lambda: switch.release("k"), switch.engaged):
        with pytest.raises(StoreError, match="make it empty by hand"):
            ask()
    assert not folder.exists()


@pytest.mark.faults
@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b'{"key": "k", "reason": ""}', b'{"reason": 1}', b"\xff\xfe"]
)
def test_a_garbled_halt_reads_as_halted_until_it_is_released(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "halt").mkdir()
    switch = FileHaltSwitch(tmp_path / "halt")
    (tmp_path / "halt" / "k.json").write_bytes(damage)
    assert str(switch.reason("k")).startswith("halt switch unreachable: k.json holds")
    assert str(switch.engaged()["k"]).startswith("halt switch unreachable")
    assert not switch.engage("k", "operator")
    assert str(switch.release("k")).startswith("halt switch unreachable")
    assert switch.reason("k") is None


@pytest.mark.faults
def test_a_halt_that_cannot_be_read_reads_as_halted(tmp_path: Path) -> None:
    (tmp_path / "halt" / "k.json").mkdir(parents=True)
    assert str(FileHaltSwitch(tmp_path / "halt").reason("k")).startswith(
        "halt switch unreachable: "
    )


@pytest.mark.faults
def test_when_redis_is_killed_every_key_reads_as_halted(redis_server: RedisServer) -> None:
    switch = RedisHaltSwitch(redis_server.url)
    assert switch.reason("k") is None
    assert switch.engage("other", "operator")
    redis_server.kill()
    began = time.monotonic()
    for key in ("k", "other"):
        assert str(switch.reason(key)).startswith(
            "halt switch unreachable: the halt switch at unix://"
        )
    assert time.monotonic() - began < 4
    for ask in (lambda: switch.engage("k", "x"), lambda: switch.release("k"), switch.engaged):
        with pytest.raises(StoreError, match="Start that server or correct its URL"):
            ask()


@pytest.mark.faults
def test_a_redis_that_hangs_reads_as_halted_in_time(redis_server: RedisServer) -> None:
    switch = RedisHaltSwitch(redis_server.url, timeout_s=0.3)
    assert switch.reason("k") is None
    os.kill(redis_server.process.pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        assert "halt switch unreachable" in str(switch.reason("k"))
        assert time.monotonic() - began < 3
    finally:
        os.kill(redis_server.process.pid, signal.SIGCONT)
    assert switch.reason("k") is None


@pytest.mark.faults
def test_what_somebody_else_put_under_the_prefix_halts(redis_server: RedisServer) -> None:
    import redis

    switch = RedisHaltSwitch(redis_server.url, "p[1]:")
    with redis.Redis.from_url(redis_server.url) as client:
        client.set("p[1]:text", "operator on the command line")
        client.set("p[1]:blank", "")
        client.set("p[1]:bytes", b"\xff\xfe")
        client.hset("p[1]:hash", "a", "b")
        client.set("p1:elsewhere", "not ours")
    assert switch.reason("text") == "operator on the command line"
    assert switch.reason("blank") == "no reason given"
    assert switch.reason("bytes")
    assert str(switch.reason("hash")).startswith("halt switch unreachable")
    assert set(switch.engaged()) == {"text", "blank", "bytes", "hash"}
    assert not switch.engage("text", "x")
    assert switch.release("text") == "operator on the command line"
    assert switch.reason("text") is None


URLS = [
    "redis://user:hunter2@127.0.0.1:1/0",
    "redis://:hunter2@127.0.0.1:1?socket_timeout=1&client_name=hunter2",
    "redis://:p@hunter2/word@127.0.0.1:1",
    "redis://:pa/hunter2@127.0.0.1:1",
    "redis://:pa#hunter2@127.0.0.1:1",
    "redis://:hunter2@127.0.0.1:hunter2",
    "http://:hunter2@127.0.0.1",
    "unix://hunter2@/nowhere/redis.sock?password=hunter2",
    "hunter2",
]


@pytest.mark.parametrize("url", URLS)
def test_a_secret_in_the_url_is_told_nobody(url: str) -> None:
    pytest.importorskip("redis")
    switch = RedisHaltSwitch(url, timeout_s=0.2)
    told = [repr(switch), str(switch.reason("k"))]
    with pytest.raises(StoreError) as failed:
        switch.engage("k", "x")
    told.append(str(failed.value))
    assert failed.value.__suppress_context__
    assert told[1].startswith("halt switch unreachable: ")
    for text in told:
        assert "hunter2" not in text


def test_a_wrong_password_reads_as_halted_and_is_told_nobody(redis_server: RedisServer) -> None:
    import redis

    with redis.Redis.from_url(redis_server.url) as client:
        client.config_set("requirepass", "right")
    socket = redis_server.url.removeprefix("unix://").removesuffix("?db=0")
    reason = str(RedisHaltSwitch(f"unix://{socket}?password=hunter2").reason("k"))
    assert reason.startswith("halt switch unreachable")
    assert "hunter2" not in reason
    assert RedisHaltSwitch(f"unix://{socket}?password=right").reason("k") is None
