"""Serving the UI: a free port, one daemon a home, the address when it answers, and an end without orphans."""

from __future__ import annotations

import fcntl
import http.client
import socket
import subprocess
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from alphaswarm_assets.cli.consoles import say, standard_output
from alphaswarm_assets.cli.house import House
from alphaswarm_assets.cli.services import Service, start, stop
from alphaswarm_assets.cli.signals import interruptible, uninterruptible
from alphaswarm_assets.errors import StoreError

HOST: Final = "127.0.0.1"
FIRST_PORT: Final = 3000
N_PORTS: Final = 20
"""Ports tried one after the other where none is named."""

ANSWER_S: Final = 120.0
"""Seconds the UI has to answer before it is given up."""


def serve(house: House, *, port: int | None, with_daemon: bool) -> None:
    """Serve the UI of *house* until SIGINT or SIGTERM.

    Raises
    ------
    StoreError
        If no port is free, or a child ends by itself; what it said last is told.
    """
    console = standard_output()
    services: list[Service] = []
    with (
        interruptible(),
        _only_daemon(house.home, wanted=with_daemon) as may_start_daemon,
        suppress(KeyboardInterrupt),
    ):
        try:
            chosen = free_port(port)
            services.append(
                _start(house, "webserver", "dagster_webserver", ["-h", HOST, "-p", str(chosen)])
            )
            if may_start_daemon:
                services.append(_start(house, "daemon", "dagster._daemon", ["run"]))
            elif with_daemon:
                say(console, "a daemon of this home runs already; it is left to do its work")
            _await_answer(house, services, chosen)
            say(
                console,
                f"the UI is at http://{HOST}:{chosen} · logs in {house.home / 'logs'} · Ctrl-C ends it",
            )
            _watch(services)
        finally:
            _end(services)
    say(console, "the UI is closed")


def free_port(asked: int | None) -> int:
    """Return *asked* if it is free; where none is asked for, the first free one from 3000 on.

    Raises
    ------
    StoreError
        If there is none.
    """
    if asked is not None:
        if not _is_free(asked):
            raise StoreError(
                f"port {asked} is in use. Name another, or none for the next that is free: alphaswarm ui"
            )
        return asked
    for port in range(FIRST_PORT, FIRST_PORT + N_PORTS):
        if _is_free(port):
            return port
    raise StoreError(
        f"ports {FIRST_PORT} to {FIRST_PORT + N_PORTS - 1} are in use. Name one: alphaswarm ui --port PORT"
    )


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


@contextmanager
def _only_daemon(home: Path, *, wanted: bool) -> Generator[bool]:
    # Two daemons over one home would tick every sensor twice.
    if not wanted:
        yield False
        return
    (home / "logs").mkdir(parents=True, exist_ok=True)
    with (home / "logs" / "daemon.lock").open("a", encoding="utf-8") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def _start(house: House, name: str, module: str, arguments: list[str]) -> Service:
    return start(
        name,
        module,
        [*arguments, *house.workspace_arguments()],
        environment=house.child_environment(),
        logs=house.home / "logs",
    )


def _await_answer(house: House, services: list[Service], port: int) -> None:
    deadline_s = house.clock.monotonic_s() + ANSWER_S
    while not _answers(port):
        _require_alive(services, wait_s=0.25)
        if house.clock.monotonic_s() > deadline_s:
            raise StoreError(
                f"the UI did not answer within {ANSWER_S:.0f} s. Its log says:\n{services[0].last_words()}"
            )


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection(HOST, port, timeout=2.0)
    try:
        connection.request("GET", "/server_info")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _watch(services: list[Service]) -> None:
    while True:
        _require_alive(services, wait_s=1.0)


def _require_alive(services: list[Service], *, wait_s: float) -> None:
    for service in services:
        with suppress(subprocess.TimeoutExpired):
            code = service.process.wait(timeout=wait_s / len(services))
            raise StoreError(
                f"the {service.name} ended by itself, code {code}. Its log {service.log} says:\n{service.last_words()}"
            )


def _end(services: list[Service]) -> None:
    # A second Ctrl-C must not leave half of them behind.
    with uninterruptible():
        stop(services)
