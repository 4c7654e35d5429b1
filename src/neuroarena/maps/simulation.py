"""Simulated maps with a planted truth, to draw and to test conclusions with; signals are not simulated here."""

from __future__ import annotations

import numpy as np
import pandas as pd

from neuroarena.maps.assembly import GridPart, make_grid
from neuroarena.maps.grid import MapGrid
from neuroarena.maps.windows import window_bins

# Task: centre of the planted place (MNI305, mm; mirrored), peak in seconds, AUROC above chance at it.
_PLANTED: dict[str, tuple[tuple[float, float, float], float, float]] = {
    "sound": ((58.0, -20.0, 6.0), 0.125, 0.16),
    "word": ((56.0, -2.0, -6.0), 0.375, 0.11),
    "face": ((38.0, -62.0, -14.0), 0.625, 0.09),
}
_REGIONS: dict[str, tuple[float, float, float]] = {
    "superiortemporal": (58.0, -14.0, 2.0),
    "middletemporal": (60.0, -28.0, -12.0),
    "fusiform": (36.0, -54.0, -18.0),
    "lateraloccipital": (32.0, -86.0, 2.0),
    "precentral": (42.0, -8.0, 48.0),
    "parstriangularis": (48.0, 30.0, 8.0),
    "inferiorparietal": (44.0, -66.0, 34.0),
}
_SESSIONS = {"1": 2, "2": 2, "3": 1}
_FOLDS, _ELECTRODES = 2, 40
# Of one fold of 1,750 items; windows that overlap by half correlate .5 from bin to bin.
_FOLD_SD, _BETWEEN_BINS = 0.0135, 0.5
_RISE_S, _REACH_MM = 0.18, 22.0


def simulate_grid(seed: int, *, permutations: int = 199) -> MapGrid:
    """Simulate a map of three subjects, five sessions and four tasks, of which the last cannot be decoded.

    AUROCs are drawn, not decoded: a planted bump in time at electrodes near a planted place, and noise with the spread
    and the correlation between bins that real maps have. p values are made by the same functions as those of real maps.

    Parameters
    ----------
    seed : int
    permutations : int
        Draws of the null.

    Returns
    -------
    MapGrid
        With ``planted`` (task, electrode) and ``planted_peak_s`` (task,): the truth.
    """
    rng = np.random.default_rng(seed)
    bins = window_bins(-0.5, 1.375, 0.25, 0.125)
    electrodes = pd.concat([_place(subject, rng) for subject in _SESSIONS], ignore_index=True)
    tasks = [*_PLANTED, "nothing"]
    effects = {task: _effect(task, electrodes, bins) for task in tasks}
    parts = []
    for subject, count in _SESSIONS.items():
        rows = electrodes.index[electrodes["subject"] == subject]
        for session in range(1, count + 1):
            for task in tasks:
                shape = (permutations + 1, _FOLDS, len(rows), len(bins))
                draws = 0.5 + _draw_noise(rng, shape)
                observed = draws[0] + effects[task][rows]
                parts.append(
                    GridPart(task, f"{subject}_{session}", subject, observed, draws[1:], n_test=3500)
                )
    grid = make_grid(
        parts,
        electrodes,
        bins,
        split="simulated-halves",
        simulated=True,
        provenance={"made_by": "neuroarena.maps.simulate_grid", "seed": seed},
    )
    planted = np.stack([effects[task].max(axis=1) > 0.02 for task in tasks])
    peaks = [_PLANTED[task][1] if task in _PLANTED else np.nan for task in tasks]
    data = grid.data.assign(planted=(("task", "electrode"), planted), planted_peak_s=("task", peaks))
    return MapGrid(data, grid.nulls)


def _place(subject: str, rng: np.random.Generator) -> pd.DataFrame:
    """Place the electrodes of one subject around the centres of a few regions, in one hemisphere."""
    side = rng.choice([-1.0, 1.0])
    names = rng.choice(list(_REGIONS), _ELECTRODES)
    centres = np.array([_REGIONS[name] for name in names])
    xyz = centres + rng.normal(0, 6.0, centres.shape)
    xyz[:, 0] *= side
    table = pd.DataFrame(xyz, columns=["x", "y", "z"])
    table["name"] = [f"E{place + 1}" for place in range(_ELECTRODES)]
    table["subject"], table["space"] = subject, "MNI305"
    table["region_dk"] = [f"ctx-{'lh' if side < 0 else 'rh'}-{name}" for name in names]
    return table


def _effect(task: str, electrodes: pd.DataFrame, bins: pd.DataFrame) -> np.ndarray:
    """Return what is added to chance: array (electrodes, bins)."""
    if task not in _PLANTED:
        return np.zeros((len(electrodes), len(bins)))
    centre, peak_s, height = _PLANTED[task]
    place = electrodes[["x", "y", "z"]].abs().assign(y=electrodes["y"], z=electrodes["z"]).to_numpy()
    distance = np.linalg.norm(place - centre, axis=1)
    in_space = height * np.exp(-0.5 * (distance / _REACH_MM) ** 2) * (distance < 1.2 * _REACH_MM)
    in_time = np.exp(-0.5 * ((bins["centre_s"].to_numpy() - peak_s) / _RISE_S) ** 2)
    effect: np.ndarray = in_space[:, None] * in_time
    return effect


def _draw_noise(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    noise = rng.normal(0, _FOLD_SD, shape)
    for place in range(1, shape[-1]):
        noise[..., place] *= np.sqrt(1 - _BETWEEN_BINS**2)
        noise[..., place] += _BETWEEN_BINS * noise[..., place - 1]
    return noise
