"""Gratings and tuned units of V1: their tuning is prescribed, so that every measured property is known."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.families.brainscore.vision.drawings import draw_grating
from neuroarena.families.brainscore.vision.twin_files import png, write_assembly, write_stimuli

# y and x of all test stimuli in degrees: over two units of the first stage of a 64-pixel network.
POSITION = (0.0, 0.125)
DEGREES = 8.0
TRIALS = 20
UNITS = "marques2020_units.csv"
RADII = (0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
ORIENTATIONS = tuple(22.5 * step for step in range(8))
FREQUENCIES = tuple(2.0 ** (step / 2 - 2) for step in range(8))
PHASES = (0.0, 90.0, 180.0, 270.0)
BINS = {
    "surround_suppression_index": np.linspace(0, 1, 11),
    "circular_variance": np.linspace(0, 1, 11),
    "peak_spatial_frequency": 2.0 ** np.linspace(-2, 1.5, 8),
}
# Study -> its property and the stimuli it was measured with.
STUDIES = {
    "movshon.Cavanaugh2002a": ("surround_suppression_index", "Marques2020_size"),
    "shapley.Ringach2002": ("circular_variance", "Marques2020_orientation"),
    "devalois.DeValois1982b": ("peak_spatial_frequency", "Marques2020_spatial_frequency"),
}


def write_properties(root: Path, count: int, rng: np.random.Generator) -> dict[str, Any]:
    """Write five sets of gratings, `count` tuned units, and what three studies would measure in them."""
    for identifier, conditions in _sets().items():
        _write_gratings(root, identifier, conditions)
    units = draw_units(count, rng)
    with open(root / UNITS, "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(units)
        table.writerows(zip(*(values.tolist() for values in units.values()), strict=True))
    for study, (name, stimuli) in STUDIES.items():
        write_assembly(
            root,
            study,
            units[name][:, None],
            ("neuroid", "neuronal_property"),
            {
                "neuroid_id": ("neuroid", [f"unit{number:04d}" for number in range(count)]),
                "region": ("neuroid", ["V1"] * count),
                "neuronal_property": ("neuronal_property", [name]),
            },
            {"stimulus_set_identifier": stimuli, "number_of_trials": TRIALS, f"{name}_bins": BINS[name]},
        )
    means = {name: round(float(units[name].mean()), 6) for name, _ in STUDIES.values()}
    return {"units": UNITS, "n_units": count, "means": means}


def draw_units(count: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Draw tuned units.

    A unit's response is the product of its tuning to orientation, exp(k (cos 2(theta - theta0) - 1)), to spatial
    frequency, a Gaussian of its logarithm, and to size: rising with the radius up to a preferred one, then falling
    to 1 - index, which it reaches within the largest radius.

    Returns
    -------
    dict of str to ndarray, shape (count,)
        Parameters of the units, and the three properties that follow from them.
    """
    preferred = rng.uniform(0, 180, count)
    sharpness = rng.lognormal(0.3, 0.9, count)
    angles = np.deg2rad(np.array(ORIENTATIONS))
    curves = np.exp(sharpness[:, None] * (np.cos(2 * (angles - np.deg2rad(preferred)[:, None])) - 1))
    resultant = np.abs((curves * np.exp(2j * angles)).sum(axis=1)) / curves.sum(axis=1)
    return {
        "position_y": POSITION[0] + rng.uniform(-0.05, 0.05, count),
        "position_x": POSITION[1] + rng.uniform(-0.05, 0.05, count),
        "preferred_orientation": preferred,
        "orientation_sharpness": sharpness,
        "frequency_octaves": rng.uniform(0.7, 1.3, count),
        "preferred_radius": rng.choice(RADII[2:5], count),
        "surround_suppression_index": rng.beta(1.5, 2.5, count),
        "circular_variance": 1 - resultant,
        "peak_spatial_frequency": 2.0 ** rng.uniform(-1.6, 1.1, count),
    }


def _sets() -> dict[str, list[dict[str, float]]]:
    """List the conditions of every set of gratings."""

    def grid(**values: tuple[float, ...]) -> list[dict[str, float]]:
        return [dict(zip(values, each, strict=True)) for each in itertools.product(*values.values())]

    y, x = POSITION
    steps = (-0.5, -0.25, 0.0, 0.25, 0.5)
    here: dict[str, tuple[float, ...]] = {"position_y": (y,), "position_x": (x,), "contrast": (1.0,)}
    few = (0.0, 45.0, 90.0, 135.0)
    return {
        "Marques2020_blank": grid(
            **here | {"contrast": (0.0,)},
            radius=(0.0,),
            spatial_frequency=(0.0,),
            orientation=(0.0,),
            phase=(0.0,),
        ),
        "Marques2020_receptive_field": grid(
            position_y=tuple(y + step for step in steps),
            position_x=tuple(x + step for step in steps),
            contrast=(1.0,),
            radius=(0.25,),
            spatial_frequency=(1.0,),
            orientation=(0.0, 90.0),
            phase=(0.0, 180.0),
        ),
        "Marques2020_size": grid(
            **here, radius=RADII, spatial_frequency=FREQUENCIES[2:7:2], orientation=few, phase=PHASES
        ),
        "Marques2020_orientation": grid(
            **here,
            radius=(1.0,),
            spatial_frequency=FREQUENCIES[2:7:2],
            orientation=ORIENTATIONS,
            phase=PHASES,
        ),
        "Marques2020_spatial_frequency": grid(
            **here, radius=(1.0,), spatial_frequency=FREQUENCIES, orientation=few, phase=PHASES
        ),
    }


def _write_gratings(root: Path, identifier: str, conditions: list[dict[str, float]]) -> None:
    rows, pictures = [], []
    for number, condition in enumerate(conditions):
        key = f"{identifier.removeprefix('Marques2020_')}-{number:04d}"
        drawn = draw_grating(
            condition["radius"],
            condition["spatial_frequency"],
            condition["orientation"],
            condition["phase"],
            (condition["position_y"], condition["position_x"]),
            condition["contrast"],
            DEGREES,
        )
        rows.append({"stimulus_id": key, "filename": f"{key}.png", "degrees": DEGREES, **condition})
        pictures.append(png(drawn))
    write_stimuli(root, identifier, rows, pictures)
