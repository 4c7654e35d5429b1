"""Turn a scikit-learn estimator or pipeline into a decoder, in one line."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from neuroarena.decoders.alignment import Alignment, stack
from neuroarena.decoders.decoder import Context, Part, part_numbers, part_targets
from neuroarena.decoders.probabilities import logistic_probabilities
from neuroarena.errors import InputError
from neuroarena.features import FeatureChain

Input = Literal["auto", "2d", "3d"]
Certainty = Literal["auto", "labels"]
# How estimators of the field word that an array has too many axes.
_DIMENSIONS = re.compile(r"\b(n?dims?|dimensions?|dimensional|[234]-?d|axes|reshape)\b", re.IGNORECASE)


@dataclass
class SklearnDecoder:
    """A scikit-learn classifier, regressor or pipeline.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Cloned before it is fitted. A ``random_state`` that is None is seeded from the context.
    features : FeatureChain
        Stateless preprocessing.
    input : {"auto", "2d", "3d"}
        The form in which the estimator gets windows: flattened (examples, features), or as they are (examples,
        channels, samples). "auto" offers them as they are; an estimator that refuses them by a
        dimension error gets them flattened, and the record says so.
    probabilities : {"auto", "labels"}
        Where probabilities come from: ``predict_proba``, else ``decision_function``; an estimator that has neither is
        refused where the metric ranks. "labels" gives the predicted label the probability 1, whatever the metric.
    """

    estimator: Any
    features: FeatureChain = field(default_factory=FeatureChain)
    input: Input = "auto"
    probabilities: Certainty = "auto"

    def fit(
        self, train: Part, validation: Part | None = None, context: Context | None = None
    ) -> SklearnDecoder:
        """Fit a clone of the estimator on the training part.

        Raises
        ------
        InputError
            When the estimator does not make the predictions that are asked for.
        """
        context = context or Context()
        self._check_options(context)
        self.classes_, self.kind_ = context.classes, context.kind
        self.alignment_ = Alignment.between([*(group.channels for group in train), *context.test_channels])
        targets = self._targets(train)
        # Drawn only where something is left to chance: without a draw, repeats train once.
        seeds = {
            name: int(context.rng.integers(2**31))
            for name, value in self.estimator.get_params().items()
            if name.rpartition("__")[2] == "random_state" and value is None
        }
        self.flat_ = self.input == "2d"
        refused: ValueError | None = None
        if not self.flat_:
            try:
                self.estimator_ = self._fit_clone(train, targets, seeds)
            except ValueError as error:
                if self.input == "3d" or not _DIMENSIONS.search(str(error)):
                    raise
                refused, self.flat_ = error, True
        if self.flat_:
            self.estimator_ = self._fit_clone(train, targets, seeds)
        if refused is not None:
            said = " ".join(str(refused).split()).partition(". ")[0]
            warnings.warn(
                f"{_name(self.estimator)} got windows flattened to (examples, features), because it "
                f"refuses them as they are: {said[:120]}",
                stacklevel=2,
            )
        self._check_certainty(context)
        return self

    def predict(self, test: Part) -> np.ndarray:
        """Return probabilities (n, classes), labels (n,), numbers (n,) or vectors (n, length), as was asked for."""
        # Double precision, so that confident answers keep their order.
        inputs = self._inputs(test).astype(np.float64)
        if self.kind_ in ("number", "vector"):
            said = np.asarray(self.estimator_.predict(inputs), dtype=np.float64)
            return said.reshape(len(inputs)) if self.kind_ == "number" else said.reshape(len(inputs), -1)
        if self.kind_ == "label":
            return np.asarray(self.classes_)[np.asarray(self.estimator_.predict(inputs), dtype=np.int64)]
        known = np.asarray(getattr(self.estimator_, "classes_", self.seen_), dtype=np.int64)
        answers = np.zeros((len(inputs), len(self.classes_)))
        answers[:, known] = self._certainty(inputs, known)
        return answers

    def _certainty(self, inputs: np.ndarray, known: np.ndarray) -> np.ndarray:
        labels_only = self.probabilities == "labels"
        if hasattr(self.estimator_, "predict_proba") and not labels_only:
            return np.asarray(self.estimator_.predict_proba(inputs), dtype=np.float64)
        if hasattr(self.estimator_, "decision_function") and not labels_only:
            said = logistic_probabilities(self.estimator_.decision_function(inputs))
            if said.shape[1] != len(known):
                raise InputError(
                    f"{_name(self.estimator)}: decision_function returns {said.shape[1]} columns for {len(known)} "
                    'classes. Set decision_function_shape="ovr", or give it predict_proba.'
                )
            return said
        labels: np.ndarray = np.asarray(self.estimator_.predict(inputs))[:, np.newaxis] == known
        return labels.astype(np.float64)

    def _inputs(self, part: Part) -> np.ndarray:
        return self.alignment_.matrix(part) if self.flat_ else stack(self.alignment_, part)

    def _fit_clone(self, train: Part, targets: np.ndarray, seeds: dict[str, int]) -> Any:
        from sklearn.base import clone

        estimator = clone(self.estimator).set_params(**seeds)
        inputs = self._inputs(train)
        # Covariances of single precision are not always positive definite; a flat matrix may be too large to double.
        return estimator.fit(inputs if self.flat_ else inputs.astype(np.float64), targets)

    def _targets(self, train: Part) -> np.ndarray:
        if self.kind_ in ("number", "vector"):
            numbers = part_numbers(train)
            return numbers[:, 0] if self.kind_ == "number" else numbers
        targets = part_targets(train, self.classes_)
        self.seen_ = np.unique(targets)
        return targets

    def _check_options(self, context: Context) -> None:
        """Refuse an unknown option, or an estimator of a kind that cannot answer what is asked."""
        for name, allowed in (("input", get_args(Input)), ("probabilities", get_args(Certainty))):
            if getattr(self, name) not in allowed:
                raise InputError(
                    f"from_sklearn: {name} must be one of {', '.join(allowed)}, got {getattr(self, name)!r}."
                )
        if context.kind == "text":
            raise InputError(f"{_name(self.estimator)}: scikit-learn estimators do not predict text.")
        asks_numbers = context.kind in ("number", "vector")
        kind = _estimator_kind(self.estimator)
        if kind and (kind == "regressor") != asks_numbers:
            wanted = f"a {context.kind}" if asks_numbers else "classes"
            raise InputError(
                f"{_name(self.estimator)} is a {kind}, and the benchmark asks for {wanted}. Choose a "
                f"{'regressor' if asks_numbers else 'classifier'}."
            )

    def _check_certainty(self, context: Context) -> None:
        """Refuse hard labels where the metric ranks examples, unless they were asked for."""
        if context.kind != "probabilities" or not context.ranks or self.probabilities == "labels":
            return
        if not any(hasattr(self.estimator_, name) for name in ("predict_proba", "decision_function")):
            raise InputError(
                f"{_name(self.estimator)} has neither predict_proba nor decision_function, so it returns nothing but "
                "labels, and the metric ranks examples by probability: most of the score would be lost in ties. Choose "
                "an estimator that has one of them, wrap it in sklearn.calibration.CalibratedClassifierCV, or "
                'ask for it by name: from_sklearn(..., probabilities="labels").'
            )


def from_sklearn(
    estimator: Any,
    features: FeatureChain | None = None,
    *,
    input: Input = "auto",
    probabilities: Certainty = "auto",
) -> SklearnDecoder:
    """Make a decoder from a scikit-learn classifier, regressor or pipeline.

    Steps of pyriemann, MNE-Python and braindecode get windows (examples, channels, samples) as they expect them; an
    estimator that refuses these gets them flattened. See :class:`SklearnDecoder` for the options.

    Raises
    ------
    InputError
        For a class in place of an estimator, and for an object that is none.

    Examples
    --------
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from_sklearn(RidgeClassifier()).features.name
    'raw'
    """
    if isinstance(estimator, type):
        name = estimator.__name__
        raise InputError(
            f"from_sklearn takes an estimator, got the class {name}. Write from_sklearn({name}())."
        )
    absent = [name for name in ("fit", "predict", "get_params") if not hasattr(estimator, name)]
    if absent:
        raise InputError(
            f"from_sklearn takes a scikit-learn estimator, got {type(estimator).__name__}, which has no {absent[0]}."
        )
    return SklearnDecoder(estimator, features or FeatureChain(), input, probabilities)


def _name(estimator: Any) -> str:
    steps = getattr(estimator, "steps", None)
    return f"The pipeline ending in {_name(steps[-1][1])}" if steps else type(estimator).__name__


def _estimator_kind(estimator: Any) -> str | None:
    """Return "classifier" or "regressor" where scikit-learn knows it; None for estimators without its tags."""
    from sklearn.base import is_classifier, is_regressor

    try:
        return "classifier" if is_classifier(estimator) else "regressor" if is_regressor(estimator) else None
    except AttributeError:
        return None
