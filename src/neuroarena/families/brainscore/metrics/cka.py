"""Centred kernel alignment with linear kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from neuroarena.families.brainscore.brain_score import Score
from neuroarena.families.brainscore.errors import DataQualityError
from neuroarena.families.brainscore.metrics.alignment import Aligned, align
from neuroarena.families.brainscore.metrics.cross_regressed import check_varies
from neuroarena.families.brainscore.metrics.folds import Array, centred_gram
from neuroarena.families.brainscore.metrics.metric import Metric
from neuroarena.families.brainscore.metrics.rdm import split_score
from neuroarena.families.brainscore.metrics.splits import CrossValidation, cross_validation

FEWEST = 4


def unbiased_hsic(k: Array, m: Array) -> float:
    """Return the unbiased estimate of the Hilbert-Schmidt independence criterion (Song et al. 2012, equation 5).

    Parameters
    ----------
    k, m : ndarray, shape (n, n)
        Gram matrices; their diagonals are ignored. n is at least 4.
    """
    n = len(k)
    k, m = k - np.diag(np.diagonal(k)), m - np.diag(np.diagonal(m))
    rows_k, rows_m = k.sum(axis=0), m.sum(axis=0)
    total = (
        np.vdot(k, m) + rows_k.sum() * rows_m.sum() / ((n - 1) * (n - 2)) - 2 / (n - 2) * (rows_k @ rows_m)
    )
    return float(total / (n * (n - 3)))


def biased_hsic(k: Array, m: Array) -> float:
    """Return the sum of products of two centred Gram matrices."""
    return float(np.vdot(_centred(k), _centred(m)))


def alignment(k: Array, m: Array, unbiased: bool = True) -> float:
    """Return the centred kernel alignment of two Gram matrices, 0 where a kernel has no positive norm.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(10, 3))
    >>> round(alignment(x @ x.T, 4 * x @ x.T), 9)
    1.0
    """
    hsic = unbiased_hsic if unbiased else biased_hsic
    norms = hsic(k, k) * hsic(m, m)
    return hsic(k, m) / (float(np.sqrt(norms)) + 1e-12) if norms > 0 else 0.0


class CKA(Metric):
    """Linear centred kernel alignment (Kornblith et al. 2019).

    Parameters
    ----------
    unbiased : bool
        Use the estimate that does not grow with the number of neuroids.
    """

    def __init__(self, unbiased: bool = True) -> None:
        self.unbiased = unbiased

    def __call__(self, source: xr.DataArray, target: xr.DataArray) -> Score:
        """Score a model against a recording, presentation x neuroid each; stimuli are matched by id.

        Raises
        ------
        DataQualityError
            When there are fewer than 4 stimuli, or when a side is constant.
        """
        pair = align(source, target)
        first, second = _grams(pair)
        neuroids = pair.target.shape[1]
        value = alignment(first, second, self.unbiased)
        return Score(value, n_neuroids_used=neuroids, n_neuroids_total=neuroids)


class CKACV(Metric):
    """The same on ten draws of nine tenths of the stimuli, which yields an error estimate.

    Parameters
    ----------
    unbiased : bool
        As for :class:`CKA`.
    crossvalidation_kwargs : mapping or CrossValidation, optional
        The *test* part of each split is compared; its default share is 0.9.
    """

    def __init__(
        self,
        unbiased: bool = True,
        crossvalidation_kwargs: Mapping[str, Any] | CrossValidation | None = None,
    ) -> None:
        self.unbiased = unbiased
        self.cross_validation = cross_validation(crossvalidation_kwargs, train_size=None, test_size=0.9)

    def __call__(self, source: xr.DataArray, target: xr.DataArray) -> Score:
        """Score a model against a recording; `raw` holds the value of each split."""
        plan = self.cross_validation
        pair = align(source, target, **plan.alignment)
        first, second = _grams(pair)
        values = [
            alignment(first[np.ix_(test, test)], second[np.ix_(test, test)], self.unbiased)
            for _, test in plan.divide(len(pair.ids), pair.strata)
        ]
        return split_score(values, pair.target.shape[1])


def _grams(pair: Aligned) -> tuple[Array, Array]:
    if len(pair.ids) < FEWEST:
        raise DataQualityError(
            f"Centred kernel alignment needs at least {FEWEST} stimuli, got {len(pair.ids)}."
        )
    check_varies(pair.source, "source")
    check_varies(pair.target, "target")
    # Alignment does not change with the mean, and products of centred features lose no precision to it.
    return centred_gram(pair.source), centred_gram(pair.target)


def _centred(gram: Array) -> Array:
    means = gram.mean(axis=0)
    result: Array = gram - means - means[:, None] + means.mean()
    return result
