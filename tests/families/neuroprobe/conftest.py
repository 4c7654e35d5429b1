from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from twin_copies import copy_twin

from file_server import site
from kept_twins import keep_twin
from neuroarena.families.neuroprobe.braintreebank import BrainTreebank

SMALL: dict[str, Any] = {"subjects": 1, "sessions": 2, "electrodes": 16, "minutes": 2.0, "seed": 3}


@pytest.fixture(scope="session")
def twin_root() -> Path:
    """The smallest twin there is: read it, do not change it."""
    return keep_twin("braintreebank", **SMALL)


@pytest.fixture(scope="session")
def twin(twin_root: Path) -> BrainTreebank:
    return BrainTreebank(twin_root)


@pytest.fixture
def broken(twin_root: Path, tmp_path: Path) -> Callable[..., Path]:
    """A copy of the small twin that may be damaged; recordings only when they are named."""

    def copy(*changed: str) -> Path:
        return copy_twin(twin_root, tmp_path / "copy", *changed)

    return copy


__all__ = ["site"]
