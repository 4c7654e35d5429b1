"""Small stimuli, recordings and models for the tests of Brain-Score."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from neuroarena.families.brainscore.stimuli import StimulusSet


def stimuli(n: int = 60, objects: int = 4, size: int = 16, **columns: object) -> StimulusSet:
    """Draw `n` images of noise, in memory."""
    rng = np.random.default_rng(0)
    ids = [f"im{number:03d}" for number in range(n)]
    table = pd.DataFrame(
        {"stimulus_id": ids, "object_name": [f"object{i % objects}" for i in range(n)], **columns}
    )
    images = {key: rng.integers(0, 256, (size, size, 3), dtype=np.uint8) for key in ids}
    return StimulusSet(table, images=images, identifier="tiny")


def pixels(shown: StimulusSet, step: int = 4) -> np.ndarray:
    """Give every fourth pixel of every image, (n, features) in [0, 1]."""
    return np.stack([np.asarray(shown.image(key))[::step, ::step].ravel() / 255 for key in shown])


def recordings(
    region: str = "IT",
    n: int = 60,
    neuroids: int = 6,
    repetitions: int = 1,
    noise: float = 0.5,
    seed: int = 1,
) -> xr.DataArray:
    """Simulate recordings that are linear in the pixels, presentation x neuroid."""
    shown = stimuli(n)
    rng = np.random.default_rng(seed)
    signal = pixels(shown) @ rng.normal(size=(48, neuroids))
    signal = (signal - signal.mean(axis=0)) / signal.std(axis=0)
    trials = signal + noise * rng.normal(size=(repetitions, *signal.shape))
    coords = {
        "stimulus_id": ("presentation", np.tile(shown.ids, repetitions)),
        "object_name": ("presentation", np.tile(list(shown["object_name"]), repetitions)),
        "neuroid_id": ("neuroid", [f"{region}{number}" for number in range(neuroids)]),
        "region": ("neuroid", [region] * neuroids),
        "subject": ("neuroid", [f"monkey{number % 2}" for number in range(neuroids)]),
        "time_bin_start": 70,
        "time_bin_end": 170,
    }
    if repetitions > 1:
        coords["repetition"] = ("presentation", np.repeat(np.arange(repetitions), n))
    return xr.DataArray(
        trials.reshape(-1, neuroids),
        dims=("presentation", "neuroid"),
        coords=coords,
        attrs={"stimulus_set": shown, "identifier": "tiny"},
    )


class PixelModel:
    """A model whose activations are pixels; it writes down how it is called."""

    identifier = "tiny-pixels"

    def __init__(self, degrees: float = 8, change: object = None) -> None:
        self.degrees = degrees
        self.change = change
        self.calls: list[tuple] = []

    def visual_degrees(self) -> float:
        self.calls.append(("visual_degrees",))
        return self.degrees

    def start_recording(self, region, time_bins) -> None:
        self.calls.append(("start_recording", region, time_bins))

    def look_at(self, stimuli, number_of_trials=1):
        self.calls.append(("look_at", stimuli, number_of_trials))
        values = pixels(stimuli)
        columns = {name: ("presentation", list(stimuli[name])) for name in stimuli.table.columns}
        array = xr.DataArray(
            values[:, :, None],
            dims=("presentation", "neuroid", "time_bin"),
            coords={
                **columns,
                "neuroid_id": ("neuroid", np.arange(values.shape[1])),
                "time_bin_start": ("time_bin", [70]),
                "time_bin_end": ("time_bin", [170]),
            },
        )
        return array if self.change is None else self.change(array)
