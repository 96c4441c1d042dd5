"""What the contract suites share: child processes, and a real Redis."""

from __future__ import annotations

import pytest

from tests.ports.children import starting
from tests.ports.redis_servers import serving

start = pytest.fixture(starting, name="start")
redis_server = pytest.fixture(serving, name="redis_server")
