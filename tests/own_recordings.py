"""Small recordings of a lab: two people, two runs each, a rhythm that is stronger after one of two cues."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

RATE = 100.0
CHANNELS = ["C3", "Cz", "C4", "EOG", "STI"]
N_EVENTS = 16


def run_of(seed: int) -> tuple[np.ndarray, pd.DataFrame]:
    """Return signals in volts (five channels, the last of markers) and the events of a run."""
    rng = np.random.default_rng(seed)
    events = pd.DataFrame({"onset_s": 1.0 + 2.0 * np.arange(N_EVENTS), "duration_s": 1.0})
    events["description"] = rng.permutation(["left", "right"] * (N_EVENTS // 2))
    signals = rng.standard_normal((5, int(RATE * (2 * N_EVENTS + 2)))) * 1e-5
    signals[4] = 0
    rhythm = 4e-5 * np.sin(2 * np.pi * 12 * np.arange(RATE) / RATE)
    for onset, side in zip(events["onset_s"], events["description"], strict=True):
        start = int(onset * RATE)
        signals[0 if side == "left" else 2, start : start + int(RATE)] += rhythm
        signals[4, start : start + 5] = 1 if side == "left" else 2
    return signals, events


def raw_of(seed: int) -> Any:
    """Return a run as MNE has it."""
    import mne

    signals, events = run_of(seed)
    info = mne.create_info(CHANNELS, RATE, ["eeg", "eeg", "eeg", "eog", "stim"])
    raw = mne.io.RawArray(signals, info, verbose="error")
    raw.set_annotations(mne.Annotations(events["onset_s"], events["duration_s"], events["description"]))
    return raw


def write_files(folder: Path) -> list[Path]:
    """Write four runs as FIF: P1R1, P1R2, P2R1 and P2R2."""
    paths = []
    for seed, name in enumerate(("P1R1", "P1R2", "P2R1", "P2R2")):
        paths.append(folder / f"{name}.fif")
        raw_of(seed).save(paths[-1], fmt="double", verbose="error")
    return paths


def windows_of(seeds: tuple[int, ...] = (0, 1)) -> tuple[np.ndarray, pd.DataFrame]:
    """Return the seconds after the cues of some runs, in volts, with a table of metadata."""
    stacks, tables = [], []
    for seed in seeds:
        signals, events = run_of(seed)
        starts = (events["onset_s"].to_numpy() * RATE).astype(int)
        stacks.append(np.stack([signals[:3, start : start + int(RATE)] for start in starts]))
        tables.append(pd.DataFrame({"label": events["description"], "run": str(seed)}))
    return np.concatenate(stacks), pd.concat(tables, ignore_index=True)
