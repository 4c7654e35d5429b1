"""A small simulated HBN-EEG for tests."""

from __future__ import annotations

from pathlib import Path

from kept_twins import keep_twin


def twin(strength: float = 1.0, people: int = 12) -> Path:
    """Return the folder of a twin: R1, R5 and R12 with twelve people and three more, four trials per run."""
    return keep_twin("hbn", people=people, trials=4, seconds=4, strength=strength)
