"""What the tests of the sandbox share: bubblewrap where it can run, and an honest skip where it cannot."""

from __future__ import annotations

import pytest

from neuroarena.sandbox import bubblewrap


@pytest.fixture(scope="session")
def bwrap() -> None:
    """Skip where bubblewrap cannot run; a skip says nothing about the plain child process."""
    reason = bubblewrap.unavailable()
    if reason is not None:
        pytest.skip(reason)
