"""What the fault tests share: disks that are nearly full, and processes to kill."""

from __future__ import annotations

import pytest

from tests.faults.disks import mounting
from tests.ports.children import starting

start = pytest.fixture(starting, name="start")
disk = pytest.fixture(mounting, name="disk")
