"""Benchmarks, datasets, stimulus sets and models that ship with neuroarena, by name.

Values are factories without required arguments, or their addresses (``module:attribute``), which are imported on use.
Each accepts ``data=FOLDER``; without it the folder is found through environment variables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Factory = str | Callable[..., Any]

_HOME = "neuroarena.families.brainscore.definitions"


def _study(name: str) -> Callable[..., Any]:
    def load(data: str | None = None) -> Any:
        from neuroarena.families.brainscore.definitions.files import read_study

        return read_study(name, data)

    return load


def _stimuli(name: str) -> Callable[..., Any]:
    def load(data: str | None = None) -> Any:
        from neuroarena.families.brainscore.definitions.files import read_stimuli

        return read_stimuli(name, data)

    return load


BENCHMARK_FACTORIES: dict[str, Factory] = {
    "MajajHong2015.V4-pls": f"{_HOME}.predictivity:majaj_hong_2015_v4",
    "MajajHong2015.IT-pls": f"{_HOME}.predictivity:majaj_hong_2015_it",
    "FreemanZiemba2013.V1-pls": f"{_HOME}.predictivity:freeman_ziemba_2013_v1",
    "FreemanZiemba2013.V2-pls": f"{_HOME}.predictivity:freeman_ziemba_2013_v2",
    "Kar2019-ost": f"{_HOME}.solution_times:kar_2019",
    "Marques2020_Cavanaugh2002-surround_suppression_index": f"{_HOME}.gratings:surround_suppression_index",
    "Marques2020_Ringach2002-circular_variance": f"{_HOME}.gratings:circular_variance",
    "Marques2020_DeValois1982-peak_sf": f"{_HOME}.gratings:peak_spatial_frequency",
    "Haxby2001-slice": f"{_HOME}.haxby:haxby_2001_slice",
    "Kriegeskorte2008.IT-rdm": f"{_HOME}.kriegeskorte:kriegeskorte_2008_it",
}
MODEL_FACTORIES: dict[str, Factory] = {
    "pixels": "neuroarena.families.brainscore.models.shipped:pixels",
    "tiny-cnn": "neuroarena.families.brainscore.models.shipped:tiny_cnn",
}
QUESTIONS = {
    "MajajHong2015.V4-pls": "How well does a model predict V4 neurons that see objects on backgrounds?",
    "MajajHong2015.IT-pls": "How well does a model predict IT neurons that see objects on backgrounds?",
    "FreemanZiemba2013.V1-pls": "How well does a model predict V1 neurons that see textures and noise?",
    "FreemanZiemba2013.V2-pls": "How well does a model predict V2 neurons that see textures and noise?",
    "Kar2019-ost": "Does a model solve late the images that IT solves late?",
    "Marques2020_Cavanaugh2002-surround_suppression_index": "Is a model's V1 as suppressed by large gratings?",
    "Marques2020_Ringach2002-circular_variance": "Is a model's V1 as selective for orientation?",
    "Marques2020_DeValois1982-peak_sf": "Does a model's V1 prefer the same spatial frequencies?",
    "Haxby2001-slice": "Which kinds of pictures do voxels and a model tell apart?",
    "Kriegeskorte2008.IT-rdm": "Which of 92 images do human IT and a model tell apart?",
}
DATASET_FACTORIES: dict[str, Factory] = {
    name: _study(name)
    for name in (
        "MajajHong2015.public",
        "FreemanZiemba2013.public",
        "Kar2019",
        "Cavanaugh2002a",
        "Ringach2002",
        "DeValois1982b",
    )
}
STIMULUS_SET_FACTORIES: dict[str, Factory] = {
    name: _stimuli(name)
    for name in (
        "hvm-public",
        "FreemanZiemba2013.aperture-public",
        "Kar2019",
        "Marques2020_blank",
        "Marques2020_receptive_field",
        "Marques2020_size",
        "Marques2020_orientation",
        "Marques2020_spatial_frequency",
    )
}
