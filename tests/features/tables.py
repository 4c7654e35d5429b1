"""Channel tables and signals made by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ELECTRODES = Path(__file__).resolve().parents[2].parent / "shared/data/neuroprobe/electrodes.json"
RATE_HZ = 2048.0


def table(
    names: list[str], xyz: list[tuple[float, float, float]] | None = None, region: list[str] | None = None
) -> pd.DataFrame:
    """Make a channel table in the columns of the contract."""
    positions = np.full((len(names), 3), np.nan) if xyz is None else np.array(xyz, dtype=np.float64)
    return pd.DataFrame(
        {
            "name": names,
            "kind": ["ieeg"] * len(names),
            "x": positions[:, 0],
            "y": positions[:, 1],
            "z": positions[:, 2],
            "region": [""] * len(names) if region is None else region,
        }
    )


def numbered(count: int) -> pd.DataFrame:
    """Make a channel table of one probe."""
    return table([f"P{number}" for number in range(1, count + 1)])


def noise(*shape: int, seed: int = 0) -> np.ndarray:
    """Draw standard normal float32 numbers."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def real_label_sets() -> dict[str, list[str]]:
    """Expand the electrode lists of Neuroprobe; skips the test where they are absent."""
    if not ELECTRODES.exists():
        pytest.skip(f"the electrode lists of Neuroprobe are not here ({ELECTRODES.name} beside the project)")
    sets = {}
    for subset, subjects in json.loads(ELECTRODES.read_text()).items():
        for subject, runs in subjects.items():
            sets[f"{subset}/{subject}"] = [label for run in runs.split() for label in _expand(run)]
    return sets


def _expand(run: str) -> list[str]:
    """Expand `F10Fa14-16` to F10Fa14, F10Fa15, F10Fa16."""
    found = re.fullmatch(r"(.*[A-Za-z])(\d+)(?:-(\d+))?", run)
    assert found is not None, f"{ELECTRODES.name} holds a run that cannot be read: {run}"
    stem, first, last = found.group(1), int(found.group(2)), int(found.group(3) or found.group(2))
    return [f"{stem}{number}" for number in range(first, last + 1)]
