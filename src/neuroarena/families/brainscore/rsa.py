"""A benchmark of representational geometry: a model's dissimilarities against those of every subject."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr

from neuroarena.families.brainscore.assemblies import TimeBins, region_of
from neuroarena.families.brainscore.benchmark import BenchmarkBase, normalise
from neuroarena.families.brainscore.brain_model import BrainModel, check_model
from neuroarena.families.brainscore.brain_score import Score, as_score
from neuroarena.families.brainscore.errors import ConfigError, DataQualityError, named
from neuroarena.families.brainscore.kept_rows import offer_contributions
from neuroarena.families.brainscore.metrics.rdm import RDMSimilarity
from neuroarena.families.brainscore.neural import (
    bins_to_record,
    check_metric,
    check_recordings,
    check_trials,
    show_stimuli,
)


class RSABenchmark(BenchmarkBase):
    """Compare the dissimilarities of a model with those of each subject, and average over subjects.

    Parameters
    ----------
    identifier : str
    assembly : DataArray, presentation x neuroid
        As for :class:`NeuralBenchmark`, with the coordinate ``subject`` on neuroid.
    visual_degrees, number_of_trials
        As for :class:`NeuralBenchmark`.
    similarity_metric : callable or str
        ``(model, subject) -> Score``, or the name of a metric.
    ceiling_func : callable, optional
        ``() -> Score``; without it, the mean correlation of each subject's dissimilarities with the mean of all
        subjects (the upper bound; ``attrs["lower"]`` leaves the subject out of the mean).
    timebins, **base
        As for :class:`NeuralBenchmark`. Scores are divided by the ceiling as they are, not squared.
    """

    def __init__(
        self,
        identifier: str,
        assembly: Any,
        visual_degrees: float,
        number_of_trials: int,
        similarity_metric: Callable[[xr.DataArray, xr.DataArray], Score] | str = "rdm",
        ceiling_func: Callable[[], Any] | None = None,
        timebins: TimeBins | None = None,
        **base: Any,
    ) -> None:
        super().__init__(identifier, ceiling_func or self._bounds, **base)
        self._assembly, self._stimuli = check_recordings(assembly, identifier)
        if "subject" not in self._assembly.coords or self._assembly["subject"].dims != ("neuroid",):
            raise ConfigError(
                f'{identifier}: the neuroids have no coordinate "subject"; RSA compares subject by subject.'
            )
        self._similarity_metric = check_metric(similarity_metric, identifier)
        self._visual_degrees = visual_degrees
        self._number_of_trials = check_trials(number_of_trials, identifier)
        self.region = region_of(self._assembly)
        self.timebins = bins_to_record(self._assembly, timebins, identifier)

    @property
    def assembly(self) -> xr.DataArray:
        """The recordings of all subjects."""
        return self._assembly

    @property
    def subjects(self) -> list[Any]:
        """The subjects, in order of first appearance."""
        return list(dict.fromkeys(self._assembly["subject"].values.tolist()))

    def __call__(self, candidate: BrainModel) -> Score:
        """Record from a model and compare it with every subject."""
        check_model(candidate)
        self.checked_ceiling()
        candidate.start_recording(self.region, time_bins=self.timebins)
        source = show_stimuli(candidate, self._stimuli, self._visual_degrees, self._number_of_trials)
        owners = self._assembly["subject"].values
        recorded = [self._assembly.isel(neuroid=owners == subject) for subject in self.subjects]
        scores = [float(self._similarity_metric(source, each)) for each in recorded]
        if type(self._similarity_metric) is RDMSimilarity:
            share = functools.partial(self._similarity_metric.contributions, source, recorded)
            offer_contributions(self.subjects, share)
        values = xr.DataArray(scores, dims="subject", coords={"subject": self.subjects})
        if not np.isfinite(scores).all():
            bad = [
                str(each)
                for each, value in zip(self.subjects, scores, strict=True)
                if not math.isfinite(value)
            ]
            raise DataQualityError(
                f"{self.identifier}: the similarity with subjects {named(bad)} is not a number."
            )
        count = len(scores)
        raw = Score(
            float(np.mean(scores)),
            error=float(np.std(scores, ddof=1) / math.sqrt(count)) if count > 1 else None,
            raw=values,
            n_neuroids_used=self._assembly.sizes["neuroid"],
            n_neuroids_total=self._assembly.sizes["neuroid"],
        )
        return normalise(raw, self, "ratio")

    def _bounds(self) -> Score:
        from neuroarena.families.brainscore.loading import load_ceiling

        return as_score(load_ceiling("rsa")(self._assembly))
