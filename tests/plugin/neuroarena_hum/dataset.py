"""The dataset: one array and one table of labels per person."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.datasets import Dataset, Problem
from neuroarena.datasets.twin_folder import check_options, write_twin

RATE_HZ, WINDOW, HUMS = 50.0, 50, 40
LIMITS = {"people": (int, 2, 50), "seed": (int, 0, 2**32 - 1)}


def simulate(root: str | Path, people: int = 4, seed: int = 0) -> dict[str, Any]:
    """Write a twin in which loudness is planted in the variance, and pitch in the mean."""
    options = check_options("hum", {"people": people, "seed": seed}, LIMITS)
    return write_twin(root, "neuroarena-hum twin", 1, options, _write)


def _write(folder: Path, options: dict[str, Any]) -> dict[str, Any]:
    rng = np.random.default_rng(options["seed"])
    for person in range(options["people"]):
        loud = rng.permutation(np.arange(HUMS) % 2)
        pitch = rng.uniform(10.0, 20.0, HUMS)
        signal = rng.standard_normal((1, HUMS * WINDOW)) * (1 + np.repeat(loud, WINDOW))
        np.save(folder / f"person{person}.npy", (signal + np.repeat(pitch, WINDOW)).astype(np.float32))
        labels = {"loud": loud.tolist(), "pitch": pitch.round(4).tolist()}
        (folder / f"person{person}.json").write_text(json.dumps(labels))
    return {"people": options["people"]}


def verify(root: str | Path) -> list[Problem]:
    """List people whose labels are missing, and say when nobody is there."""
    recordings = sorted(Path(root).glob("person*.npy"))
    if not recordings:
        return [Problem("person0.npy", "there is nobody here.")]
    return [
        Problem(path.with_suffix(".json").name, "the labels are missing.")
        for path in recordings
        if not path.with_suffix(".json").is_file()
    ]


DATASET = Dataset(
    name="hum",
    title="Humming",
    licence="CC0",
    description="People who hum.",
    origin="made up",
    environment=("HUM_DIR",),
    open=Path,
    simulate=simulate,
    verify=verify,
    simulate_options={"people": "How many people.", "seed": "Of all chance."},
)
