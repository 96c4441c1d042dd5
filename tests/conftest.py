"""What every test shares: a derandomised Hypothesis profile, and the way to the data beside the repository."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None)
settings.load_profile("ci")


def shared() -> Path:
    """Return the folder of reference data beside the repository, or skip: a plain clone does not have it."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip(
            f"reads reference data that is not in the repository; there is no {folder.name}/ beside it",
            allow_module_level=True,
        )
    return folder
