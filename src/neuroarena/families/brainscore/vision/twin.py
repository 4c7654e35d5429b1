"""Write the twin: one folder that serves every benchmark of vision whose data cannot be shipped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.datasets.twin_folder import Limits, check_options, write_twin
from neuroarena.families.brainscore.vision import drawings, network
from neuroarena.families.brainscore.vision.twin_files import png, sha1, write_assembly, write_stimuli
from neuroarena.families.brainscore.vision.twin_neurons import plant, reliability, spikes, trials
from neuroarena.families.brainscore.vision.twin_properties import write_properties

GENERATOR = "neuroarena brainscore_vision twin"
GENERATOR_VERSION = 2
# The layer of "tiny-cnn" that the neurons of a region read.
LAYER_OF = {"V1": "stage1", "V2": "stage2", "V4": "stage3", "IT": "stage4"}
TEXTURE_FAMILIES = (327, 336, 393, 402, 13, 18, 23, 30, 38, 48, 52, 56, 60, 71, 99)
TEXTURES = 135
KAR_IMAGES_AN_OBJECT = 20
NOISE = 1.0
SPIKES, DEPTH, WINDOW_MS = 20.0, 0.35, 150
# Object solution times in ms: the earliest, how much later the smallest objects are, and noise of the measurement.
OST_FIRST, OST_RANGE, OST_NOISE, OST_UNSOLVED = 100.0, 90.0, 8.0, 0.1
LIMITS: Limits = {
    "images": (int, 8, 400),
    "repetitions": (int, 2, 60),
    "neuroids": (int, 4, 200),
    "seed": (int, 0, 2**32 - 1),
    "explained": (float, 0.0, 1.0),
    "strength": (float, 0.0, 1.0),
}


def simulate(
    root: str | Path,
    *,
    images: int = 50,
    repetitions: int = 10,
    neuroids: int = 24,
    seed: int = 0,
    explained: float = 0.8,
    strength: float = 1.0,
) -> dict[str, Any]:
    """Write simulated recordings of V1, V2, V4 and IT with their stimuli into the folder `root`.

    Parameters
    ----------
    root : path
        The folder; missing, empty, or an earlier twin (which is replaced when its options differ).
    images : int
        Pictures of each of the eight objects (MajajHong2015).
    repetitions : int
        Trials of each picture (MajajHong2015; FreemanZiemba2013 has half as many).
    neuroids : int
        Neurons of each region, and of each study of properties five times as many.
    seed : int
        Seed of all randomness; the same seed yields the same numbers.
    explained : float
        Share of the repeatable variance of V1 to IT that is linear in the planted layer: the score of a model that
        predicts them as well as can be, by the formula r^2 / c.
    strength : float
        Factor on `explained`; with 0 the pictures carry no information about the neurons.

    Returns
    -------
    dict
        The card, as written to simulated.json.

    Raises
    ------
    InputError
        When an option is out of range, or the folder holds something else; nothing is written then.
    """
    given: dict[str, Any] = {"images": images, "repetitions": repetitions, "neuroids": neuroids, "seed": seed}
    given |= {"explained": explained, "strength": strength, "plant_leak": None}
    options = check_options("brainscore_vision", given, LIMITS)
    del options["plant_leak"]
    return write_twin(root, GENERATOR, GENERATOR_VERSION, options, _write)


def _write(root: Path, options: dict[str, Any]) -> dict[str, Any]:
    rng = np.random.default_rng(options["seed"])
    share = options["explained"] * options["strength"]
    regions = _majaj_hong(root, options, share, rng) | _freeman_ziemba(root, options, share, rng)
    return {
        "what": "Drawn pictures, neurons that read a known layer of a known network, and noise of known variance.",
        "network": {"model": "tiny-cnn", "weights": f"NumPy, seed {network.SEED}"},
        "regions": regions,
        "Kar2019": _kar(root, rng),
        "Marques2020": write_properties(root, 5 * options["neuroids"], rng),
    }


def _expected(region: str, benchmark: str, share: float, ceiling: float) -> dict[str, Any]:
    """Describe what the best model scores: r^2 = share * ceiling, since the noise lowers what can be predicted."""
    return {
        "benchmark": benchmark,
        "layer": LAYER_OF[region],
        "explained": share,
        "ceiling": round(ceiling, 6),
        "raw": round(float(np.sqrt(share * ceiling)), 6),
        "score": {"variance_ratio": share, "ratio_squared": round(share / ceiling, 6)},
    }


def _majaj_hong(
    root: Path, options: dict[str, Any], share: float, rng: np.random.Generator
) -> dict[str, Any]:
    rows, pictures, pixels = _objects(options["images"], rng)
    write_stimuli(root, "hvm-public", rows, pictures)
    layers = network.responses(pixels)
    count, repetitions = options["neuroids"], options["repetitions"]
    parts = [
        trials(plant(layers[LAYER_OF[region]], count, share, rng).signal, repetitions, NOISE, rng)
        for region in ("V4", "IT")
    ]
    values = np.concatenate(parts, axis=2)
    total = repetitions * len(rows)
    # Trials come in the order in which they were shown, which was random.
    order = rng.permutation(total)
    ids = np.tile([row["image_id"] for row in rows], repetitions)[order]
    write_assembly(
        root,
        "dicarlo.MajajHong2015.public",
        values.reshape(total, -1)[order].T[:, :, None],
        ("neuroid", "presentation", "time_bin"),
        {
            **_array_neuroids(count),
            "image_id": ("presentation", ids),
            "repetition": ("presentation", np.repeat(np.arange(repetitions), len(rows))[order]),
            "stimulus": ("presentation", np.tile(np.arange(len(rows)), repetitions)[order]),
            "time_bin_start": ("time_bin", np.array([70])),
            "time_bin_end": ("time_bin", np.array([170])),
        },
        {"stimulus_set_identifier": "hvm-public"},
    )
    ceiling = reliability(NOISE, repetitions)
    return {
        region: _expected(region, f"MajajHong2015.{region}-pls", share, ceiling) for region in ("V4", "IT")
    }


def _objects(count: int, rng: np.random.Generator) -> tuple[list[dict[str, Any]], list[bytes], np.ndarray]:
    """Draw `count` pictures of every object, with the columns of the published table."""
    rows, pictures, pixels = [], [], []
    for name, category in drawings.CATEGORIES.items():
        for number in range(count):
            place = {
                "ty": rng.uniform(-0.4, 0.4),
                "tz": rng.uniform(-0.4, 0.4),
                "s": rng.uniform(0.5, 1.1),
                "rxy": rng.uniform(-180, 180),
            }
            drawn = drawings.draw_object(name, place, rng)
            content = png(drawn)
            key = sha1(content)
            placed = {axis: round(value, 6) for axis, value in place.items()}
            rows.append(_hvm_row(key, name, category, number, placed))
            pictures.append(content)
            pixels.append(drawn)
    return rows, pictures, np.stack(pixels)


def _hvm_row(key: str, name: str, category: str, number: int, place: dict[str, float]) -> dict[str, Any]:
    return {
        "id": key,
        "image_id": key,
        "background_id": sha1(f"{name} {number}".encode()),
        "s": place["s"],
        "image_file_name": f"{name}_{number:03d}_64x64.png",
        "filename": f"{key}.png",
        "rxy": place["rxy"],
        "tz": place["tz"],
        "category_name": category,
        "rxz_semantic": 0.0,
        "ty": place["ty"],
        "ryz": 0.0,
        "object_name": name,
        "variation": 3,
        "size": 64.0,
        "rxy_semantic": place["rxy"],
        "ryz_semantic": 0.0,
        "rxz": 0.0,
    }


def _array_neuroids(count: int) -> dict[str, tuple[str, Any]]:
    """Name the electrodes of two animals, V4 first, as the published file does."""
    regions = ["V4"] * count + ["IT"] * count
    animals = [("Chabo", "Tito")[number % 2] for number in range(2 * count)]
    arrays = ["A" if region == "V4" else "MP"[number // 2 % 2] for number, region in enumerate(regions)]
    row, column = np.divmod(np.arange(2 * count), 10)
    ids = [f"{a}_L_{b}_{r}_{c}" for a, b, r, c in zip(animals, arrays, row, column, strict=True)]
    subregions = [
        "V4" if region == "V4" else ("cIT", "aIT")[each == "P"]
        for region, each in zip(regions, arrays, strict=True)
    ]
    columns = {
        "neuroid_id": ids,
        "arr": arrays,
        "col": column,
        "row": row,
        "hemisphere": ["L"] * len(ids),
        "subregion": subregions,
        "region": regions,
        "animal": animals,
        "x": 0.4 * column,
        "y": 0.4 * row,
    }
    return {name: ("neuroid", values) for name, values in columns.items()}


def _freeman_ziemba(
    root: Path, options: dict[str, Any], share: float, rng: np.random.Generator
) -> dict[str, Any]:
    rows, pictures, shown = _textures()
    write_stimuli(root, "FreemanZiemba2013.aperture-public", rows, pictures)
    layers = network.responses(shown)
    count, repetitions = options["neuroids"], max(2, options["repetitions"] // 2)
    drawn, ceilings = {}, {}
    for region in ("V1", "V2"):
        planted = plant(layers[LAYER_OF[region]], count, share, rng)
        drawn[region], ceilings[region] = spikes(planted.signal, repetitions, SPIKES, DEPTH, WINDOW_MS, rng)
    values = np.concatenate([drawn["V1"], drawn["V2"]], axis=2)
    write_assembly(
        root,
        "movshon.FreemanZiemba2013.public",
        values.reshape(-1, 2 * count, 300).transpose(1, 2, 0),
        ("neuroid", "time_bin", "presentation"),
        {
            "neuroid_id": ("neuroid", np.arange(1, 2 * count + 1)),
            "region": ("neuroid", ["V1"] * count + ["V2"] * count),
            "time_bin_start": ("time_bin", np.arange(300)),
            "time_bin_end": ("time_bin", np.arange(1, 301)),
            "image_id": ("presentation", [row["image_id"] for row in rows] * repetitions),
            "repetition": ("presentation", np.repeat(np.arange(repetitions), len(rows))),
        },
        {"stimulus_set_identifier": "FreemanZiemba2013.aperture-public"},
    )
    return {
        region: _expected(region, f"FreemanZiemba2013.{region}-pls", share, ceilings[region])
        for region in ("V1", "V2")
    }


def _textures() -> tuple[list[dict[str, Any]], list[bytes], np.ndarray]:
    """Draw samples of all families; they cover 4 of the 8 degrees of the network's field, gray around."""
    rows, pictures = [], []
    shown = np.full((TEXTURES, network.PIXELS, network.PIXELS, 3), drawings.GRAY, dtype=np.uint8)
    for number in range(TEXTURES):
        sample, place = divmod(number, 2 * len(TEXTURE_FAMILIES))
        family = TEXTURE_FAMILIES[place // 2]
        kind = ("texture", "noise")[place % 2]
        drawn = drawings.draw_texture(family, kind, sample + 1)
        content = png(drawn)
        key, name = (
            sha1(content),
            f"{'tex' if kind == 'texture' else kind}-32x32-im{family}-smp{sample + 1}.png",
        )
        rows.append(
            {
                "id": number,
                "image_id": key,
                "image_file_sha1": key,
                "image_file_name": name,
                "filename": name,
                "texture_type": kind,
                "texture_family": family,
                "sample": sample + 1,
                "resolution": "32x32",
                "image_id_without_aperture": sha1(name.encode()),
            }
        )
        pictures.append(content)
        shown[number, 16:48, 16:48] = drawn
    return rows, pictures, shown


def _kar(root: Path, rng: np.random.Generator) -> dict[str, Any]:
    """Write object solution times: the smaller the object, the later."""
    rows, pictures, _ = _objects(KAR_IMAGES_AN_OBJECT, rng)
    write_stimuli(root, "Kar2019", rows, pictures)
    scales = np.array([row["s"] for row in rows])
    rank = np.argsort(np.argsort(-scales)) / (len(rows) - 1)
    true = OST_FIRST + OST_RANGE * rank
    measured = true + OST_NOISE * rng.standard_normal(len(rows))
    solved = rng.random(len(rows)) >= OST_UNSOLVED
    ideal = float(np.corrcoef(np.argsort(np.argsort(measured[solved])), rank[solved])[0, 1])
    write_assembly(
        root,
        "Kar2019",
        np.where(solved, measured, np.nan)[:, None],
        ("presentation", "decoder"),
        {
            "image_id": ("presentation", [row["image_id"] for row in rows]),
            "image_label": ("presentation", [row["object_name"] for row in rows]),
            "i1_threshold": ("presentation", rng.uniform(0.8, 1.6, len(rows))),
            "decoder": ("decoder", ["svm"]),
        },
        {"stimulus_set_identifier": "Kar2019"},
    )
    return {
        "benchmark": "Kar2019-ost",
        "rule": f"{OST_FIRST:g} ms + {OST_RANGE:g} ms times the rank of the object's size, largest first, + noise",
        "noise_ms": OST_NOISE,
        "unsolved": int((~solved).sum()),
        "ideal_spearman": round(ideal, 4),
    }
