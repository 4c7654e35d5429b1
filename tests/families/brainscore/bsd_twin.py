"""One simulated twin a test process, and a smaller one to spoil."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from neuroarena.families.brainscore.vision import simulate


@cache
def twin() -> Path:
    """Give a twin of the default size."""
    return _simulated()


@cache
def small_twin() -> Path:
    """Give a twin in which no picture tells anything, as small as it may be."""
    return _simulated(images=12, repetitions=4, neuroids=6, strength=0)


def _simulated(**options: float) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="neuroarena-bsd-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    simulate(folder / "twin", **options)
    return folder / "twin"
