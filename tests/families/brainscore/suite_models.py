"""Six models and all ten benchmarks: what the drill of the whole suite runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray as xr
from bsd_twin import twin
from test_bsd_definitions import solver
from test_bsd_tuning import tuned_units

from neuroarena.evaluation import Result
from neuroarena.evaluation.comparisons import judge_models
from neuroarena.families.brainscore import load_benchmark, load_dataset, load_model
from neuroarena.families.brainscore.assemblies import average_time, squeeze_time
from neuroarena.families.brainscore.comparison import NeuralComparison
from neuroarena.families.brainscore.definitions import QUESTIONS
from neuroarena.families.brainscore.models import ImagePreprocessing, PrecomputedFeatures
from neuroarena.families.brainscore.repetitions import average_repetitions
from shared_data import SHARED

HAXBY = SHARED / "data" / "real" / "haxby_fmri"
IMAGES = SHARED / "data" / "real" / "rsa_92images"
UNTRAINED = ("torchvision/resnet18", "torchvision/squeezenet1_1", "torchvision/mobilenet_v3_small")


def benchmarks(pictures: Path) -> list[NeuralComparison]:
    """Load all ten benchmarks: eight on the twin, two on real recordings, with stand-ins for Haxby's pictures."""
    found = []
    for name in QUESTIONS:
        options: dict[str, object] = {"data": twin()}
        if name == "Haxby2001-slice":
            options = {"data": HAXBY, "pictures": draw_categories(pictures)}
        elif name.startswith("Kriegeskorte"):
            options = {"data": IMAGES}
        found.append(NeuralComparison(load_benchmark(name, **options)))
    return found


def draw_categories(folder: Path) -> Path:
    """Write one picture per category of Haxby's study, taken from the twin's objects."""
    categories = load_benchmark("Haxby2001-slice", data=HAXBY).categories
    stimuli = load_dataset("MajajHong2015.public", data=twin()).attrs["stimulus_set"]
    for name, key in zip(categories, stimuli.ids[:: len(stimuli) // len(categories)], strict=False):
        stimuli.image(key).save(folder / f"{name}.png")
    return folder


def oracle() -> PrecomputedFeatures:
    """Make a model that knows the recordings: their means, the tuned units, the solution times, the dissimilarities."""
    tables = dict(tuned_units()._tables)
    tables["hvm-public"] = average_repetitions(
        squeeze_time(load_dataset("MajajHong2015.public", data=twin()))
    )
    textures = average_time(load_dataset("FreemanZiemba2013.public", data=twin()), 50, 200)
    tables["FreemanZiemba2013.aperture-public"] = average_repetitions(textures)
    tables["Kar2019"] = solver("by size")._tables[""]
    haxby = load_benchmark("Haxby2001-slice", data=HAXBY)
    tables["Haxby2001"] = _rows(haxby.patterns.mean(axis=0), haxby.categories)
    images = load_benchmark("Kriegeskorte2008.IT-rdm", data=IMAGES)
    tables["Kriegeskorte2008"] = _rows(images.rdms.mean(axis=0), images.stimuli.ids)
    return PrecomputedFeatures(tables, identifier="oracle")


def _rows(values: np.ndarray, ids: list[str]) -> xr.DataArray:
    return xr.DataArray(
        values, dims=("presentation", "neuroid"), coords={"stimulus_id": ("presentation", list(ids))}
    )


def run_suite(out: Path) -> list[Result]:
    """Judge six models on ten benchmarks and keep the results."""
    pictures = out.parent / "pictures"
    pictures.mkdir()
    # 64 pixels keep the drill short; untrained networks are none the worse for it.
    small = ImagePreprocessing(64)
    networks = [load_model(name, preprocessing=small, cache=False) for name in UNTRAINED]
    models = [*(load_model(name, cache=False) for name in ("pixels", "tiny-cnn")), *networks, oracle()]
    return judge_models([(None, model) for model in models], benchmarks(pictures), out=out)
