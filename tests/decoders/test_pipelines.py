"""Pipelines that the field expects, on windows in which the answer is planted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from neuroarena.decoders import Context, Group, load_decoder
from neuroarena.recordings import channel_table

CLASSES = ("10 Hz", "12 Hz", "15 Hz")
CHANNELS = channel_table(["O1", "Oz", "O2", "Pz"], kind="eeg")


def flicker(seed: int, locked: bool, n: int = 60) -> tuple[list[np.ndarray], np.ndarray]:
    """Make windows of 2 s at 128 Hz with a flicker in noise; its phase is the same in all of them where locked."""
    rng = np.random.default_rng(seed)
    numbers = np.arange(n) % 3
    time = np.arange(256) / 128
    phases = np.zeros(n) if locked else rng.uniform(0, 2 * np.pi, n)
    waves = np.sin(2 * np.pi * np.array([10, 12, 15])[numbers, None] * time + phases[:, None])
    signals = (
        2 * rng.standard_normal((n, 4, 256)) + np.array([0.5, 1, 0.5, 0.2])[None, :, None] * waves[:, None]
    )
    return signals.astype(np.float32), numbers


@pytest.mark.parametrize(("name", "locked"), [("trca", True), ("fbcca", True), ("fbcca", False)])
def test_a_flicker_in_noise_is_told_apart(name, locked):
    parameters = {"frequencies_hz": (10.0, 12.0, 15.0)} if name == "fbcca" else {}
    decoder = load_decoder(name, **parameters)

    def group(seed):
        windows, numbers = flicker(seed, locked)
        signals, channels = decoder.features(windows, CHANNELS, 128.0)
        table = pd.DataFrame({"id": [f"{seed}-{row}" for row in range(len(windows))]})
        return Group(signals, channels, 128.0, table, np.asarray(CLASSES)[numbers])

    predicted = decoder.fit([group(1)], None, Context(CLASSES)).predict([group(2)])
    assert (predicted.argmax(axis=1) == flicker(2, locked)[1]).mean() > 0.9
