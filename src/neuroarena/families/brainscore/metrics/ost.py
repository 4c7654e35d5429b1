"""Object solution times: when a linear readout of a model recognises an object, against when a brain does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr

from neuroarena.families.brainscore.assemblies import flat
from neuroarena.families.brainscore.brain_score import Score
from neuroarena.families.brainscore.errors import ConfigError, DataQualityError
from neuroarena.families.brainscore.metrics.alignment import (
    TEMPORAL,
    check_finite,
    check_same,
    keys,
    oriented,
)
from neuroarena.families.brainscore.metrics.folds import Array, Rows
from neuroarena.families.brainscore.metrics.metric import Metric, level_values, spearman
from neuroarena.families.brainscore.metrics.splits import CrossValidation, cross_validation

WEIGHT_DECAY = 0.463
# With fewer images than this timed on both sides, a rank correlation is not meaningful.
FEWEST = 3
LARGEST_D_PRIME = 5.0
LABELS = ("image_label", "object_name")


class OSTCorrelation(Metric):
    """Spearman's correlation of predicted and measured object solution times (Kar et al. 2019).

    In each of ten splits and each time bin a softmax readout is fitted on standardised features of the training
    images. An image's d' (i1) is computed in every bin; its solution time is when i1 first reaches the image's
    threshold, interpolated from the bin before. The readout's loss (mean cross-entropy + 0.463/2 of the squared
    weights) has one minimum, which is found by L-BFGS: no seed is involved.

    Parameters
    ----------
    label_coord : str, optional
        Coordinate with the object of each image, on the target or the source; by default ``image_label``, else
        ``object_name``.
    threshold_coord : str
        Coordinate of the target with the i1 at which an image counts as solved.
    crossvalidation_kwargs : mapping or CrossValidation, optional
        By default 10 splits with a tenth of the images as test part, not balanced.
    """

    def __init__(
        self,
        label_coord: str | None = None,
        threshold_coord: str = "i1_threshold",
        crossvalidation_kwargs: Mapping[str, Any] | CrossValidation | None = None,
    ) -> None:
        self.label_coord = label_coord
        self.threshold_coord = threshold_coord
        self.cross_validation = cross_validation(crossvalidation_kwargs, stratification_coord=None)

    def __call__(self, source: xr.DataArray, target: xr.DataArray) -> Score:
        """Score a model against measured solution times.

        Parameters
        ----------
        source : DataArray, presentation x neuroid x time_bin
            With ``time_bin_start`` in ms.
        target : DataArray, presentation [x one neuroid]
            Solution times in ms, NaN for images that were never solved.

        Returns
        -------
        Score
            Mean over splits; `raw` holds the value of each. ``attrs["levels"]`` has one value per image with a
            measured time that was ever tested; their mean is the score.

        Raises
        ------
        DataQualityError
            When the model's response does not change over time, or when too few images are solved.
        """
        source = oriented(source, "source", TEMPORAL)
        target = flat(target)
        if "neuroid" in target.dims:
            target = target.squeeze("neuroid")
        ids = np.sort(keys(target, "target", "stimulus_id"))
        check_same(keys(source, "source", "stimulus_id"), ids, "stimulus_id")
        source, target = _in_order(source, ids), _in_order(target, ids)
        features = np.asarray(source.values, dtype=np.float64)
        check_finite(features, ids, np.arange(features.shape[1]), "source")
        if features.shape[2] < 2 or not np.ptp(features, axis=2).any():
            raise DataQualityError(
                "The source does not change over time, so it has no object solution times. "
                "Use a model with time (recurrent, or recorded bin by bin)."
            )
        labels, thresholds = self._labels(source, target), self._coordinate(target, self.threshold_coord)
        times = self._coordinate(source, "time_bin_start").astype(np.float64)
        measured = np.asarray(target.values, dtype=np.float64)
        splits = self.cross_validation.divide(len(ids))
        predicted = [
            predicted_times(features, labels, thresholds, times, train, test) for train, test in splits
        ]
        tests = [test for _, test in splits]
        values = [_rank_agreement(own, measured[test]) for own, test in zip(predicted, tests, strict=True)]
        score = _score(np.array(values), int(np.isfinite(measured).sum()))
        timed = np.array([at for at in np.unique(np.concatenate(tests)) if np.isfinite(measured[at])])
        without = _without_each(np.array(values), predicted, tests, measured, timed)
        score.attrs["levels"] = level_values(float(score), without, "presentation", "stimulus_id", ids[timed])
        return score

    def _labels(self, source: xr.DataArray, target: xr.DataArray) -> npt.NDArray[Any]:
        names = LABELS if self.label_coord is None else (self.label_coord,)
        sides = [(side, name) for name in names for side in (target, source) if name in side.coords]
        holder, name = sides[0] if sides else (target, names[0])
        return np.unique(self._coordinate(holder, name), return_inverse=True)[1]

    def _coordinate(self, array: xr.DataArray, name: str) -> npt.NDArray[Any]:
        if name not in array.coords:
            raise ConfigError(f'Object solution times need the coordinate "{name}", which is missing.')
        values: npt.NDArray[Any] = array[name].values
        return values


def predicted_times(
    features: Array,
    labels: npt.NDArray[Any],
    thresholds: npt.NDArray[Any],
    times: Array,
    train: Rows,
    test: Rows,
) -> Array:
    """Return the solution time of each test image, NaN where its threshold is never reached.

    Parameters
    ----------
    features : ndarray, shape (images, units, bins)
    labels : ndarray of int, shape (images,)
    thresholds : ndarray, shape (images,)
    times : ndarray, shape (bins,)
        In ms.
    train, test : ndarray of int
    """
    i1 = np.stack(
        [
            image_level_d_prime(
                readout(features[train, :, at], labels[train], features[test, :, at]), labels[test]
            )
            for at in range(features.shape[2])
        ],
        axis=1,
    )
    return first_crossing(i1, np.asarray(thresholds, dtype=np.float64)[test], times)


def readout(x_train: Array, labels: npt.NDArray[Any], x_test: Array) -> Array:
    """Fit a softmax readout on standardised features and return class probabilities, (n_test, classes)."""
    import sklearn.linear_model
    import sklearn.preprocessing

    scaler = sklearn.preprocessing.StandardScaler().fit(x_train)
    # scikit-learn minimises C * sum of losses + |w|^2 / 2.
    model = sklearn.linear_model.LogisticRegression(C=1 / (WEIGHT_DECAY * len(x_train)), max_iter=1000)
    model.fit(scaler.transform(x_train), labels)
    classes = int(labels.max()) + 1
    found = np.zeros((len(x_test), classes))
    found[:, model.classes_] = model.predict_proba(scaler.transform(x_test))
    return found


def image_level_d_prime(probabilities: Array, labels: npt.NDArray[Any]) -> Array:
    """Return i1, the d' of each image: how well its object is distinguished from all others (Rajalingham et al. 2018).

    The hit rate of an image is its mean preference for its own object over each other one; the false-alarm rate is
    the mean preference for that object over their own among the images of other objects. d' is cut at +-5.

    Parameters
    ----------
    probabilities : ndarray, shape (images, classes)
    labels : ndarray of int, shape (images,)
    """
    from scipy.stats import norm

    images = np.arange(len(labels))
    own = probabilities[images, labels]
    with np.errstate(invalid="ignore"):
        hit = own[:, None] / (own[:, None] + probabilities)
        alarm = probabilities / (probabilities + own[:, None])
    hit[images, labels] = np.nan
    alarm[images, labels] = np.nan
    classes = np.flatnonzero(np.isfinite(alarm).any(axis=0))
    alarms = np.full(probabilities.shape[1], np.nan)
    alarms[classes] = np.nanmean(alarm[:, classes], axis=0)
    d_prime: Array = norm.ppf(np.nanmean(hit, axis=1)) - norm.ppf(alarms[labels])
    return np.clip(d_prime, -LARGEST_D_PRIME, LARGEST_D_PRIME)


def first_crossing(values: Array, thresholds: Array, times: Array) -> Array:
    """Return when each row first reaches its threshold, interpolated from the bin before; NaN if never.

    Examples
    --------
    >>> first_crossing(np.array([[0.0, 1.0], [0.0, 0.1]]), np.array([0.5, 0.5]), np.array([70.0, 80.0]))
    array([75., nan])
    """
    reached = values >= thresholds[:, None]
    found = np.full(len(values), np.nan)
    for row in np.flatnonzero(reached.any(axis=1)):
        at = int(np.argmax(reached[row]))
        if at == 0 or np.isnan(values[row, at - 1]):
            found[row] = times[at]
        else:
            share = (thresholds[row] - values[row, at - 1]) / (values[row, at] - values[row, at - 1])
            found[row] = times[at - 1] + share * (times[at] - times[at - 1])
    return found


def _rank_agreement(predicted: Array, measured: Array) -> float:
    both = np.isfinite(predicted) & np.isfinite(measured)
    if both.sum() < FEWEST:
        return float("nan")
    return float(spearman(predicted[both, None], measured[both, None])[0])


def _without_each(
    values: Array, predicted: list[Array], tests: list[Rows], measured: Array, images: Rows
) -> Array:
    """Return the score without each image; a split that would have too few images keeps its value."""
    finite = np.isfinite(values)
    found = np.full(len(images), values[finite].mean())
    place = {int(image): at for at, image in enumerate(images)}
    for split in np.flatnonzero(finite):
        own, test = predicted[split], tests[split]
        for at in np.flatnonzero(np.isfinite(own) & np.isfinite(measured[test])):
            r = _rank_agreement(np.delete(own, at), measured[np.delete(test, at)])
            if np.isfinite(r):
                found[place[int(test[at])]] += (r - values[split]) / finite.sum()
    return found


def _score(values: Array, solved: int) -> Score:
    finite = np.isfinite(values)
    if not finite.any():
        raise DataQualityError(
            f"In none of {len(values)} splits are {FEWEST} test images solved by both the model and the brain "
            f"({solved} images have a measured time). Use more images or check the thresholds."
        )
    kept = values[finite]
    return Score(
        float(kept.mean()),
        error=float(kept.std() / np.sqrt(len(kept))),
        raw=xr.DataArray(values, dims=("split",), coords={"split": np.arange(len(values))}),
        n_splits=len(kept),
        attrs={"n_nan": int((~finite).sum()), "n_images_with_time": solved},
    )


def _in_order(array: xr.DataArray, ids: npt.NDArray[Any]) -> xr.DataArray:
    place = {key: at for at, key in enumerate(array["stimulus_id"].values.tolist())}
    return array.isel(presentation=[place[key] for key in ids.tolist()])
