"""Regression from a model to recordings, correlated with what was measured on held-out stimuli."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr

from neuroarena.errors import InputError
from neuroarena.families.brainscore.assemblies import flat
from neuroarena.families.brainscore.brain_score import Score
from neuroarena.families.brainscore.errors import AlignmentError, ConfigError, DataQualityError, named
from neuroarena.families.brainscore.kept_rows import FittedSize, offer_rows
from neuroarena.families.brainscore.metrics.alignment import (
    Aligned,
    align,
    neuroid_coordinates,
)
from neuroarena.families.brainscore.metrics.folds import Array
from neuroarena.families.brainscore.metrics.metric import (
    Metric,
    aggregate,
    finished,
    pearson,
    spearman,
    split_table,
)
from neuroarena.families.brainscore.metrics.pls import PartialLeastSquares
from neuroarena.families.brainscore.metrics.regressions import (
    BestUnit,
    Fitted,
    LeastSquares,
    Regression,
    Ridge,
    RidgeCV,
)
from neuroarena.families.brainscore.metrics.splits import CrossValidation, cross_validation, over_neuroids
from neuroarena.registry import unknown_name
from neuroarena.statistics import left_out_correlations, pseudovalues

Correlation = Callable[[npt.NDArray[np.floating], npt.NDArray[np.floating]], Array]
REGRESSIONS: dict[str, type[Regression]] = {
    "pls": PartialLeastSquares,
    "ridge": Ridge,
    "ridgecv": RidgeCV,
    "linear": LeastSquares,
    "best_unit": BestUnit,
}
CORRELATIONS: dict[str, Correlation] = {"pearsonr": pearson, "spearmanr": spearman}


class CrossRegressedCorrelation(Metric):
    """Predict recordings from a model by cross-validated regression, and correlate.

    In each split the regression is fitted on the training stimuli and every neuroid's prediction of the test
    stimuli is correlated with its responses. The value is the median over neuroids, averaged over splits.

    A subclass may override :meth:`apply` (what happens in each split) and :meth:`aggregate` (how splits are combined).

    Parameters
    ----------
    regression : str, Regression or estimator
        "pls", "ridge", "ridgecv", "linear", "best_unit", or anything with `fit` and `predict`.
    correlation : str or callable
        "pearsonr", "spearmanr", or a function of two arrays (n, q) that returns (q,).
    crossvalidation_kwargs : mapping or CrossValidation, optional
        See :class:`~neuroarena.families.brainscore.metrics.splits.CrossValidation`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = {"stimulus_id": ("presentation", np.arange(60)), "object_name": ("presentation", np.arange(60) % 3)}
    >>> source = xr.DataArray(rng.normal(size=(60, 5)), dims=("presentation", "neuroid"), coords=rows)
    >>> target = 2 * source[:, :3] + 1
    >>> score = CrossRegressedCorrelation("ridge")(source, target)
    >>> round(float(score), 2), score.raw.shape
    (1.0, (10, 3))
    """

    def __init__(
        self,
        regression: str | Regression | Any = "pls",
        correlation: str | Correlation = "pearsonr",
        crossvalidation_kwargs: Mapping[str, Any] | CrossValidation | None = None,
    ) -> None:
        self.regression = as_regression(regression)
        self.correlation = as_correlation(correlation)
        self.cross_validation = cross_validation(crossvalidation_kwargs)

    def __call__(self, source: xr.DataArray, target: xr.DataArray) -> Score:
        """Score a model against a recording.

        Parameters
        ----------
        source, target : DataArray, presentation x neuroid
            One row per stimulus, in any order. Coordinates: `stimulus_id`, and the one splits are balanced over.

        Returns
        -------
        Score
            `raw` is split x neuroid.

        Raises
        ------
        AlignmentError, DataQualityError, ConfigError
            See :func:`~neuroarena.families.brainscore.metrics.alignment.align`.
        """
        if type(self).apply is not CrossRegressedCorrelation.apply:
            return self._scored_by_apply(source, target)
        return self._scored(align(source, target, **self.cross_validation.alignment))

    def _scored(self, pair: Aligned) -> Score:
        check_varies(pair.source, "source")
        check_varies(pair.target, "target")
        splits = self.cross_validation.divide(len(pair.ids), pair.strata)
        predictions = self.regression.cross_predict(pair.source, pair.target, splits)
        fitted = FittedSize(*pair.source.shape)
        values = []
        for number, ((_, test), predicted) in enumerate(zip(splits, predictions, strict=True)):
            share = functools.partial(self._contributions, predicted, pair.target[test])
            offer_rows(pair.ids[test], predicted, pair.neuroid_ids, f"{number:03d}", share, fitted)
            values.append(self.correlation(predicted, pair.target[test]))
        raw = split_table(np.stack(values), pair.neuroids)
        return finished(self.aggregate(raw), raw)

    def _contributions(self, predicted: Array, target: npt.NDArray[np.floating]) -> Array | None:
        """Return what each image adds to the correlation of each neuroid: its pseudo-values, for Pearson's only."""
        if self.correlation is not pearson:
            return None
        try:
            return pseudovalues(*left_out_correlations(predicted, target))
        except InputError:  # a neuroid or a prediction that does not vary without some image
            return None

    def _scored_by_apply(self, source: xr.DataArray, target: xr.DataArray) -> Score:
        """Score with the `apply` of a subclass, which takes assemblies, one split at a time."""
        chosen: list[float] = []

        def apply(*parts: xr.DataArray) -> Any:
            found = over_neuroids(self.apply(*parts), parts[1].sizes["neuroid"])
            chosen.extend(getattr(self.regression, "chosen", []))
            return found

        def combine(scores: xr.DataArray) -> Any:
            if isinstance(self.regression, RidgeCV):
                self.regression.chosen = chosen
            return self.aggregate(scores)

        return self.cross_validation(source, target, apply=apply, aggregate=combine)

    def apply(
        self,
        source_train: xr.DataArray,
        target_train: xr.DataArray,
        source_test: xr.DataArray,
        target_test: xr.DataArray,
    ) -> xr.DataArray:
        """Fit on one pair of assemblies and return each neuroid's correlation on another, over neuroid."""
        by = self.cross_validation.split_coord
        train = align(source_train, target_train, coordinate=by)
        test = align(source_test, target_test, coordinate=by)
        _check_same_columns(source_train, source_test, "source")
        _check_same_columns(target_train, target_test, "target")
        check_varies(train.source, "source")
        predicted = self.regression.fit(train.source, train.target).predict(test.source)
        share = functools.partial(self._contributions, predicted, test.target)
        fitted = FittedSize(*train.source.shape)
        offer_rows(test.ids, predicted, train.neuroid_ids, contributions=share, fitted=fitted)
        return xr.DataArray(
            self.correlation(predicted, test.target), dims=("neuroid",), coords=train.neuroids
        )

    def aggregate(self, scores: xr.DataArray) -> Score:
        """Make one Score of split x neuroid: median over neuroids, mean over splits.

        An override may also reduce over neuroid only; whatever remains is averaged.
        """
        attrs: dict[str, Any] = {}
        if isinstance(self.regression, RidgeCV):
            attrs["alpha"] = list(getattr(self.regression, "chosen", []))
        return aggregate(scores, **attrs)


class ReverseRegressedCorrelation(CrossRegressedCorrelation):
    """The same with the sides exchanged: how well the recording predicts the model's units."""

    def __call__(self, source: xr.DataArray, target: xr.DataArray) -> Score:
        """Score how well `target` predicts `source`; `raw` is split x unit of the model."""
        return super().__call__(target, source)


class TrainTestCorrelation(CrossRegressedCorrelation):
    """One fixed pair of training and test assemblies instead of splits: median over neuroids, no error."""

    def __call__(  # type: ignore[override]
        self,
        source_train: xr.DataArray,
        target_train: xr.DataArray,
        source_test: xr.DataArray,
        target_test: xr.DataArray,
    ) -> Score:
        """Fit on the training assemblies and score on the test assemblies; `raw` has one split."""
        found = self.apply(source_train, target_train, source_test, target_test)
        neuroids = neuroid_coordinates(flat(target_train))
        raw = split_table(over_neuroids(found, len(neuroids["neuroid_id"][1]))[None], neuroids)
        score = finished(self.aggregate(raw), raw)
        score.attrs.pop("error", None)
        return score


def as_regression(regression: str | Regression | Any) -> Regression:
    """Return a regression by name, or wrap an estimator that has `fit` and `predict`."""
    if isinstance(regression, Regression):
        return regression
    if isinstance(regression, str):
        if regression not in REGRESSIONS:
            raise unknown_name("regression", regression, REGRESSIONS, "metrics")
        return REGRESSIONS[regression]()
    if not (hasattr(regression, "fit") and hasattr(regression, "predict")):
        raise ConfigError(
            f"A regression needs fit and predict; {type(regression).__name__} does not have both."
        )
    return Fitted(regression)


def as_correlation(correlation: str | Correlation) -> Correlation:
    """Return a correlation by name, or the function itself."""
    if isinstance(correlation, str):
        if correlation not in CORRELATIONS:
            raise unknown_name("correlation", correlation, CORRELATIONS, "metrics")
        return CORRELATIONS[correlation]
    return correlation


def check_varies(values: npt.NDArray[np.floating], side: str) -> None:
    """Refuse a side in which nothing varies over stimuli."""
    if not np.ptp(values, axis=0).any():
        raise DataQualityError(
            f"Every neuroid of the {side} is constant over all {len(values)} stimuli; nothing can be correlated."
        )


def _check_same_columns(train: xr.DataArray, test: xr.DataArray, side: str) -> None:
    first, second = (neuroid_coordinates(flat(each))["neuroid_id"][1] for each in (train, test))
    if len(first) != len(second) or (differs := np.flatnonzero(first != second)).size:
        where = f"{len(first)} and {len(second)}" if len(first) != len(second) else named(first[differs])
        raise AlignmentError(
            f"The {side}'s training and test assemblies must hold the same neuroids in the same order; "
            f"they differ: {where}."
        )
