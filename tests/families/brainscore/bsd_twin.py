"""One simulated twin, and a smaller one to spoil."""

from __future__ import annotations

from pathlib import Path

from kept_twins import keep_twin


def twin() -> Path:
    """Return a twin of the default size."""
    return keep_twin("brainscore_vision")


def small_twin() -> Path:
    """Return a twin in which no picture tells anything, as small as it may be."""
    return keep_twin("brainscore_vision", images=12, repetitions=4, neuroids=6, strength=0)
