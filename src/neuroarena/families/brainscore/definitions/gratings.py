"""Marques2020: properties of V1 neurons, measured in a model with the gratings shown to the neurons."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import xarray as xr

from neuroarena.families.brainscore.ceilings import NeuronalPropertyCeiling
from neuroarena.families.brainscore.definitions.files import (
    mark_simulated,
    read_stimuli,
    read_study,
    vision_folder,
)
from neuroarena.families.brainscore.definitions.tuning import (
    orientation_tuning,
    size_tuning,
    spatial_frequency_tuning,
)
from neuroarena.families.brainscore.loading import load_metric
from neuroarena.families.brainscore.properties import (
    BLANK,
    ORIENTATION,
    RECEPTIVE_FIELD,
    PropertiesBenchmark,
)

TIME_BINS = [(70.0, 170.0)]
BIBTEX = """@article{marques2021multi,
  title = {Multi-scale hierarchical neural network models that bridge from single neurons in the primate primary visual
           cortex to object recognition behavior},
  author = {Marques, Tiago and Schrimpf, Martin and DiCarlo, James J.},
  journal = {bioRxiv},
  year = {2021},
  url = {https://www.biorxiv.org/content/10.1101/2021.03.01.433495}
}"""


def surround_suppression_index(data: str | Path | None = None, version: int = 1) -> PropertiesBenchmark:
    """Make the benchmark of how much large gratings suppress responses (Cavanaugh et al. 2002)."""
    return _benchmark(
        "Marques2020_Cavanaugh2002-surround_suppression_index",
        "Cavanaugh2002a",
        "surround_suppression_index",
        size_tuning,
        "V1-surround_modulation",
        data,
        version,
    )


def circular_variance(data: str | Path | None = None, version: int = 1) -> PropertiesBenchmark:
    """Make the benchmark of how selective responses are for orientation (Ringach et al. 2002)."""
    return _benchmark(
        "Marques2020_Ringach2002-circular_variance",
        "Ringach2002",
        "circular_variance",
        orientation_tuning,
        "V1-orientation",
        data,
        version,
    )


def peak_spatial_frequency(data: str | Path | None = None, version: int = 1) -> PropertiesBenchmark:
    """Make the benchmark of which spatial frequency neurons prefer (De Valois et al. 1982)."""
    return _benchmark(
        "Marques2020_DeValois1982-peak_sf",
        "DeValois1982b",
        "peak_spatial_frequency",
        spatial_frequency_tuning,
        "V1-spatial_frequency",
        data,
        version,
    )


def _benchmark(
    identifier: str,
    study: str,
    name: str,
    neuronal_property: Callable[..., xr.DataArray],
    parent: str,
    data: str | Path | None,
    version: int,
) -> PropertiesBenchmark:
    root = vision_folder(data).root
    assembly = read_study(study, root)
    metric = load_metric("ks_similarity", property_name=name)
    benchmark = PropertiesBenchmark(
        identifier=identifier,
        version=version,
        assembly=assembly,
        neuronal_property=neuronal_property,
        similarity_metric=metric,
        timebins=TIME_BINS,
        ceiling_func=NeuronalPropertyCeiling(metric),
        blank=read_stimuli(BLANK, root),
        receptive_field=read_stimuli(RECEPTIVE_FIELD, root),
        orientation=read_stimuli(ORIENTATION, root),
        parent=parent,
        bibtex=BIBTEX,
    )
    return mark_simulated(benchmark, assembly.attrs["simulated"])
