"""Tiny twins of all four tracks in one folder, for the tests of track 5."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from neuroarena.benchmarks import Benchmark
from neuroarena.datasets import load_dataset
from neuroarena.families.transfer import FAMILY

TINY: dict[str, dict[str, Any]] = {
    "things_eeg2": {
        "subjects": 1,
        "training_images": 200,
        "test_images": 40,
        "training_repetitions": 2,
        "test_repetitions": 1,
        "length": 32,
        "ideal": 0.999,
    },
    "bci_commands": {
        "subjects": 1,
        "sessions": 4,
        "runs": 2,
        "trials": 18,
        "channels": 6,
        "ideal": 0.99,
        "drift": 0.2,
    },
    "sleep_edf": {"people": 2, "nights": 1, "minutes": 51},
    "emg2qwerty": {"users": 3, "sessions": 2, "minutes": 0.3, "keys": 3},
}


def write_twins(root: Path, seed: int = 4) -> Path:
    for name, options in TINY.items():
        load_dataset(name).simulate(root / name, seed=seed, **options)
    return root


def load(root: Path, task: str) -> Benchmark:
    return FAMILY.load(task, "2026", str(root))
