"""Fixtures: a small open competition, its clock, and the token of a team."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena_making import Clock, join, make_arena
from neuroarena.competition.arena import Arena


@pytest.fixture
def clock() -> Clock:
    return Clock("2026-03-02 12:00 UTC")


@pytest.fixture
def arena(tmp_path: Path, clock: Clock) -> Arena:
    """An open competition without teams."""
    return make_arena(tmp_path, clock)


@pytest.fixture
def token(arena: Arena) -> str:
    """The token of a team that has accepted the terms."""
    return join(arena, "reds")
