"""The brake in Redis, for more than one machine."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from alphaswarm_assets.errors import StoreError
from alphaswarm_assets.ports import HaltSwitch
from alphaswarm_resources.halt_reasons import unreachable, worded

# Whoever reads back its own token engaged the halt, also when the answer to a first try was lost.
_ENGAGE = "redis.call('SET', KEYS[1], ARGV[1], 'NX') return redis.call('GET', KEYS[1])"
_RELEASE = "local held = redis.call('GET', KEYS[1]) redis.call('DEL', KEYS[1]) return held"

_SOMEWHERE = "its URL"


class RedisHaltSwitch(HaltSwitch):
    """A switch whose state is which keys stand under a prefix, in one Redis of version 6.2 or later."""

    def __init__(
        self, url: str, prefix: str = "alphaswarm:halt:", *, timeout_s: float = 1.0
    ) -> None:
        """Use the Redis at *url* (``redis://``, ``rediss://`` or ``unix://``); nothing is connected to yet.

        A call gives up after two tries of *timeout_s* seconds each. User name, password and query of *url* appear in no
        message.
        """
        self._url = url
        self._prefix = prefix
        self._timeout_s = timeout_s

    def __repr__(self) -> str:
        """Return the switch without what is secret in its URL."""
        return f"RedisHaltSwitch({_place(self._url)!r}, prefix={self._prefix!r})"

    def reason(self, key: str) -> str | None:
        """Return why *key* is halted, or None if it may run; an unreachable switch reads as halted, with the cause."""
        try:
            return _reason_in(self._ask(lambda redis: redis.get(self._prefix + key)))
        except StoreError as error:
            return unreachable(str(error))

    def engage(self, key: str, reason: str) -> bool:
        """Halt *key* for *reason*; return False, and change nothing, if it is halted already.

        Raises
        ------
        StoreError
            If the switch cannot be reached.
        """
        note = json.dumps({"reason": worded(reason), "token": secrets.token_hex(16)})
        held = self._ask(lambda redis: redis.eval(_ENGAGE, 1, self._prefix + key, note))
        return held == note.encode()

    def release(self, key: str) -> str | None:
        """Let *key* run again and return the reason it was halted for, None if it was not.

        Raises
        ------
        StoreError
            If the switch cannot be reached.
        """
        return _reason_in(self._ask(lambda redis: redis.eval(_RELEASE, 1, self._prefix + key)))

    def engaged(self) -> Mapping[str, str]:
        """Return every halted key with its reason.

        Raises
        ------
        StoreError
            If the switch cannot be reached: an empty answer would say that nothing is halted.
        """
        pattern = re.sub(r"([*?\[\]\\])", r"\\\1", self._prefix) + "*"
        names = self._ask(lambda redis: sorted(redis.scan_iter(match=pattern, count=1000)))
        keys = [name.decode(errors="replace").removeprefix(self._prefix) for name in names]
        halted = ((key, self.reason(key)) for key in keys)
        return {key: reason for key, reason in halted if reason is not None}

    @cached_property
    def _redis(self) -> object:
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        return Redis.from_url(
            self._url,
            socket_timeout=self._timeout_s,
            socket_connect_timeout=self._timeout_s,
            retry=Retry(NoBackoff(), 1),
        )

    def _ask(self, question: Callable[[Any], Any]) -> Any:
        try:
            from redis.exceptions import RedisError
        except ModuleNotFoundError:
            raise StoreError(
                "a halt switch in Redis needs the package redis: pip install 'alphaswarm[redis]'"
            ) from None
        try:
            return question(self._redis)
        # Not chained: what a driver says of a URL may show the password in it.
        except (RedisError, OSError, ValueError) as error:
            raise StoreError(
                f"the halt switch at {_place(self._url)} cannot be used, {_redacted(error, self._url)}. "
                "Start that server or correct its URL; until then every key reads as halted"
            ) from None


def _reason_in(held: object) -> str | None:
    """Return the reason in *held*; a value that somebody else set is its own reason."""
    if held is None:
        return None
    text = cast("bytes", held).decode(errors="replace")
    try:
        note: object = json.loads(text)
    except ValueError:
        return worded(text)
    match note:
        case {"reason": str(reason)} if reason:
            return reason
        case _:
            return worded(text)


def _place(url: str) -> str:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return _SOMEWHERE
    # A password with a / or # in it that is not quoted ends up in the wrong part.
    if not parts.scheme or "@" in parts.path + parts.query + parts.fragment:
        return _SOMEWHERE
    host = parts.hostname or ""
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path}"


def _redacted(error: Exception, url: str) -> str:
    if _place(url) == _SOMEWHERE or isinstance(error, ValueError):
        return f"{type(error).__name__} (write special characters of a password as %XX)"
    text = str(error)
    parts = urlsplit(url)
    for secret in (parts.password, parts.username, parts.query):
        if secret:
            text = text.replace(secret, "***").replace(unquote(secret), "***")
    return f"{type(error).__name__}: {text}"
