"""What the fault tests share: disks that are nearly full, processes to kill, and a home to put back as it was."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.disks import mounting
from tests.faults.homes import Shelf, make_shelf
from tests.faults.studies import Undisturbed, run_undisturbed
from tests.ports.children import starting
from tests.ports.redis_servers import serving

start = pytest.fixture(starting, name="start")
disk = pytest.fixture(mounting, name="disk")
redis_server = pytest.fixture(serving, name="redis_server")


@pytest.fixture(scope="session", autouse=True)
def new_connections() -> Iterator[None]:
    """Have MLflow connect anew each time: it would hold on to a database that a test has put back."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("MLFLOW_SQLALCHEMYSTORE_POOLCLASS", "NullPool")
        yield


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """One home folder for all tests of a worker; put it back before use."""
    return make_shelf(tmp_path_factory.mktemp("faults"))


@pytest.fixture(scope="session")
def undisturbed(shelf: Shelf) -> Undisturbed:
    """The tiny study run once; the home it left is kept as ``finished``."""
    return run_undisturbed(shelf)
