"""Benchmarks that predict recordings from a model: one assembly, or one for fitting and one for testing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr

from neuroarena.families.brainscore.assemblies import (
    TimeBins,
    as_array,
    region_of,
    squeeze_time,
    time_bins_of,
)
from neuroarena.families.brainscore.benchmark import BenchmarkBase, normalise
from neuroarena.families.brainscore.brain_model import BrainModel, check_model, recorded
from neuroarena.families.brainscore.brain_score import Score
from neuroarena.families.brainscore.errors import AlignmentError, ConfigError, DataQualityError, named
from neuroarena.families.brainscore.neuroids import ceiling_of, mean_of_scores, normalise_by_neuroid
from neuroarena.families.brainscore.normalisation import NORMALISATIONS, formula_of
from neuroarena.families.brainscore.screen import place_on_screen
from neuroarena.families.brainscore.stimuli import StimulusSet

Comparison = Callable[..., Score]


class NeuralBenchmark(BenchmarkBase):
    """Compare a model's activations with recordings from one region.

    Parameters
    ----------
    identifier : str
    assembly : DataArray, presentation x neuroid [x time_bin]
        One row per stimulus, repetitions averaged; coordinate ``region`` with one value, time bins as dim or as
        scalars, and the stimuli in ``attrs["stimulus_set"]``.
    similarity_metric : callable or str
        ``(model, recordings) -> Score``, or the name of a metric.
    visual_degrees : float
        Size of the stimuli in the experiment.
    number_of_trials : int
        Presentations of each stimulus in the experiment, for models whose responses are random.
    timebins : list of (start, end), optional
        In ms, for recordings that have no time coordinate.
    normalisation : str, optional
        Name of the formula; without it, the one of the version.
    **base
        ceiling_func, version, parent, bibtex: see :class:`BenchmarkBase`.

    Raises
    ------
    ConfigError, DataQualityError
        When the assembly is unusable: no or several regions, no time bins, no stimuli, NaN, duplicated stimuli.
    """

    def __init__(
        self,
        identifier: str,
        assembly: Any,
        similarity_metric: Comparison,
        visual_degrees: float,
        number_of_trials: int,
        timebins: TimeBins | None = None,
        normalisation: str | None = None,
        **base: Any,
    ) -> None:
        super().__init__(identifier, **base)
        self._assembly, self._stimuli = check_recordings(assembly, identifier)
        self._similarity_metric = check_metric(similarity_metric, identifier)
        self._visual_degrees = visual_degrees
        self._number_of_trials = check_trials(number_of_trials, identifier)
        self._normalisation = formula_of(self.version, normalisation)
        self.region = region_of(self._assembly)
        self.timebins = bins_to_record(self._assembly, timebins, identifier)

    @property
    def assembly(self) -> xr.DataArray:
        """The recordings models are compared with."""
        return self._assembly

    def __call__(self, candidate: BrainModel) -> Score:
        """Record from a model, compare, and normalise by the ceiling."""
        check_model(candidate)
        # A broken ceiling must surface before the model runs for an hour.
        self.checked_ceiling()
        candidate.start_recording(self.region, time_bins=self.timebins)
        source = show_stimuli(candidate, self._stimuli, self._visual_degrees, self._number_of_trials)
        raw = self._similarity_metric(source, self._assembly)
        return normalise(raw, self, self._normalisation)


class TrainTestNeuralBenchmark(BenchmarkBase):
    """Fit on some stimuli, test on others; the recordings define the parts.

    Parameters
    ----------
    identifier : str
    train_assembly, test_assembly : DataArray, presentation x neuroid
        As for :class:`NeuralBenchmark`; the same neuroids in both.
    similarity_metric : callable
        Called with the keywords source_train, target_train, source_test, target_test.
    visual_degrees, number_of_trials
        As for :class:`NeuralBenchmark`.
    alpha_coord : str, optional
        A coordinate of the neuroids, such as ``subject``: fit, test and normalise separately for each of its values,
        and average the normalised scores. The ceiling of a value is that of its own neuroids where the ceiling's
        ``raw`` distinguishes them.
    per_neuroid_ceiling : bool
        Normalise each neuroid by its own ceiling, then average over neuroids.
    timebins, normalisation, **base
        As for :class:`NeuralBenchmark`.

    Raises
    ------
    AlignmentError
        When a stimulus is in both parts, or when the parts hold different neuroids.
    """

    def __init__(
        self,
        identifier: str,
        train_assembly: Any,
        test_assembly: Any,
        similarity_metric: Comparison,
        visual_degrees: float,
        number_of_trials: int,
        alpha_coord: str | None = None,
        per_neuroid_ceiling: bool = False,
        timebins: TimeBins | None = None,
        normalisation: str | None = None,
        **base: Any,
    ) -> None:
        super().__init__(identifier, **base)
        self.train_assembly, self._train_stimuli = check_recordings(train_assembly, identifier)
        self.test_assembly, self._test_stimuli = check_recordings(test_assembly, identifier)
        self.test_assembly = _same_neuroids(self.train_assembly, self.test_assembly, identifier)
        _check_apart(self.train_assembly, self.test_assembly, identifier)
        if alpha_coord is not None and alpha_coord not in self.train_assembly.coords:
            raise ConfigError(
                f'{identifier}: the neuroids have no coordinate "{alpha_coord}" to fit separately by.'
            )
        self._similarity_metric = check_metric(similarity_metric, identifier)
        self._visual_degrees = visual_degrees
        self._number_of_trials = check_trials(number_of_trials, identifier)
        self._alpha_coord = alpha_coord
        self._per_neuroid_ceiling = per_neuroid_ceiling
        self._normalisation = formula_of(self.version, normalisation)
        self.region = region_of(self.train_assembly)
        self.timebins = bins_to_record(self.train_assembly, timebins, identifier)

    def __call__(self, candidate: BrainModel) -> Score:
        """Record from a model on both parts, fit, test, and normalise."""
        check_model(candidate)
        self.checked_ceiling()
        source = {}
        for part, stimuli in (("train", self._train_stimuli), ("test", self._test_stimuli)):
            candidate.start_recording(self.region, time_bins=self.timebins)
            source[part] = show_stimuli(candidate, stimuli, self._visual_degrees, self._number_of_trials)
        if self._alpha_coord is None:
            return self._score_of(source, slice(None))
        return self._mean_over_values(source, self._alpha_coord)

    def _mean_over_values(self, source: dict[str, xr.DataArray], coordinate: str) -> Score:
        values = self.train_assembly[coordinate].values
        scores = {
            str(value): self._score_of(source, values == value) for value in dict.fromkeys(values.tolist())
        }
        return mean_of_scores(scores, coordinate)

    def _score_of(self, source: dict[str, xr.DataArray], neuroids: Any) -> Score:
        target_train = self.train_assembly.isel(neuroid=neuroids)
        raw = self._similarity_metric(
            source_train=source["train"],
            target_train=target_train,
            source_test=source["test"],
            target_test=self.test_assembly.isel(neuroid=neuroids),
        )
        ceiling = ceiling_of(self.checked_ceiling(), target_train["neuroid_id"].values, self.identifier)
        if self._per_neuroid_ceiling:
            return normalise_by_neuroid(raw, ceiling, self._normalisation)
        return NORMALISATIONS[self._normalisation](raw, ceiling)


def check_metric(metric: Any, identifier: str) -> Comparison:
    """Return a metric, loading it by name where needed, or refuse what cannot be called."""
    from neuroarena.families.brainscore.loading import load_metric

    loaded = load_metric(metric)
    if not callable(loaded):
        raise ConfigError(
            f"{identifier}: similarity_metric is a {type(metric).__name__}, expected a metric or its name."
        )
    return loaded  # type: ignore[no-any-return]


def check_trials(number: Any, identifier: str) -> int:
    """Return the number of presentations of each stimulus, or refuse what is not a count."""
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
        raise ConfigError(f"{identifier}: number_of_trials is {number!r}, expected a count of at least 1.")
    return int(number)


def check_recordings(assembly: Any, identifier: str) -> tuple[xr.DataArray, StimulusSet]:
    """Check recordings that models will be compared with: no NaN, each stimulus once, all of them known.

    Returns
    -------
    DataArray, StimulusSet
        The flat recordings without a single time bin, and exactly the stimuli they hold.
    """
    array = squeeze_time(as_array(assembly))
    ids = array["stimulus_id"].to_index()
    if not ids.is_unique:
        raise DataQualityError(
            f"{identifier}: the stimuli {named(ids[ids.duplicated()].unique())} occur more than once in the assembly. "
            "Average the repetitions first: average_repetitions(assembly)."
        )
    missing = array.isnull()
    if bool(missing.any()):
        where = missing.any([dim for dim in array.dims if dim != "neuroid"]).values
        neuroids = array["neuroid_id"].values[where]
        raise DataQualityError(
            f"{identifier}: the recordings of neuroids {named(neuroids)} hold NaN. Leave these neuroids out."
        )
    stimuli = array.attrs.get("stimulus_set")
    if not isinstance(stimuli, StimulusSet):
        got = "none" if stimuli is None else f"a {type(stimuli).__name__}"
        raise ConfigError(
            f'{identifier}: attrs["stimulus_set"] of the assembly must be a StimulusSet, got {got}.'
        )
    known = set(stimuli.ids)
    unknown = [key for key in ids if key not in known]
    if unknown:
        raise AlignmentError(
            f"{identifier}: the stimuli {named(unknown)} of the assembly are not in {stimuli.name}."
        )
    return array, stimuli if len(stimuli) == len(ids) else stimuli.select(list(ids))


def bins_to_record(array: xr.DataArray, given: TimeBins | None, identifier: str) -> TimeBins:
    """Return the time bins a model is asked for: the recordings' own, otherwise those given."""
    bins = time_bins_of(array) or [(start, end) for start, end in given or []]
    if not bins:
        raise ConfigError(
            f"{identifier}: the assembly has no time bins. Add the coordinates time_bin_start and time_bin_end "
            "in ms from stimulus onset, or pass timebins=[(70, 170)]."
        )
    return bins


def show_stimuli(candidate: BrainModel, stimuli: StimulusSet, degrees: float, trials: int) -> xr.DataArray:
    """Place stimuli on a model's screen and return its checked recordings."""
    placed = place_on_screen(
        stimuli, target_visual_degrees=candidate.visual_degrees(), source_visual_degrees=degrees
    )
    return recorded(candidate, placed, trials)


def _same_neuroids(train: xr.DataArray, test: xr.DataArray, identifier: str) -> xr.DataArray:
    """Return the test part with its neuroids in the order of the training part."""
    wanted, there = train["neuroid_id"].to_index(), test["neuroid_id"].to_index()
    if set(wanted) != set(there):
        differing = sorted(str(each) for each in set(wanted) ^ set(there))
        raise AlignmentError(
            f"{identifier}: the neuroids {named(differing)} are in only one of the two assemblies."
        )
    return test.isel(neuroid=there.get_indexer(wanted))


def _check_apart(train: xr.DataArray, test: xr.DataArray, identifier: str) -> None:
    """Refuse parts that share stimuli: a model tested on what it was fitted on proves nothing."""
    fitted = set(train["stimulus_id"].values.tolist())
    both = [key for key in test["stimulus_id"].values.tolist() if key in fitted]
    if both:
        raise AlignmentError(
            f"{identifier}: the stimuli {named(both)} are in both the training and the test assembly. "
            "Keep each stimulus in one of them."
        )
