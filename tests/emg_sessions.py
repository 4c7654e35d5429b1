"""Hand-made emg2qwerty files and small twins, for the tests of track emg; written by plain h5py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd

from kept_twins import keep_twin
from neuroarena.benchmarks import Benchmark
from neuroarena.decoders.decoder import Context, Group
from neuroarena.families.emg import FAMILY

BEGIN = 1_600_000_000.5
SMALL: dict[str, Any] = {"users": 3, "sessions": 2, "minutes": 0.5, "keys": 4, "seed": 5}
# As public converters write the table, and as no one does: other order, other types, fields besides.
FIELD_ORDERS: dict[str, list[tuple]] = {
    "published": [("emg_right", "<f4", (16,)), ("time", "<f8"), ("emg_left", "<f4", (16,))],
    "sorted": [("emg_left", "<f4", (16,)), ("emg_right", "<f4", (16,)), ("time", "<f8")],
    "wide": [("time", "<f8"), ("emg_left", ">f8", (16,)), ("gyro", "<i2", (3,)), ("emg_right", "<f8", (16,))],
}


def small_twin(**changes: Any) -> Path:
    """Return the small twin: read it, do not change it."""
    return keep_twin("emg2qwerty", **{**SMALL, **changes})


def press(key: str, second: float, **more: Any) -> dict[str, Any]:
    return {"key": key, "start": BEGIN + second, **more}


def hand_made(
    path: Path,
    keystrokes: list[dict[str, Any]],
    *,
    seconds: float = 1.0,
    fields: str = "published",
    prompts: list[dict[str, Any]] | None = None,
    signal: np.ndarray | None = None,
    attributes: dict[str, Any] | None = None,
    **storage: Any,
) -> np.ndarray:
    """Write a session; give its signals as (32, samples)."""
    n = int(seconds * 2000)
    if signal is None:
        signal = np.random.default_rng(n).normal(0, 10, (32, n)).astype(np.float32)
    table = np.zeros(n, dtype=FIELD_ORDERS[fields])
    table["emg_left"], table["emg_right"] = signal[:16].T, signal[16:].T
    table["time"] = BEGIN + np.arange(n) / 2000
    said = {
        "session_name": path.stem,
        "user": "00000007",
        "condition": "on_keyboard",
        "duration_mins": seconds / 60,
        "keystrokes": json.dumps(keystrokes),
        "prompts": json.dumps(prompts or []),
        **(attributes or {}),
    }
    with h5py.File(path, "w") as file:
        group = file.create_group("emg2qwerty")
        group.create_dataset("timeseries", data=table, **storage)
        for name, value in said.items():
            if value is not None:
                group.attrs[name] = value
    return signal


def parts(benchmark: Benchmark) -> tuple[list[Group], list[Group], tuple[str, ...]]:
    """Make the training and validation groups of the only fold as the engine does, and list the test ids."""
    (fold,) = benchmark.split("other-people").folds
    table = benchmark.examples.set_index("id", drop=False)

    def group(example: str) -> Group:
        row, recording = table.loc[example], benchmark.recording(example)
        known = pd.DataFrame([row[["id", "subject", "session", "start", "stop"]].to_dict()])
        return Group(
            np.empty((1, 32, 0), np.float32),
            recording.channels,
            recording.rate_hz,
            known,
            np.array([row["target"]], dtype=object),
            recording,
            benchmark.read_events(example),
        )

    return [group(each) for each in fold.train], [group(each) for each in fold.validation], fold.test


def context(seed: int = 0) -> Context:
    rule = FAMILY.manifest("emg2qwerty", "2026").stream
    return Context(rng=np.random.default_rng(seed), kind="text", stream=rule)


def load(root: Path) -> Benchmark:
    return FAMILY.load("emg2qwerty", "2026", str(root))
