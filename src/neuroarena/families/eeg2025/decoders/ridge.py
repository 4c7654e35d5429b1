"""Ridge regressions: on band power, and on what is known about a person without any EEG."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from neuroarena.decoders.alignment import Alignment
from neuroarena.decoders.decoder import Context, Part, n_examples
from neuroarena.errors import InputError
from neuroarena.families.eeg2025.decoders.bandpower import LogBandPower
from neuroarena.features import FeatureChain

# One is chosen by leaving people out; two steps are a factor of ten.
PENALTIES = tuple(10.0 ** (power / 2) for power in range(16))
_FOLDS = 5


def part_numbers(part: Part) -> np.ndarray:
    """Return the targets of a part as numbers: float64 array (n,).

    Raises
    ------
    InputError
        When the part has no targets.
    """
    if any(group.targets is None for group in part):
        raise InputError("This part has no targets: only training and validation parts do.")
    return np.concatenate([np.asarray(group.targets, dtype=np.float64) for group in part])


@dataclass
class Ridge:
    """Ridge regression on standardised columns; the penalty is chosen by leaving people out of training."""

    penalties: tuple[float, ...] = PENALTIES

    def fit(self, matrix: np.ndarray, targets: np.ndarray, people: np.ndarray) -> Ridge:
        """Learn from float (n, columns), targets (n,) and who each row belongs to (n,)."""
        self.penalty_ = self._choose(matrix, targets, people)
        self.model_ = _solve(matrix, targets, (self.penalty_,))
        return self

    def predict(self, matrix: np.ndarray) -> np.ndarray:
        """Predict rows: float64 (n,)."""
        return _apply(self.model_, matrix)[:, 0]

    def _choose(self, matrix: np.ndarray, targets: np.ndarray, people: np.ndarray) -> float:
        names = np.unique(people)
        if len(names) < 2 or len(self.penalties) == 1:
            return self.penalties[-1]
        errors = np.zeros(len(self.penalties))
        # People are assigned to the folds in the order of their names: nothing is random, and nobody is in two.
        fold = np.searchsorted(names, people) % min(_FOLDS, len(names))
        for out in np.unique(fold):
            model = _solve(matrix[fold != out], targets[fold != out], self.penalties)
            misses = _apply(model, matrix[fold == out]) - targets[fold == out, None]
            errors += (misses**2).sum(axis=0)
        return self.penalties[int(errors.argmin())]


def _solve(matrix: np.ndarray, targets: np.ndarray, penalties: tuple[float, ...]) -> dict[str, Any]:
    """Solve ridge regressions for several penalties at once, in whichever of rows and columns is smaller."""
    mean = matrix.mean(axis=0, dtype=np.float64)
    scale = matrix.std(axis=0, dtype=np.float64)
    scale = np.where(scale > 1e-6, scale, np.inf)  # a flat channel weighs nothing
    x = (matrix - mean) / scale
    y = targets - targets.mean()
    if len(x) < x.shape[1]:
        values, vectors = np.linalg.eigh(x @ x.T)
        inner = vectors.T @ y
        weights = [x.T @ (vectors @ (inner / (np.maximum(values, 0) + p))) for p in penalties]
    else:
        values, vectors = np.linalg.eigh(x.T @ x)
        inner = vectors.T @ (x.T @ y)
        weights = [vectors @ (inner / (np.maximum(values, 0) + p)) for p in penalties]
    return {
        "mean": mean,
        "scale": scale,
        "weights": np.stack(weights, axis=1),
        "offset": float(targets.mean()),
    }


def _apply(model: dict[str, Any], matrix: np.ndarray) -> np.ndarray:
    answers: np.ndarray = (matrix - model["mean"]) / model["scale"] @ model["weights"] + model["offset"]
    return answers


def _people(part: Part) -> np.ndarray:
    return np.concatenate([group.table["subject"].to_numpy(dtype=str) for group in part])


@dataclass
class BandPowerRidge:
    """Ridge regression on the logarithms of band power of every channel; for numbers.

    Parameters
    ----------
    features : FeatureChain
        By default six bands from 1 to 45 Hz.
    penalties : tuple of float
        The penalty is chosen among these by leaving people out of training.
    """

    role: ClassVar[str] = "classical"
    features: FeatureChain = field(default_factory=lambda: FeatureChain((LogBandPower(),)))
    penalties: tuple[float, ...] = PENALTIES

    def fit(
        self, train: Part, validation: Part | None = None, context: Context | None = None
    ) -> BandPowerRidge:
        """Learn scaling and weights from the training part."""
        tables = [group.channels for group in train]
        self.alignment_ = Alignment.between([*tables, *(context.test_channels if context else ())])
        self.ridge_ = Ridge(self.penalties)
        self.ridge_.fit(self.alignment_.matrix(train), part_numbers(train), _people(train))
        return self

    def predict(self, test: Part) -> np.ndarray:
        """Predict a number for every example."""
        return self.ridge_.predict(self.alignment_.matrix(test))


@dataclass
class DemographicsRidge:
    """Ridge regression on age, sex and handedness, without any EEG; for numbers.

    Unknown values take the mean of the training part. A benchmark that does not provide
    demographics is refused by name.
    """

    role: ClassVar[str] = "classical"
    blind: ClassVar[bool] = True
    columns: tuple[str, ...] = ("age", "sex", "ehq_total")
    features: FeatureChain = field(default_factory=FeatureChain)
    penalties: tuple[float, ...] = PENALTIES

    def fit(
        self, train: Part, validation: Part | None = None, context: Context | None = None
    ) -> DemographicsRidge:
        """Learn from what is known about the people of the training part."""
        known = self._matrix(train)
        self.mean_ = np.array(
            [np.nanmean(column) if np.isfinite(column).any() else 0.0 for column in known.T]
        )
        self.ridge_ = Ridge(self.penalties)
        self.ridge_.fit(self._fill(known), part_numbers(train), _people(train))
        return self

    def predict(self, test: Part) -> np.ndarray:
        """Predict a number for every example."""
        return self.ridge_.predict(self._fill(self._matrix(test)))

    def _fill(self, known: np.ndarray) -> np.ndarray:
        return np.where(np.isfinite(known), known, self.mean_)

    def _matrix(self, part: Part) -> np.ndarray:
        matrix = np.empty((n_examples(part), len(self.columns)))
        row = 0
        for group in part:
            missing = [name for name in self.columns if name not in group.table.columns]
            if missing:
                raise InputError(
                    f'demographics-ridge needs "{missing[0]}" of every person, which this benchmark does not provide; '
                    "eeg2025@as-described does."
                )
            for place, name in enumerate(self.columns):
                matrix[row : row + len(group), place] = [_number(value) for value in group.table[name]]
            row += len(group)
        return matrix


def _number(value: Any) -> float:
    """Return a value as a number: F is 0 and M is 1; NaN for what is unknown."""
    if isinstance(value, str):
        return {"F": 0.0, "M": 1.0}.get(value, np.nan)
    return np.nan if value is None else float(value)


def bandpower_ridge() -> BandPowerRidge:
    """Ridge regression on the logarithms of band power of every channel."""
    return BandPowerRidge()


def demographics_ridge() -> DemographicsRidge:
    """Ridge regression on age, sex and handedness, without any EEG."""
    return DemographicsRidge()
