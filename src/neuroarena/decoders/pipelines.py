"""Pipelines that the field expects, each a few lines on pyriemann and scikit-learn, usable on any windows of EEG."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from neuroarena.decoders.covariances import CspLda, import_pyriemann
from neuroarena.decoders.discriminant import Discriminant
from neuroarena.decoders.sklearn_adapter import SklearnDecoder, from_sklearn
from neuroarena.features import FeatureChain
from neuroarena.features.bands import BandCovariances
from neuroarena.features.filter_banks import SUB_BANDS_HZ, FilterBank, FilterBankCorrelation

Bands = tuple[tuple[float, float], ...]
# Nine bands of 4 Hz, as published for motor imagery.
IMAGERY_BANDS_HZ: Bands = tuple((float(low), float(low + 4)) for low in range(4, 40, 4))


class TaskRelatedComponents(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Task-related component analysis: the spatial filters whose output repeats best from trial to trial.

    Windows (examples, channels, bands, samples) are correlated with the mean window of each class, both seen through
    the filters of all classes together; squared correlations are added over bands, the lowest band counting most.
    It needs a flicker that begins with the window in the same phase; without one it is at chance.

    Notes
    -----
    Nakanishi et al. (2018), IEEE Trans. Biomed. Eng. 65, 104, with an ensemble of filters.
    """

    def fit(self, X: np.ndarray, y: np.ndarray) -> TaskRelatedComponents:
        """Learn one filter per class and band, and the mean window of each class."""
        from scipy.linalg import eigh

        windows = X - X.mean(axis=-1, keepdims=True)
        self.classes_ = np.unique(y)
        self.templates_ = np.stack([windows[y == each].mean(axis=0) for each in self.classes_])
        n_bands, n_channels = X.shape[2], X.shape[1]
        self.filters_ = np.empty((n_bands, n_channels, len(self.classes_)))
        for band in range(n_bands):
            for number, each in enumerate(self.classes_):
                own = windows[y == each][:, :, band]
                total = own.sum(axis=0)
                within = np.einsum("nct,ndt->cd", own, own)
                within += 1e-6 * np.trace(within) / n_channels * np.eye(n_channels)
                self.filters_[band, :, number] = eigh(total @ total.T, within)[1][:, -1]
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return the weighted sum of squared correlations with each class: float64 (examples, classes)."""
        windows = X - X.mean(axis=-1, keepdims=True)
        weights = np.arange(1, X.shape[2] + 1) ** -1.25 + 0.25
        seen = _unit(np.einsum("bck,ncbt->nbkt", self.filters_, windows))
        expected = _unit(np.einsum("bck,mcbt->mbkt", self.filters_, self.templates_))
        correlations = np.einsum("nbkt,mbkt->nmb", seen, expected)
        found: np.ndarray = (np.sign(correlations) * correlations**2) @ weights
        return found if len(self.classes_) > 2 else found[:, 1] - found[:, 0]

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class of the largest correlation."""
        found = self.decision_function(X)
        chosen = (found > 0).astype(int) if found.ndim == 1 else found.argmax(axis=1)
        return np.asarray(self.classes_[chosen])


def _unit(components: np.ndarray) -> np.ndarray:
    norm = np.sqrt(np.square(components).sum(axis=(2, 3), keepdims=True))
    scaled: np.ndarray = components / np.where(norm > 0, norm, 1.0)
    return scaled


def trca(bands_hz: Bands = SUB_BANDS_HZ) -> SklearnDecoder:
    """Filter-bank task-related component analysis of responses to flicker (SSVEP)."""
    return from_sklearn(TaskRelatedComponents(), FeatureChain((FilterBank(bands_hz),)), input="3d")


def fbcca(frequencies_hz: tuple[float, ...], harmonics: int = 3, n_correlations: int = 2) -> Discriminant:
    """Filter-bank canonical correlation with sines at the flicker frequencies, then a linear discriminant (SSVEP)."""
    return Discriminant(
        FeatureChain((FilterBankCorrelation(tuple(frequencies_hz), harmonics, n_correlations),))
    )


def fbcsp(n_patterns: int = 2, n_selected: int = 8, bands_hz: Bands = IMAGERY_BANDS_HZ) -> CspLda:
    """Common spatial patterns in nine bands of 4 Hz, the most informative powers, a discriminant (motor imagery).

    Bands, two pairs of patterns per band and the selection are those of Ang et al. (2008): the four most informative
    powers, each with its pair, so eight. Of two classes a band has two patterns, each twice (see `CspLda`). The
    selection was added after a first score on run 4 and 8 of subject S001 of eegmmidb had been seen, so that its score
    there says little; it was not tuned on any recording.
    """
    return CspLda(FeatureChain((BandCovariances(tuple(bands_hz)),)), n_patterns, n_selected=n_selected)


def xdawn_tangent(n_filters: int = 4, C: float = 0.1) -> SklearnDecoder:
    """Xdawn filters, covariances with the mean responses, logistic regression in the tangent space (P300)."""
    from sklearn.linear_model import LogisticRegression

    return _pipeline(
        import_pyriemann("estimation").XdawnCovariances(n_filters, estimator="oas"),
        import_pyriemann("tangentspace").TangentSpace(),
        LogisticRegression(C=C, class_weight="balanced", max_iter=1000),
    )


def erp_mdm() -> SklearnDecoder:
    """Covariances with the mean responses, then the nearest mean by Riemannian distance (P300)."""
    return _pipeline(
        import_pyriemann("estimation").ERPCovariances(estimator="oas"),
        import_pyriemann("classification").MDM(),
    )


def _pipeline(*steps: Any) -> SklearnDecoder:
    from sklearn.pipeline import make_pipeline

    return from_sklearn(make_pipeline(*steps), input="3d")
