"""A small simulated HBN-EEG for tests, written once a process."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

from neuroarena.families.eeg2025.hbn import simulate

_FOLDER = tempfile.TemporaryDirectory(prefix="hbn-twin-")


@functools.cache
def twin(strength: float = 1.0, people: int = 12) -> Path:
    """Give the folder of a twin: R1, R5 and R12 with twelve people and three more, four trials a run."""
    root = Path(_FOLDER.name) / f"strength-{strength}-{people}"
    simulate(root, people=people, trials=4, seconds=4, strength=strength)
    return root
