"""Real files beside the project: each folder skips its tests, with the reason, where it is absent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from shared_data import SHARED


@pytest.fixture(scope="session")
def real() -> Callable[[str], Path]:
    """Return a folder or file of the real data, by its path below ../shared/data/real."""

    def find(name: str) -> Path:
        path = SHARED / "data" / "real" / name
        if not path.exists():
            pytest.skip(f"the real data {name} are not beside this clone (../shared/data/real)")
        return path

    return find
