"""Labelled arrays for the tests of metrics, ceilings and models."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr


def assembly(values: np.ndarray, objects: int | None = 8, **more: Any) -> xr.DataArray:
    """Label responses (n, q[, t]) with stimulus, object and neuroid names; `more` adds or replaces coordinates."""
    n, q = values.shape[:2]
    coords: dict[str, Any] = {
        "stimulus_id": ("presentation", np.array([f"stim{at:04d}" for at in range(n)])),
        "neuroid_id": ("neuroid", np.array([f"unit{at}" for at in range(q)])),
        "region": ("neuroid", np.full(q, "IT")),
    }
    if objects is not None:
        coords["object_name"] = ("presentation", np.array([f"object{at % objects}" for at in range(n)]))
    if values.ndim == 3:
        coords["time_bin_start"] = ("time_bin", 70 + 10 * np.arange(values.shape[2]))
        coords["time_bin_end"] = ("time_bin", 80 + 10 * np.arange(values.shape[2]))
    dims = ("presentation", "neuroid", "time_bin")[: values.ndim]
    return xr.DataArray(values, dims=dims, coords={**coords, **more})


def trials(values: np.ndarray) -> xr.DataArray:
    """Label single trials (repetitions, stimuli, neuroids)."""
    repetitions, n, q = values.shape
    return assembly(
        values.reshape(repetitions * n, q),
        objects=None,
        stimulus_id=("presentation", np.tile([f"stim{at:04d}" for at in range(n)], repetitions)),
        repetition=("presentation", np.repeat(np.arange(repetitions), n)),
    )


def pair(
    n: int = 100, p: int = 40, q: int = 7, noise: float = 1.0, seed: int = 0
) -> tuple[xr.DataArray, xr.DataArray]:
    """Draw features and responses that are linear in them, plus noise."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p))
    y = x @ rng.normal(size=(p, q)) / np.sqrt(p) + noise * rng.normal(size=(n, q))
    return assembly(x), assembly(y)


def shuffled(array: xr.DataArray, seed: int) -> xr.DataArray:
    """Shuffle the rows, ids carried along."""
    return array.isel(presentation=np.random.default_rng(seed).permutation(array.sizes["presentation"]))


def with_value(array: xr.DataArray, row: int, column: int, value: float) -> xr.DataArray:
    """Give a copy with one value replaced."""
    changed = array.copy(deep=True)
    changed[row, column] = value
    return changed


def renamed(array: xr.DataArray, row: int, name: str, coordinate: str = "stimulus_id") -> xr.DataArray:
    """Give a copy with one row called otherwise."""
    values = array[coordinate].values.astype(object)
    values[row] = name
    return array.assign_coords({coordinate: ("presentation", values.astype(str))})
