"""How stimuli are divided into training and test parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr

from neuroarena.families.brainscore.brain_score import Score
from neuroarena.families.brainscore.errors import ConfigError, DataQualityError, named
from neuroarena.families.brainscore.metrics.alignment import Order, align, neuroid_coordinates, ordered
from neuroarena.families.brainscore.metrics.folds import Array, Split
from neuroarena.families.brainscore.metrics.metric import aggregate as aggregate_splits
from neuroarena.families.brainscore.metrics.metric import finished, split_table


@dataclass(frozen=True)
class CrossValidation:
    """Repeated division of stimuli, balanced over objects, always from the same seed.

    Parameters
    ----------
    splits : int
        Number of splits.
    train_size, test_size : float or int, optional
        Share (or number) of the stimuli in each part; a part that is not specified gets the rest.
    split_coord : str
        Coordinate that rows are matched and ordered by.
    stratification_coord : str, optional
        Coordinate whose values have the same shares in both parts; None or "" divides at random.
    kfold : bool
        Divide into `splits` parts of which each is the test part once.
    random_state : int
        Seed of the division.
    split_order : {"sorted", "as_given"}
        "sorted": the division belongs to the stimulus ids, whatever the order of rows. "as_given": it belongs to
        the rows of the target, as in the public packages.

    Examples
    --------
    >>> CrossValidation(splits=2, stratification_coord=None).divide(10)[0][1]
    array([2])
    """

    splits: int = 10
    train_size: float | int | None = 0.9
    test_size: float | int | None = None
    split_coord: str = "stimulus_id"
    stratification_coord: str | None = "object_name"
    kfold: bool = False
    random_state: int = 1
    split_order: Order = "sorted"

    @property
    def alignment(self) -> dict[str, Any]:
        """How two sides are brought to the same rows before they are divided: keywords of `align`."""
        return {
            "coordinate": self.split_coord,
            "stratification": self.stratification_coord,
            "order": self.split_order,
        }

    def __call__(
        self,
        source: xr.DataArray,
        target: xr.DataArray,
        apply: Callable[..., Any],
        aggregate: Callable[[xr.DataArray], Any] = aggregate_splits,
    ) -> Score:
        """Apply a function to the training and test parts of every split, and aggregate what it returns.

        Parameters
        ----------
        source, target : DataArray, presentation x neuroid
            One row per stimulus, in any order.
        apply : callable
            ``(source_train, target_train, source_test, target_test) -> values``: one per neuroid of the target, or a
            single number. Source and target hold the same stimuli in the same order.
        aggregate : callable
            ``(split x neuroid, or split) -> Score, DataArray or number``; what it leaves is averaged, over splits last.
            By default the median over neuroids.

        Raises
        ------
        AlignmentError, DataQualityError, ConfigError
            See :func:`~neuroarena.families.brainscore.metrics.alignment.align`.
        """
        pair = align(source, target, **self.alignment)
        sides = [ordered(side, self.split_coord, pair.ids) for side in (source, target)]
        values = [
            _values_of_split(apply(*_parts(sides, split)), len(pair.neuroid_ids))
            for split in self.divide(len(pair.ids), pair.strata)
        ]
        shapes = {each.shape for each in values}
        if len(shapes) > 1:
            raise ConfigError(f"apply returned values of different shapes: {named(sorted(shapes))}.")
        table = np.stack(values)
        raw = split_table(table, neuroid_coordinates(sides[1]) if table.ndim > 1 else {})
        return finished(raw if table.ndim == 1 and aggregate is aggregate_splits else aggregate(raw), raw)

    def divide(self, n: int, strata: npt.NDArray[Any] | None = None) -> list[Split]:
        """Divide `n` rows, balanced over `strata` where given, and return (train, test) row numbers.

        Raises
        ------
        DataQualityError
            When a group has too few stimuli to be on both sides; the message names it.
        ConfigError
            When a part has fewer stimuli than there are groups, or none at all.
        """
        codes = None
        if strata is not None:
            names, codes, counts = np.unique(_sortable(strata), return_inverse=True, return_counts=True)
            self._check_groups(n, names, counts)
        return self._drawn(self._splitter(strata is not None), n, codes)

    def _splitter(self, stratified: bool) -> Any:
        import sklearn.model_selection as selection

        if self.kfold:
            kind: Any = selection.StratifiedKFold if stratified else selection.KFold
            return kind(self.splits, shuffle=True, random_state=self.random_state)
        kind = selection.StratifiedShuffleSplit if stratified else selection.ShuffleSplit
        return kind(
            self.splits, train_size=self.train_size, test_size=self.test_size, random_state=self.random_state
        )

    def _drawn(self, splitter: Any, n: int, strata: npt.NDArray[Any] | None) -> list[Split]:
        try:
            return list(splitter.split(np.empty((n, 1)), strata))
        except ValueError as error:
            raise ConfigError(
                f"{n} stimuli cannot be divided into {self.splits} splits with train_size={self.train_size} and "
                f"test_size={self.test_size}: {error}"
            ) from error

    def _check_groups(self, n: int, names: npt.NDArray[Any], counts: npt.NDArray[Any]) -> None:
        least = self.splits if self.kfold else 2
        if (counts < least).any():
            raise DataQualityError(
                f"The {self.stratification_coord} {named(names[counts < least])} has fewer than {least} stimuli, so it "
                "cannot be in both parts of every split. Leave it out, or pass stratification_coord=None."
            )
        if self.kfold:
            return
        for part, size in zip(("training", "test"), self._sizes(n), strict=True):
            if size < len(names):
                raise ConfigError(
                    f"The {part} part has {size} of {n} stimuli, fewer than the {len(names)} values of "
                    f"{self.stratification_coord}. Use more stimuli, another train_size, or stratification_coord=None."
                )

    def _sizes(self, n: int) -> tuple[int, int]:
        """Return the sizes of the parts: training shares are rounded down, test shares up."""
        train = None if self.train_size is None else _count(self.train_size, n, np.floor)
        test = None if self.test_size is None else _count(self.test_size, n, np.ceil)
        if train is None:
            test = test if test is not None else int(np.ceil(0.1 * n))
            return n - test, test
        return train, test if test is not None else n - train


def cross_validation(options: CrossValidation | Mapping[str, Any] | None, **defaults: Any) -> CrossValidation:
    """Make a division from keyword options; an unknown option is refused by name."""
    if isinstance(options, CrossValidation):
        return options
    given = dict(options or {})
    known = [field.name for field in fields(CrossValidation)]
    if unknown := [name for name in given if name not in known]:
        raise ConfigError(f"Unknown cross-validation option {named(unknown)}; there are {named(known, 10)}.")
    return CrossValidation(**{**defaults, **given})


def _sortable(strata: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return groups as they are where they can be sorted, else as text."""
    try:
        np.sort(strata)
    except TypeError:
        return np.asarray(strata).astype(str)
    return np.asarray(strata)


def _count(size: float | int, n: int, rounded: Any) -> int:
    return int(rounded(size * n)) if isinstance(size, float) else size


def _parts(sides: Sequence[xr.DataArray], split: Split) -> list[xr.DataArray]:
    """Return what `apply` takes: source and target of the training rows, then of the test rows."""
    return [side.isel(presentation=rows) for rows in split for side in sides]


def _values_of_split(found: Any, count: int) -> Array:
    """Return what an `apply` returned for a split: a single number, or one value per neuroid."""
    values = np.asarray(found, dtype=np.float64)
    return values if values.ndim == 0 else over_neuroids(values, count)


def over_neuroids(found: Any, count: int) -> Array:
    """Return the value of each neuroid that an `apply` returned, or refuse anything else."""
    values = np.asarray(found, dtype=np.float64)
    if values.shape != (count,):
        raise ConfigError(
            f"The metric's apply returned values of shape {values.shape}, expected ({count},): one for each neuroid "
            "of the target."
        )
    return values
