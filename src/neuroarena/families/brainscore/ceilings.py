"""Ceilings: how well a recording agrees with itself, which no model can be expected to exceed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from neuroarena.families.brainscore.assemblies import flat
from neuroarena.families.brainscore.brain_score import Score
from neuroarena.families.brainscore.errors import AlignmentError, ConfigError, DataQualityError, named
from neuroarena.families.brainscore.metrics.alignment import (
    STATIC,
    TEMPORAL,
    check_finite,
    keys,
    neuroid_coordinates,
    oriented,
)
from neuroarena.families.brainscore.metrics.folds import Array
from neuroarena.families.brainscore.metrics.metric import Metric, aggregate, pearson, split_table
from neuroarena.families.brainscore.metrics.rdm import Pooling, dissimilarities, noise_ceiling
from neuroarena.families.brainscore.metrics.temporal import TIMES

# Trials are rearranged into stimulus x repetition order this many bytes at a time: a block that stays in the
# processor's cache is halved ten times before the next is read.
BLOCK_BYTES = 4_000_000
COLUMNS = 512


class Ceiling:
    """Computes the Score that a recording sets as the limit for any model."""

    def __call__(self, assembly: xr.DataArray) -> Score:
        """Score how well `assembly`, with its single trials, agrees with itself."""
        raise NotImplementedError


def spearman_brown(r: Array, factor: float = 2.0) -> Array:
    """Return the reliability of `factor` times as many trials from the correlation `r`.

    Examples
    --------
    >>> spearman_brown(np.array([0.5, 1.0])).round(3).tolist()
    [0.667, 1.0]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Array = factor * r / (1.0 + (factor - 1.0) * r)
    # At r = -1 the formula has its pole; there is no such reliability.
    result[~np.isfinite(result)] = np.nan
    return result


class InternalConsistency(Ceiling):
    """Correlate two halves of the repetitions, corrected for the halved number of trials (Spearman-Brown).

    Repetitions are divided ten times at random, the same way for all stimuli. In each division every half is
    averaged over its repetitions, NaN trials left out, and correlated over stimuli neuroid by neuroid. The value
    is the median over neuroids, averaged over divisions.

    Parameters
    ----------
    splits : int
        Number of divisions.
    random_state : int
        Their seed.
    """

    dims: tuple[str, ...] = STATIC

    def __init__(self, splits: int = 10, random_state: int = 1) -> None:
        self.splits = splits
        self.random_state = random_state

    def __call__(self, assembly: xr.DataArray) -> Score:
        """Score a recording with its single trials.

        Parameters
        ----------
        assembly : DataArray, presentation x neuroid
            With `stimulus_id` and `repetition` on presentation.

        Returns
        -------
        Score
            `raw` is split x neuroid.

        Raises
        ------
        ConfigError
            When there is no coordinate `repetition`.
        DataQualityError
            When there is only one repetition, when a stimulus is in only one half, or when a trial is infinite.
        AlignmentError
            When a stimulus has the same repetition twice.
        """
        assembly = oriented(assembly, "assembly", self.dims)
        trials = Trials.of(assembly)
        check_not_infinite(assembly)
        first_half = self._halves(trials)
        parts, n_nan = [], 0
        for some in trials.some_columns():
            halves, missing = some.half_means(first_half)
            parts.append(np.stack([spearman_brown(pearson(a, b)) for a, b in halves]))
            n_nan += missing
        values, shape = np.concatenate(parts, axis=1), (self.splits, *assembly.shape[1:])
        times = {name: ("time_bin", assembly[name].values) for name in TIMES if "time_bin" in assembly.dims}
        raw = split_table(values.reshape(shape), neuroid_coordinates(assembly), **times)
        return aggregate(raw, n_nan_trials=n_nan)

    def _halves(self, trials: Trials) -> npt.NDArray[np.bool_]:
        """Draw which repetitions are in the first half, (splits, repetitions); every stimulus must appear in both."""
        from sklearn.model_selection import ShuffleSplit

        count = len(trials.repetitions)
        if count < 2:
            raise DataQualityError(
                f"Internal consistency needs two or more repetitions, got {count}. "
                "Use a recording that keeps its single trials."
            )
        chosen = np.zeros((self.splits, count), dtype=bool)
        splitter = ShuffleSplit(self.splits, train_size=0.5, random_state=self.random_state)
        for row, (train, _) in zip(chosen, splitter.split(np.empty((count, 1))), strict=True):
            row[train] = True
        present = (trials.rows >= 0).astype(np.float64)
        for half in (chosen, ~chosen):
            absent = (present @ half.T.astype(np.float64)).min(axis=1) == 0
            if absent.any():
                raise DataQualityError(
                    f"The stimuli {named(trials.ids[absent])} have no trial in one half of the repetitions. Use the "
                    'ceiling "internal_consistency_per_stimulus", which halves the trials of each stimulus.'
                )
        return chosen


class TemporalInternalConsistency(InternalConsistency):
    """The internal consistency of each time bin; the value is the mean over bins.

    Takes presentation x neuroid x time_bin; `raw` is split x neuroid x time_bin.
    """

    dims = TEMPORAL


@dataclass(frozen=True)
class Trials:
    """Single trials as a grid of stimuli by repetitions.

    Attributes
    ----------
    values : ndarray, shape (presentations, columns)
    ids, repetitions : ndarray
        Stimuli in order of appearance, repetitions sorted.
    rows : ndarray of int, shape (stimuli, repetitions)
        The presentation of each cell, -1 where there is none.
    """

    values: npt.NDArray[np.floating]
    ids: npt.NDArray[Any]
    repetitions: npt.NDArray[Any]
    rows: npt.NDArray[np.int64]

    @classmethod
    def of(cls, assembly: xr.DataArray) -> Trials:
        """Lay out an assembly whose first dim is presentation."""
        for name in ("stimulus_id", "repetition"):
            if name not in assembly.coords:
                raise ConfigError(
                    f'The assembly has no coordinate "{name}" on its presentations; a ceiling needs single trials.'
                )
        check_trials_once(assembly)
        stimuli, ids = pd.factorize(assembly["stimulus_id"].values)
        trials, repetitions = pd.factorize(assembly["repetition"].values, sort=True)
        rows = np.full((len(ids), len(repetitions)), -1, dtype=np.int64)
        rows[stimuli, trials] = np.arange(len(stimuli))
        values = assembly.values.reshape(len(stimuli), -1)
        return cls(values, np.asarray(ids), np.asarray(repetitions), rows)

    def some_columns(self) -> Iterator[Trials]:
        """Yield the trials a few hundred columns at a time: the halves of all time bins would not fit in memory."""
        for start in range(0, self.values.shape[1], COLUMNS):
            yield replace(self, values=self.values[:, start : start + COLUMNS])

    def half_means(self, first_half: npt.NDArray[np.bool_]) -> tuple[list[tuple[Array, Array]], int]:
        """Average both halves of the repetitions of every stimulus.

        Parameters
        ----------
        first_half : ndarray of bool, shape (splits, repetitions)

        Returns
        -------
        list of (ndarray, ndarray), each (stimuli, columns)
            NaN where a half holds no number.
        int
            How many trials were NaN.
        """
        splits, columns = len(first_half), self.values.shape[1]
        means = np.empty((2 * splits, len(self.ids), columns))
        weights = np.concatenate([first_half, ~first_half]).astype(np.float64)
        n_nan = 0
        for at, block in self._blocks():
            present = ~np.isnan(block)
            part = means[:, at]
            if present.all():
                np.divide(_summed(weights, block), weights.sum(axis=1)[:, None, None], out=part)
                continue
            n_nan += int((~present & (self.rows[at].T >= 0)[:, :, None]).sum())
            with np.errstate(invalid="ignore"):
                np.divide(
                    _summed(weights, np.where(present, block, 0.0)),
                    _summed(weights, present.astype(np.float64)),
                    out=part,
                )
        return [(means[at], means[splits + at]) for at in range(splits)], n_nan

    def _blocks(self) -> Iterator[tuple[slice, Array]]:
        """Yield trials as (repetitions, some stimuli, columns), NaN where there is no trial."""
        stimuli, repetitions = self.rows.shape
        step = max(1, BLOCK_BYTES // (8 * repetitions * self.values.shape[1]))
        for start in range(0, stimuli, step):
            at = slice(start, min(start + step, stimuli))
            rows = self.rows[at].T
            block = self.values[rows].astype(np.float64, copy=False)
            if (rows < 0).any():
                block[rows < 0] = np.nan
            yield at, block


def check_trials_once(assembly: xr.DataArray) -> None:
    """Refuse a stimulus that has the same repetition twice: a trial entered twice agrees with itself perfectly."""
    stimuli, repetitions = (assembly[name].values for name in ("stimulus_id", "repetition"))
    unnumbered = pd.isna(repetitions)
    if unnumbered.any():
        raise DataQualityError(f"Presentation {int(unnumbered.argmax())} has no repetition number.")
    again = pd.DataFrame({"stimulus": stimuli, "repetition": repetitions}).duplicated().to_numpy()
    if again.any():
        at = int(again.argmax())
        raise AlignmentError(
            f'The stimulus "{stimuli[at]}" has the repetition {repetitions[at]} more than once. '
            "Number the trials of each stimulus."
        )


def check_not_infinite(assembly: xr.DataArray) -> None:
    """Refuse infinite trials, and name the first; NaN is a trial that was not recorded."""
    infinite = np.isinf(assembly.values)
    if infinite.any():
        at = np.argwhere(infinite)[0]
        neuroid = neuroid_coordinates(assembly)["neuroid_id"][1][at[1]]
        raise DataQualityError(
            f'The assembly holds {assembly.values[tuple(at)]} for stimulus "{assembly["stimulus_id"].values[at[0]]}", '
            f'neuroid "{neuroid}" ({int(infinite.sum())} infinite values). Use NaN for a trial that was not recorded.'
        )


def _summed(weights: Array, block: Array) -> Array:
    """Sum (repetitions, stimuli, columns) over repetitions with each row of weights."""
    repetitions, stimuli, columns = block.shape
    return (weights @ block.reshape(repetitions, -1)).reshape(len(weights), stimuli, columns)


class PerStimulusConsistency(Ceiling):
    """Correlate random halves of each stimulus's own trials, corrected with Spearman-Brown.

    Unlike :class:`InternalConsistency` this does not need every repetition of every stimulus: it suits recordings
    with uneven numbers of trials. Trials that are NaN for a neuroid are left out of its halves.

    Parameters
    ----------
    splits : int
        How many random divisions.
    seed : int
        Their seed.
    fewest : int
        A neuroid is scored when at least this many stimuli have two trials.
    """

    def __init__(self, splits: int = 10, seed: int = 0, fewest: int = 10) -> None:
        self.splits = splits
        self.seed = seed
        self.fewest = fewest

    def __call__(self, assembly: xr.DataArray) -> Score:
        """Score a recording with its single trials, presentation x neuroid; only `stimulus_id` is needed.

        Returns
        -------
        Score
            `raw` is split x neuroid; ``attrs["n_stimuli_used"]`` counts the stimuli with two or more trials.

        Raises
        ------
        DataQualityError
            When fewer than `fewest` stimuli have two trials, or when a trial is infinite.
        AlignmentError
            When a stimulus has the same repetition twice.
        """
        assembly = oriented(assembly, "assembly", STATIC)
        if "stimulus_id" not in assembly.coords:
            raise ConfigError('The assembly has no coordinate "stimulus_id" on its presentations.')
        if "repetition" in assembly.coords:
            check_trials_once(assembly)
        check_not_infinite(assembly)
        # In order of the ids, so that the order of rows only decides which trial is in which half.
        stimuli, ids = pd.factorize(assembly["stimulus_id"].values, sort=True)
        counts = np.bincount(stimuli, minlength=len(ids))
        usable = counts >= 2
        if usable.sum() < self.fewest:
            raise DataQualityError(
                f"{int(usable.sum())} stimuli have two or more trials, expected at least {self.fewest}. "
                "Use a recording that keeps its single trials."
            )
        values = np.asarray(assembly.values, dtype=np.float64)
        order = self._order(assembly, stimuli)
        order = order[usable[stimuli[order]]]
        raw = self._divisions(values[order], stimuli[order])
        table = split_table(raw, neuroid_coordinates(assembly))
        attrs = {"n_stimuli_used": int(usable.sum()), "n_stimuli_total": len(ids)}
        return aggregate(table, n_nan_trials=int(np.isnan(values).sum()), **attrs)

    def _order(self, assembly: xr.DataArray, stimuli: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Sort trials by stimulus and, where it is known, by repetition."""
        if "repetition" in assembly.coords:
            return np.lexsort((assembly["repetition"].values, stimuli))
        return np.argsort(stimuli, kind="stable")

    def _divisions(self, values: Array, stimuli: npt.NDArray[Any]) -> Array:
        """Return the corrected correlation of each division and neuroid; rows are sorted by stimulus."""
        rng = np.random.default_rng(self.seed)
        starts = np.flatnonzero(np.append(True, np.diff(stimuli) > 0))
        counts = np.diff(np.append(starts, len(stimuli)))
        result = np.empty((self.splits, values.shape[1]))
        for split in range(self.splits):
            shuffled = values[np.lexsort((rng.random(len(values)), stimuli))]
            place = np.arange(len(values)) - np.repeat(starts, counts)
            first = place < np.repeat(counts // 2, counts)
            a, b = (_grouped_means(shuffled, starts, half) for half in (first, ~first))
            result[split] = spearman_brown(_pairwise_pearson(a, b, self.fewest))
        return result


def _grouped_means(values: Array, starts: npt.NDArray[Any], chosen: npt.NDArray[np.bool_]) -> Array:
    """Average the chosen rows of each group, NaN left out; NaN where nothing is left."""
    counted = chosen[:, None] & ~np.isnan(values)
    sums = np.add.reduceat(np.where(counted, values, 0.0), starts, axis=0)
    with np.errstate(invalid="ignore"):
        result: Array = sums / np.add.reduceat(counted.astype(np.float64), starts, axis=0)
    return result


def _pairwise_pearson(first: Array, second: Array, fewest: int) -> Array:
    """Correlate matching columns over the rows that both have; NaN with fewer than `fewest`."""
    both = np.isfinite(first) & np.isfinite(second)
    if both.all():
        return pearson(first, second)
    found = np.full(first.shape[1], np.nan)
    for column in np.flatnonzero(both.sum(axis=0) >= fewest):
        rows = both[:, column]
        found[column] = pearson(first[rows, column, None], second[rows, column, None])[0]
    return found


class RSACeiling(Ceiling):
    """How well the dissimilarities of subjects agree with those of all subjects.

    The value is the upper bound: the mean correlation of a subject with the mean of *all* subjects. The lower
    bound, against the mean of the *others*, is in ``attrs["lower_bound"]``. No correction is made for length.

    Parameters
    ----------
    subject_coord : str
        Coordinate on neuroid that names its subject.
    pooling : {"mean", "rank"}
        How subjects are averaged.
    """

    def __init__(self, subject_coord: str = "subject", pooling: Pooling = "mean") -> None:
        self.subject_coord = subject_coord
        self.pooling = pooling

    def __call__(self, assembly: xr.DataArray) -> Score:
        """Score an averaged recording, presentation x neuroid, of two or more subjects.

        Raises
        ------
        ConfigError
            When the assembly does not name the subjects.
        DataQualityError
            When there is only one subject, when a response is not finite, or when dissimilarities are not defined.
        AlignmentError
            When a row occurs twice: a stimulus, or a repetition of it where repetitions are distinguished.
        """
        assembly = oriented(flat(assembly), "assembly", STATIC)
        if self.subject_coord not in assembly.coords:
            raise ConfigError(f'The assembly has no coordinate "{self.subject_coord}" on its neuroids.')
        owners = assembly[self.subject_coord].values
        if "repetition" in assembly.coords and assembly["repetition"].dims == ("presentation",):
            check_trials_once(assembly)
            ids = assembly["stimulus_id"].values
        else:
            ids = keys(assembly, "assembly", "stimulus_id")
        check_finite(assembly.values, ids, neuroid_coordinates(assembly)["neuroid_id"][1], "assembly")
        subjects = list(pd.unique(owners))
        if len(subjects) < 2:
            raise DataQualityError(f"A noise ceiling needs two or more subjects, got only {named(subjects)}.")
        rdms = [dissimilarities(assembly.values[:, owners == one], ids, f"subject {one}") for one in subjects]
        return rdm_ceiling(np.stack(rdms), [str(one) for one in subjects], self.pooling)


def rdm_ceiling(rdms: npt.ArrayLike, subjects: list[str], pooling: Pooling = "mean") -> Score:
    """Return the noise ceiling of dissimilarity matrices, (subjects, n, n): upper bound, lower bound in attrs."""
    bounds = noise_ceiling(rdms, pooling)
    raw = xr.DataArray(
        np.stack([bounds.lower, bounds.upper]),
        dims=("bound", "subject"),
        coords={"bound": ["lower", "upper"], "subject": subjects},
    )
    attrs = {
        "lower_bound": float(bounds.lower.mean()),
        "upper_bound": float(bounds.upper.mean()),
        "n_subjects": len(subjects),
        "pooling": pooling,
    }
    error = float(bounds.upper.std() / np.sqrt(len(subjects)))
    return Score(float(bounds.upper.mean()), error=error, raw=raw, attrs=attrs)


class NeuronalPropertyCeiling(Ceiling):
    """The similarity of a property's distribution with itself, below 1 because neuroids are drawn anew.

    Parameters
    ----------
    similarity_metric : Metric
        The metric that the benchmark compares with, such as `ks_similarity`.
    """

    def __init__(self, similarity_metric: Metric) -> None:
        if not callable(similarity_metric):
            raise ConfigError(
                "The ceiling of a neuronal property needs a metric to compare with, "
                f"got a {type(similarity_metric).__name__}."
            )
        self.similarity_metric = similarity_metric

    def __call__(self, assembly: xr.DataArray) -> Score:
        """Score an assembly, neuroid x neuronal_property, against itself."""
        return self.similarity_metric(assembly, assembly)


CEILING_FACTORIES: dict[str, Callable[..., Ceiling]] = {
    "internal_consistency": InternalConsistency,
    "internal_consistency_temporal": TemporalInternalConsistency,
    "internal_consistency_per_stimulus": PerStimulusConsistency,
    "predictor_consistency": PerStimulusConsistency,
    "rsa": RSACeiling,
    "rsa_ceiling": RSACeiling,
    "neuronal_property": NeuronalPropertyCeiling,
}
