"""What the tests of boards share."""

from __future__ import annotations

import pytest

from entry_making import ERROR_RATE, crowd, make_manifest, suite
from neuroarena.board import Board, Rules
from neuroarena.scoring import METRICS, Manifest

QUICK = Rules(n_draws=400)


@pytest.fixture
def error_rate(monkeypatch: pytest.MonkeyPatch) -> Manifest:
    """Rules with a lower-is-better metric that is a ratio of sums; registered for one test only."""
    monkeypatch.setitem(METRICS._registered, ERROR_RATE.name, ERROR_RATE)
    return make_manifest(metric=ERROR_RATE.name, chance=None)


@pytest.fixture(scope="session")
def crowd_board() -> Board:
    return Board(crowd(), QUICK)


@pytest.fixture(scope="session")
def suite_board() -> Board:
    return Board(suite(), QUICK, order=["within"])
