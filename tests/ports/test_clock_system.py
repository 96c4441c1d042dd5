from datetime import UTC, timedelta

from alphaswarm_assets.ports import Clock
from alphaswarm_resources.clock_system import SystemClock


def test_the_system_clock_is_a_clock() -> None:
    assert isinstance(SystemClock(), Clock)


def test_now_is_aware_and_in_utc() -> None:
    now = SystemClock().now()
    assert now.tzinfo is UTC
    assert now.utcoffset() == timedelta(0)


def test_monotonic_seconds_never_go_back() -> None:
    clock = SystemClock()
    readings = [clock.monotonic_s() for _ in range(1000)]
    assert readings == sorted(readings)
