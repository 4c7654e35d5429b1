"""Representational similarity: which stimuli a model and a brain distinguish."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import xarray as xr

from neuroarena.errors import InputError
from neuroarena.families.brainscore.brain_score import Score
from neuroarena.families.brainscore.errors import ConfigError, DataQualityError, named
from neuroarena.families.brainscore.kept_rows import offer_rows
from neuroarena.families.brainscore.metrics.alignment import align
from neuroarena.families.brainscore.metrics.folds import Array
from neuroarena.families.brainscore.metrics.metric import Metric, spearman
from neuroarena.families.brainscore.metrics.splits import CrossValidation, cross_validation
from neuroarena.statistics import left_out_rank_correlations, pseudovalues

Pooling = Literal["mean", "rank"]


def dissimilarities(
    responses: npt.NDArray[np.floating], ids: npt.NDArray[Any] | None = None, side: str = "assembly"
) -> Array:
    """Return 1 - Pearson correlation between the response vectors of all pairs of stimuli.

    Parameters
    ----------
    responses : ndarray, shape (n, q)
        Stimuli by neuroids.
    ids : ndarray, shape (n,), optional
        Names of the stimuli, for messages.
    side : str
        Name of the responses in messages.

    Returns
    -------
    ndarray, shape (n, n)
        Symmetric, zero on the diagonal.

    Raises
    ------
    DataQualityError
        When the responses to a stimulus are all equal, or when there is only one neuroid.
    """
    if responses.shape[1] < 2:
        raise DataQualityError(
            f"The {side} has {responses.shape[1]} neuroid; a correlation between stimuli needs at least two."
        )
    constant = np.ptp(responses, axis=1) == 0
    if constant.any():
        names = np.arange(len(responses)) if ids is None else np.asarray(ids)
        raise DataQualityError(
            f"All neuroids of the {side} respond alike to {named(names[constant])}, so its "
            "correlation with other stimuli is not defined. Leave the stimulus out."
        )
    rows = np.asarray(responses, dtype=np.float64)
    rows = rows - rows.mean(axis=1, keepdims=True)
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    result: Array = 1.0 - rows @ rows.T
    np.fill_diagonal(result, 0.0)
    return result


def compare_rdms(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Return Spearman's correlation of the strict upper triangles of two dissimilarity matrices.

    Parameters
    ----------
    first, second : array, shape (n, n)
        Symmetric, zero on the diagonal, stimuli in the same order.

    Raises
    ------
    ConfigError
        When a matrix is not square, symmetric and zero on the diagonal, or when the sizes differ.
    DataQualityError
        When a matrix holds NaN, or the same dissimilarity everywhere.

    Examples
    --------
    >>> rdm = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]])
    >>> round(compare_rdms(rdm, 2 * rdm), 12)
    1.0
    """
    a, b = _checked(first, "first"), _checked(second, "second")
    if a.shape != b.shape:
        raise ConfigError(
            f"The matrices cover {len(a)} and {len(b)} stimuli; both must hold the same stimuli."
        )
    return _correlation(_upper(a), _upper(b))


@dataclass(frozen=True)
class NoiseCeiling:
    """How well subjects agree with each other.

    Attributes
    ----------
    lower : ndarray, shape (subjects,)
        Correlation of each subject with the mean of the others.
    upper : ndarray, shape (subjects,)
        Correlation of each subject with the mean of all.
    """

    lower: Array
    upper: Array


def noise_ceiling(rdms: npt.ArrayLike, pooling: Pooling = "mean") -> NoiseCeiling:
    """Return the bounds that agreement between subjects sets to any model (Nili et al. 2014).

    Parameters
    ----------
    rdms : array, shape (subjects, n, n)
        One dissimilarity matrix per subject.
    pooling : {"mean", "rank"}
        Average dissimilarities, or their ranks (which is best for Spearman's correlation).

    Raises
    ------
    DataQualityError
        When there is only one subject.
    """
    if pooling not in ("mean", "rank"):
        raise ConfigError(f'The pooling is "{pooling}", expected "mean" or "rank".')
    triangles = np.stack(
        [_upper(_checked(rdm, f"subject {at}'s")) for at, rdm in enumerate(np.asarray(rdms))]
    )
    if len(triangles) < 2:
        raise DataQualityError("A noise ceiling needs at least two subjects, got one.")
    pooled = triangles
    if pooling == "rank":
        from scipy.stats import rankdata

        pooled = rankdata(triangles, axis=1)
    total = pooled.sum(axis=0)
    others = (total - pooled) / (len(pooled) - 1)
    lower = [_correlation(one, rest) for one, rest in zip(triangles, others, strict=True)]
    upper = [_correlation(one, total) for one in triangles]
    return NoiseCeiling(np.array(lower), np.array(upper))


class RDMSimilarity(Metric):
    """Spearman's correlation between the dissimilarities of a model and of a recording."""

    def __call__(self, source: xr.DataArray, target: xr.DataArray) -> Score:
        """Score a model against a recording, presentation x neuroid each; stimuli are matched by id.

        Raises
        ------
        AlignmentError, DataQualityError, ConfigError
            See :func:`~neuroarena.families.brainscore.metrics.alignment.align` and :func:`dissimilarities`.
        """
        pair = align(source, target)
        model = dissimilarities(pair.source, pair.ids, "source")
        offer_rows(pair.ids, model, pair.ids, "dissimilarities")
        value = compare_rdms(model, dissimilarities(pair.target, pair.ids, "target"))
        neuroids = pair.target.shape[1]
        return Score(value, n_neuroids_used=neuroids, n_neuroids_total=neuroids)

    def contributions(self, source: xr.DataArray, targets: Sequence[xr.DataArray]) -> Array | None:
        """Return what each stimulus adds to the score of each recording: see :func:`image_contributions`."""
        pairs = [align(source, target) for target in targets]
        model = dissimilarities(pairs[0].source, pairs[0].ids, "source")
        return image_contributions(
            model, np.stack([dissimilarities(pair.target, pair.ids, "target") for pair in pairs])
        )


def image_contributions(model: Array, subjects: Array) -> Array | None:
    """Return what each stimulus adds to Spearman's correlation with each subject, as boards judge models by.

    Parameters
    ----------
    model : ndarray, shape (n, n)
        Dissimilarities of the model.
    subjects : ndarray, shape (subjects, n, n)
        Dissimilarities of each subject.

    Returns
    -------
    ndarray, shape (n, subjects), or None
        Pseudo-values: n r - (n - 1) r', with r' the correlation without the stimulus's row and column. None where such
        a correlation is not defined.
    """
    try:
        return pseudovalues(*left_out_rank_correlations(model, subjects))
    except InputError:  # fewer than four stimuli, or dissimilarities that are all equal without some stimulus
        return None


class RDMSimilarityCV(Metric):
    """The same on ten draws of nine tenths of the stimuli, which yields an error estimate.

    Parameters
    ----------
    crossvalidation_kwargs : mapping or CrossValidation, optional
        The *test* part of each split is compared; its default share is 0.9.
    """

    def __init__(self, crossvalidation_kwargs: Mapping[str, Any] | CrossValidation | None = None) -> None:
        self.cross_validation = cross_validation(crossvalidation_kwargs, train_size=None, test_size=0.9)

    def __call__(self, source: xr.DataArray, target: xr.DataArray) -> Score:
        """Score a model against a recording; `raw` holds the value of each split."""
        plan = self.cross_validation
        pair = align(source, target, **plan.alignment)
        first = dissimilarities(pair.source, pair.ids, "source")
        offer_rows(pair.ids, first, pair.ids, "dissimilarities")
        second = dissimilarities(pair.target, pair.ids, "target")
        values = [
            _correlation(_upper(first[np.ix_(test, test)]), _upper(second[np.ix_(test, test)]))
            for _, test in plan.divide(len(pair.ids), pair.strata)
        ]
        return split_score(values, pair.target.shape[1])


def split_score(values: list[float], neuroids: int) -> Score:
    """Make a Score from one value per split: their mean, and std / sqrt(splits) as error."""
    raw = xr.DataArray(np.array(values), dims=("split",), coords={"split": np.arange(len(values))})
    return Score(
        float(np.mean(values)),
        error=float(np.std(values) / np.sqrt(len(values))),
        raw=raw,
        n_splits=len(values),
        n_neuroids_used=neuroids,
        n_neuroids_total=neuroids,
    )


def _checked(rdm: npt.ArrayLike, which: str) -> Array:
    matrix = np.asarray(rdm, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ConfigError(f"The {which} dissimilarity matrix has the shape {matrix.shape}, expected (n, n).")
    if len(matrix) < 3:
        raise DataQualityError(
            f"The {which} dissimilarity matrix covers {len(matrix)} stimuli, expected 3 or more."
        )
    if np.isnan(_upper(matrix)).any():
        at = np.argwhere(np.isnan(matrix))[0]
        raise DataQualityError(f"The {which} dissimilarity matrix holds NaN in row {at[0]}, column {at[1]}.")
    if not np.allclose(np.nan_to_num(np.diagonal(matrix)), 0.0, atol=1e-6):
        raise ConfigError(
            f"The {which} matrix is not zero on its diagonal; it does not hold dissimilarities."
        )
    if not np.allclose(_upper(matrix), _upper(matrix.T), atol=1e-6):
        raise ConfigError(f"The {which} dissimilarity matrix is not symmetric.")
    return matrix


def _upper(matrix: Array) -> Array:
    result: Array = matrix[np.triu_indices(len(matrix), 1)]
    return result


def _correlation(first: Array, second: Array) -> float:
    value = float(spearman(first[:, None], second[:, None])[0])
    if np.isnan(value):
        raise DataQualityError("All dissimilarities of one side are equal, so they cannot be ranked.")
    return value
