"""Regression with weights shared over time bins."""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt
import xarray as xr

from neuroarena.families.brainscore.assemblies import flat
from neuroarena.families.brainscore.brain_score import Score
from neuroarena.families.brainscore.errors import AlignmentError, ConfigError
from neuroarena.families.brainscore.kept_rows import FittedSize, offer_rows
from neuroarena.families.brainscore.metrics.alignment import TEMPORAL, align
from neuroarena.families.brainscore.metrics.cross_regressed import CrossRegressedCorrelation, check_varies
from neuroarena.families.brainscore.metrics.folds import Array, Rows
from neuroarena.families.brainscore.metrics.metric import finished, split_table

TIMES = ("time_bin_start", "time_bin_end")


class SpanTimeRegressedCorrelation(CrossRegressedCorrelation):
    """Fit one set of weights for all time bins, and correlate in each bin.

    For the fit, every time bin of every training stimulus is a row. All bins of a stimulus are in the same part of
    a split. The value is the mean over time bins of what the static metric would yield in each.

    Takes the arguments of :class:`CrossRegressedCorrelation`.
    """

    def __call__(self, source: xr.DataArray, target: xr.DataArray) -> Score:
        """Score a model against a recording, presentation x neuroid x time_bin each.

        Returns
        -------
        Score
            `raw` is split x neuroid x time_bin; ``attrs["time_bin_values"]`` holds the value of each bin.

        Raises
        ------
        AlignmentError
            When the time bins differ.
        ConfigError
            When a subclass overrides `apply`, which does not handle time bins.
        """
        if type(self).apply is not CrossRegressedCorrelation.apply:
            raise ConfigError(
                f"{type(self).__name__} overrides apply, which a metric with weights shared over time does not call. "
                "Override aggregate, or start from CrossRegressedCorrelation."
            )
        pair = align(source, target, dims=TEMPORAL, **self.cross_validation.alignment)
        times = _same_times(flat(source), flat(target))
        n, _, bins = pair.target.shape
        x, y = (side.transpose(0, 2, 1).reshape(n * bins, -1) for side in (pair.source, pair.target))
        check_varies(x, "source")
        check_varies(y, "target")
        splits = self.cross_validation.divide(n, pair.strata)
        stacked = [(_rows_of(train, bins), _rows_of(test, bins)) for train, test in splits]
        values = []
        predictions = self.regression.cross_predict(x, y, stacked)
        for number, ((_, test), predicted) in enumerate(zip(splits, predictions, strict=True)):
            by_bin = predicted.reshape(len(test), bins, -1)
            share = functools.partial(self._mean_contributions, by_bin, pair.target[test])
            fitted = FittedSize(n, x.shape[1])
            offer_rows(pair.ids[test], by_bin.mean(axis=1), pair.neuroid_ids, f"{number:03d}", share, fitted)
            r = [self.correlation(by_bin[:, at], pair.target[test, :, at]) for at in range(bins)]
            values.append(np.stack(r, axis=1))
        raw = split_table(np.stack(values), pair.neuroids, **times)
        return finished(self.aggregate(raw), raw)

    def _mean_contributions(self, by_bin: Array, target: npt.NDArray[np.floating]) -> Array | None:
        """Return what each image adds to each neuroid's correlation, averaged over time bins: (n, neuroids)."""
        found = []
        for at in range(by_bin.shape[1]):
            own = self._contributions(by_bin[:, at], target[:, :, at])
            if own is None:
                return None
            found.append(own)
        mean: Array = np.mean(found, axis=0)
        return mean


def _rows_of(stimuli: Rows, bins: int) -> Rows:
    rows: Rows = (stimuli[:, None] * bins + np.arange(bins)).ravel()
    return rows


def _same_times(source: xr.DataArray, target: xr.DataArray) -> dict[str, tuple[str, np.ndarray]]:
    """Return the coordinates of the target's time bins, which must be the source's."""
    if source.sizes["time_bin"] != target.sizes["time_bin"]:
        raise AlignmentError(
            f"The source has {source.sizes['time_bin']} time bins, the target {target.sizes['time_bin']}. "
            "Record the model in the target's bins."
        )
    for name in TIMES:
        if name in source.coords and name in target.coords:
            differs = np.flatnonzero(source[name].values != target[name].values)
            if differs.size:
                at = int(differs[0])
                raise AlignmentError(
                    f"The {name} of bin {at} is {source[name].values[at]} ms in the source and "
                    f"{target[name].values[at]} ms in the target. Record the model in the target's bins."
                )
    return {name: ("time_bin", target[name].values) for name in TIMES if name in target.coords}
