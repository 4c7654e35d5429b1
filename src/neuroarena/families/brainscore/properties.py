"""Benchmarks of neuronal properties: measure a model like a neuron, compare distributions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr

from neuroarena.families.brainscore.assemblies import PropertyAssembly, TimeBins, join_stimuli, region_of
from neuroarena.families.brainscore.benchmark import BenchmarkBase, normalise
from neuroarena.families.brainscore.brain_model import BrainModel, check_model, model_name, recorded
from neuroarena.families.brainscore.brain_score import Score
from neuroarena.families.brainscore.errors import ConfigError, DataQualityError
from neuroarena.families.brainscore.firing_rates import (
    RATES,
    Calibration,
    RateConstants,
    calibrate,
    neuroids_at,
    receptive_field_centres,
    stimulus_position,
)
from neuroarena.families.brainscore.screen import place_on_screen
from neuroarena.families.brainscore.stimuli import StimulusSet

BLANK = "Marques2020_blank"
RECEPTIVE_FIELD = "Marques2020_receptive_field"
ORIENTATION = "Marques2020_orientation"
FIELD_TRIALS = 10
CALIBRATION_TRIALS = 20


class PropertiesBenchmark(BenchmarkBase):
    """Compare the distribution of a neuronal property in a model with that in recordings.

    Parameters
    ----------
    identifier : str
    assembly : DataArray, neuroid x neuronal_property
        With ``region`` (one value), the stimuli in ``attrs["stimulus_set"]`` (columns ``degrees``, ``position_y``,
        ``position_x``), and ``attrs["number_of_trials"]``.
    neuronal_property : callable
        ``(model_identifier=, responses=, baseline=) -> DataArray neuroid x neuronal_property``. Responses and
        baseline are firing rates, presentation x neuroid, of the neuroids whose receptive field is at the stimuli.
    similarity_metric : callable
        ``(model property, assembly) -> Score``.
    timebins : list of (start, end)
        In ms.
    ceiling_func : callable
        ``(assembly) -> Score``, such as ``NeuronalPropertyCeiling(similarity_metric)``, or
        ``() -> Score or number`` as for other benchmarks.
    blank, receptive_field, orientation : StimulusSet, optional
        An empty screen, gratings that map receptive fields, and gratings that calibrate firing rates; without them, the
        registered sets Marques2020_blank, Marques2020_receptive_field and Marques2020_orientation.
    rates : RateConstants, optional
        Firing rates of the region; those of V1 are known.
    **base
        version, parent, bibtex: see :class:`BenchmarkBase`. Scores are divided by the ceiling as they are.

    Raises
    ------
    ConfigError
        When the assembly, the region or the stimuli are unusable.
    """

    def __init__(
        self,
        identifier: str,
        assembly: Any,
        neuronal_property: Callable[..., xr.DataArray],
        similarity_metric: Callable[[xr.DataArray, xr.DataArray], Score],
        timebins: TimeBins,
        ceiling_func: Callable[..., Any],
        blank: StimulusSet | None = None,
        receptive_field: StimulusSet | None = None,
        orientation: StimulusSet | None = None,
        rates: RateConstants | None = None,
        **base: Any,
    ) -> None:
        super().__init__(identifier, ceiling_func, **base)
        self._assembly = (
            assembly.array if isinstance(assembly, PropertyAssembly) else PropertyAssembly(assembly).array
        )
        self.region = region_of(self._assembly)
        self.timebins = [(start, end) for start, end in timebins]
        self._stimuli, self._number_of_trials = _read_stimuli(self._assembly, identifier)
        self._position = stimulus_position(self._stimuli)
        self._neuronal_property = neuronal_property
        self._similarity_metric = similarity_metric
        self._sets = {BLANK: blank, RECEPTIVE_FIELD: receptive_field, ORIENTATION: orientation}
        found = rates or RATES.get(self.region)
        if found is None:
            raise ConfigError(
                f"{identifier}: the firing rates of {self.region} are not known. Pass rates=RateConstants(...)."
            )
        self._rates = found

    @property
    def assembly(self) -> xr.DataArray:
        """The properties of the recorded neuroids."""
        return self._assembly

    def _compute_ceiling(self) -> Any:
        return (
            self._ceiling_func()
            if _callable_alone(self._ceiling_func)
            else self._ceiling_func(self._assembly)
        )

    def __call__(self, candidate: BrainModel) -> Score:
        """Map receptive fields, calibrate firing rates, measure the property, and compare."""
        check_model(candidate)
        self.checked_ceiling()
        candidate.start_recording(self.region, time_bins=self.timebins)
        responses, baseline, counts = self._firing_rates(candidate)
        measured = self._neuronal_property(
            model_identifier=model_name(candidate), responses=responses, baseline=baseline
        )
        raw = self._similarity_metric(PropertyAssembly(measured).array, self._assembly)
        score = normalise(raw, self, "ratio")
        score.attrs |= {"n_model_neuroids_in_place": counts[0], "n_model_neuroids": counts[1]}
        return score

    def _firing_rates(self, candidate: BrainModel) -> tuple[xr.DataArray, xr.DataArray, tuple[int, int]]:
        """Return the rates of the neuroids at the stimuli, to the test set and to blank, and how many there are."""
        name = f'model "{model_name(candidate)}"'
        blank_set = self._stimulus_set(BLANK)
        centres = receptive_field_centres(
            self._show_stimuli(candidate, self._stimulus_set(RECEPTIVE_FIELD), FIELD_TRIALS),
            self._show_stimuli(candidate, blank_set, FIELD_TRIALS),
        )
        calibration = self._calibration(candidate, centres, name)
        in_place = _in_place(centres, self._position, name)
        rates = [
            calibration.rates(
                self._show_stimuli(candidate, stimuli, self._number_of_trials).isel(neuroid=in_place)
            )
            for stimuli in (self._stimuli, blank_set)
        ]
        return rates[0], rates[1], (in_place.size, len(centres))

    def _calibration(self, candidate: BrainModel, centres: np.ndarray, name: str) -> Calibration:
        orientation = self._stimulus_set(ORIENTATION)
        in_place = _in_place(centres, stimulus_position(orientation), name)
        return calibrate(
            self._show_stimuli(candidate, orientation, CALIBRATION_TRIALS).isel(neuroid=in_place),
            self._show_stimuli(candidate, self._stimulus_set(BLANK), CALIBRATION_TRIALS).isel(
                neuroid=in_place
            ),
            self._rates,
            name,
        )

    def _stimulus_set(self, name: str) -> StimulusSet:
        given = self._sets[name]
        if given is None:
            from neuroarena.families.brainscore.loading import load_stimulus_set

            given = self._sets[name] = load_stimulus_set(name)
        return given

    def _show_stimuli(self, candidate: BrainModel, stimuli: StimulusSet, trials: int) -> xr.DataArray:
        placed = place_on_screen(stimuli, target_visual_degrees=candidate.visual_degrees())
        array = recorded(candidate, placed, trials)
        if "time_bin" in array.dims:
            raise ConfigError(
                f"{self.identifier}: the model answered in {array.sizes['time_bin']} time bins; "
                f"a property is measured in one, and {len(self.timebins)} were requested."
            )
        return join_stimuli(array, placed)


def _callable_alone(function: Callable[..., Any]) -> bool:
    """Return whether a function can be called without arguments."""
    try:
        inspect.signature(function).bind()
    except (TypeError, ValueError):
        return False
    return True


def _read_stimuli(array: xr.DataArray, identifier: str) -> tuple[StimulusSet, int]:
    stimuli, trials = array.attrs.get("stimulus_set"), array.attrs.get("number_of_trials")
    if not isinstance(stimuli, StimulusSet):
        raise ConfigError(f'{identifier}: attrs["stimulus_set"] of the assembly must be a StimulusSet.')
    if not isinstance(trials, int | np.integer) or trials < 1:
        raise ConfigError(
            f'{identifier}: attrs["number_of_trials"] of the assembly is {trials!r}, expected a count.'
        )
    stimuli["degrees"]
    return stimuli, int(trials)


def _in_place(centres: np.ndarray, position: tuple[float, float], name: str) -> np.ndarray:
    found = np.flatnonzero(neuroids_at(centres, position))
    if found.size == 0:
        raise DataQualityError(
            f"{name}: none of {len(centres)} neuroids has its receptive field within 0.15 degrees of "
            f"y {position[0]:g}, x {position[1]:g}, where the stimuli are."
        )
    return found
