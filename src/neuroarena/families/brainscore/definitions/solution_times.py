"""Kar2019: does a model solve late the images that IT solves late?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from neuroarena.families.brainscore.assemblies import TimeBins, as_array, region_of
from neuroarena.families.brainscore.benchmark import BenchmarkBase, normalise
from neuroarena.families.brainscore.brain_model import BrainModel, check_model, model_name
from neuroarena.families.brainscore.brain_score import Score
from neuroarena.families.brainscore.definitions.files import mark_simulated, read_study
from neuroarena.families.brainscore.errors import ConfigError, DataQualityError, named
from neuroarena.families.brainscore.loading import load_metric
from neuroarena.families.brainscore.neural import show_stimuli
from neuroarena.families.brainscore.stimuli import StimulusSet

TIME_BINS: TimeBins = [(start, start + 10) for start in range(70, 250, 10)]
CEILING = 0.79
# The decoder of IT whose solution times are compared.
DECODER, REGION = "svm", "IT"
BIBTEX = """@article{kar2019evidence,
  title = {Evidence that recurrent circuits are critical to the ventral stream's execution of core object recognition
           behavior},
  author = {Kar, Kohitij and Kubilius, Jonas and Schmidt, Kailyn and Issa, Elias B. and DiCarlo, James J.},
  journal = {Nature Neuroscience},
  volume = {22},
  pages = {974--983},
  year = {2019},
  url = {https://www.nature.com/articles/s41593-019-0392-5}
}"""


class SolutionTimeBenchmark(BenchmarkBase):
    """Compare when a model and when a brain have recognised what an image shows.

    Parameters
    ----------
    identifier : str
    assembly : DataArray, presentation x one neuroid
        Object solution times in ms, NaN for images that were never solved; coordinates ``i1_threshold`` and
        ``image_label`` (or ``object_name``) on presentation, ``region`` on neuroid, and the stimuli in
        ``attrs["stimulus_set"]``.
    visual_degrees, number_of_trials
        As for :class:`~neuroarena.families.brainscore.neural.NeuralBenchmark`.
    **base
        ceiling_func, version, parent, bibtex. Scores are divided by the ceiling as they are.

    Raises
    ------
    ConfigError
        When the assembly holds more than one time for an image, or no stimuli.
    """

    def __init__(
        self, identifier: str, assembly: Any, visual_degrees: float, number_of_trials: int, **base: Any
    ) -> None:
        super().__init__(identifier, **base)
        self._assembly = as_array(assembly)
        stimuli = self._assembly.attrs.get("stimulus_set")
        if self._assembly.sizes["neuroid"] != 1 or not self._assembly["stimulus_id"].to_index().is_unique:
            raise ConfigError(
                f"{identifier}: expected one solution time for each image, as presentation x 1."
            )
        if not isinstance(stimuli, StimulusSet):
            raise ConfigError(f'{identifier}: attrs["stimulus_set"] of the assembly must be a StimulusSet.')
        self._stimuli = stimuli.select(self._assembly["stimulus_id"].values.tolist())
        self._similarity_metric = load_metric("ost")
        self._visual_degrees = visual_degrees
        self._number_of_trials = number_of_trials
        self.region = region_of(self._assembly)
        self.timebins = list(TIME_BINS)

    @property
    def assembly(self) -> xr.DataArray:
        """The measured solution times."""
        return self._assembly

    def __call__(self, candidate: BrainModel) -> Score:
        """Record from a model over time and compare its solution times with the measured ones.

        Raises
        ------
        DataQualityError
            When the model's response does not change over time; two images show that before the rest is looked at.
        """
        check_model(candidate)
        self.checked_ceiling()
        candidate.start_recording(self.region, time_bins=self.timebins)
        first = self._show_stimuli(candidate, self._stimuli.select(self._stimuli.ids[:2]))
        if "time_bin" not in first.dims or not np.ptp(first.values, axis=first.dims.index("time_bin")).any():
            raise DataQualityError(
                f'{self.identifier}: the response of "{model_name(candidate)}" does not change over time, so it has no '
                "object solution times. Use a model with time (recurrent, or recorded bin by bin)."
            )
        raw = self._similarity_metric(self._show_stimuli(candidate, self._stimuli), self._assembly)
        return normalise(raw, self, "ratio")

    def _show_stimuli(self, candidate: BrainModel, stimuli: StimulusSet) -> xr.DataArray:
        return show_stimuli(candidate, stimuli, self._visual_degrees, self._number_of_trials)


def read_solution_times(data: str | Path | None = None) -> xr.DataArray:
    """Read the solution times of Kar2019 that one decoder of IT yields, presentation x one neuroid.

    Raises
    ------
    ConfigError
        When the decoder is not in the file; those that are, are listed.
    """
    array = read_study("Kar2019", data)
    decoders = [str(each) for each in array["decoder"].values] if "decoder" in array.coords else []
    if DECODER not in decoders:
        raise ConfigError(
            f'Kar2019: there is no decoder "{DECODER}" in the file; there are {named(decoders) or "none"}.'
        )
    chosen = array.isel(neuroid=[decoders.index(DECODER)])
    return chosen.assign_coords(region=("neuroid", [REGION]))


def kar_2019(data: str | Path | None = None, version: int = 2) -> SolutionTimeBenchmark:
    """Make ``Kar2019-ost``: object solution times of IT, 70 to 250 ms in bins of 10 ms; the ceiling is 0.79."""
    assembly = read_solution_times(data)
    benchmark = SolutionTimeBenchmark(
        identifier="Kar2019-ost",
        version=version,
        assembly=assembly,
        visual_degrees=8,
        number_of_trials=44,
        ceiling_func=lambda: CEILING,
        parent="IT",
        bibtex=BIBTEX,
    )
    return mark_simulated(benchmark, assembly.attrs["simulated"])
