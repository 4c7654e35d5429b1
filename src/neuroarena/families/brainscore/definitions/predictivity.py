"""MajajHong2015 and FreemanZiemba2013: how well a model predicts neurons by partial least squares."""

from __future__ import annotations

from pathlib import Path

from neuroarena.families.brainscore.assemblies import average_time, squeeze_time
from neuroarena.families.brainscore.definitions.files import mark_simulated, neurons_in, read_study
from neuroarena.families.brainscore.loading import load_ceiling, load_metric
from neuroarena.families.brainscore.neural import NeuralBenchmark
from neuroarena.families.brainscore.repetitions import average_repetitions

# Version 4 normalises by r^2 / c, version 3 by (r / c)^2; nothing else differs.
VERSION = 4
MAJAJ_HONG_BIBTEX = """@article{majaj2015simple,
  title = {Simple learned weighted sums of inferior temporal neuronal firing rates accurately predict human core
           object recognition performance},
  author = {Majaj, Najib J. and Hong, Ha and Solomon, Ethan A. and DiCarlo, James J.},
  journal = {Journal of Neuroscience},
  volume = {35},
  number = {39},
  pages = {13402--13418},
  year = {2015},
  url = {https://www.jneurosci.org/content/35/39/13402}
}"""
FREEMAN_ZIEMBA_BIBTEX = """@article{freeman2013functional,
  title = {A functional and perceptual signature of the second visual area in primates},
  author = {Freeman, Jeremy and Ziemba, Corey M. and Heeger, David J. and Simoncelli, Eero P. and Movshon, J. Anthony},
  journal = {Nature Neuroscience},
  volume = {16},
  pages = {974--981},
  year = {2013},
  url = {https://www.nature.com/articles/nn.3402}
}"""


def majaj_hong_2015_v4(data: str | Path | None = None, version: int = VERSION) -> NeuralBenchmark:
    """Make ``MajajHong2015.V4-pls``: objects on backgrounds, multi-unit arrays, 70 to 170 ms."""
    return _majaj_hong("V4", data, version)


def majaj_hong_2015_it(data: str | Path | None = None, version: int = VERSION) -> NeuralBenchmark:
    """Make ``MajajHong2015.IT-pls``: objects on backgrounds, multi-unit arrays, 70 to 170 ms."""
    return _majaj_hong("IT", data, version)


def _majaj_hong(region: str, data: str | Path | None, version: int) -> NeuralBenchmark:
    trials = squeeze_time(neurons_in(read_study("MajajHong2015.public", data), region))
    benchmark = NeuralBenchmark(
        identifier=f"MajajHong2015.{region}-pls",
        version=version,
        assembly=average_repetitions(trials),
        similarity_metric=load_metric("pls"),
        visual_degrees=8,
        number_of_trials=50,
        ceiling_func=lambda: load_ceiling("internal_consistency")(trials),
        parent=region,
        bibtex=MAJAJ_HONG_BIBTEX,
    )
    return mark_simulated(benchmark, trials.attrs["simulated"])


def freeman_ziemba_2013_v1(data: str | Path | None = None, version: int = VERSION) -> NeuralBenchmark:
    """Make ``FreemanZiemba2013.V1-pls``: textures and noise, single neurons, 50 to 200 ms."""
    return _freeman_ziemba("V1", data, version)


def freeman_ziemba_2013_v2(data: str | Path | None = None, version: int = VERSION) -> NeuralBenchmark:
    """Make ``FreemanZiemba2013.V2-pls``: textures and noise, single neurons, 50 to 200 ms."""
    return _freeman_ziemba("V2", data, version)


def _freeman_ziemba(region: str, data: str | Path | None, version: int) -> NeuralBenchmark:
    neurons = neurons_in(read_study("FreemanZiemba2013.public", data), region)
    trials = average_time(neurons, 50, 200)
    splits = {"stratification_coord": "texture_type"}
    benchmark = NeuralBenchmark(
        identifier=f"FreemanZiemba2013.{region}-pls",
        version=version,
        assembly=average_repetitions(trials),
        similarity_metric=load_metric("pls", crossvalidation_kwargs=splits),
        visual_degrees=4,
        number_of_trials=20,
        ceiling_func=lambda: load_ceiling("internal_consistency")(trials),
        parent=region,
        bibtex=FREEMAN_ZIEMBA_BIBTEX,
    )
    return mark_simulated(benchmark, trials.attrs["simulated"])
