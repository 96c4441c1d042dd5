"""The system's clock: the one place that asks what time it is."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from alphaswarm_assets.ports import Clock


class SystemClock(Clock):
    """Time as the operating system tells it."""

    def now(self) -> datetime:
        """Return the instant, in UTC, timezone-aware."""
        return datetime.now(UTC)

    def monotonic_s(self) -> float:
        """Return seconds that never go back."""
        return time.monotonic()
