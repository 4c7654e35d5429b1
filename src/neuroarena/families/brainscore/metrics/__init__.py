"""Metrics of Brain-Score by name: each takes two assemblies and returns a Score."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from neuroarena.families.brainscore.metrics.alignment import shared_stimuli
from neuroarena.families.brainscore.metrics.cka import CKA, CKACV
from neuroarena.families.brainscore.metrics.cross_regressed import (
    REGRESSIONS,
    CrossRegressedCorrelation,
    ReverseRegressedCorrelation,
    TrainTestCorrelation,
)
from neuroarena.families.brainscore.metrics.ks import BootstrapDistributionSimilarity
from neuroarena.families.brainscore.metrics.metric import Metric
from neuroarena.families.brainscore.metrics.ost import OSTCorrelation
from neuroarena.families.brainscore.metrics.rdm import (
    NoiseCeiling,
    RDMSimilarity,
    RDMSimilarityCV,
    compare_rdms,
    dissimilarities,
    noise_ceiling,
)
from neuroarena.families.brainscore.metrics.splits import CrossValidation
from neuroarena.families.brainscore.metrics.temporal import SpanTimeRegressedCorrelation

__all__ = [
    "CKA",
    "CKACV",
    "METRIC_FACTORIES",
    "BootstrapDistributionSimilarity",
    "CrossRegressedCorrelation",
    "CrossValidation",
    "Metric",
    "NoiseCeiling",
    "OSTCorrelation",
    "RDMSimilarity",
    "RDMSimilarityCV",
    "ReverseRegressedCorrelation",
    "SpanTimeRegressedCorrelation",
    "TrainTestCorrelation",
    "compare_rdms",
    "dissimilarities",
    "noise_ceiling",
    "shared_stimuli",
]


def _regressed(kind: type[CrossRegressedCorrelation], regression: str) -> Callable[..., Metric]:
    def make(
        crossvalidation_kwargs: Mapping[str, Any] | CrossValidation | None = None,
        regression_kwargs: Mapping[str, Any] | None = None,
        correlation: Any = "pearsonr",
    ) -> Metric:
        return kind(REGRESSIONS[regression](**(regression_kwargs or {})), correlation, crossvalidation_kwargs)

    return make


def _biased_cka() -> Metric:
    return CKA(unbiased=False)


# What the metric is called -> which regression it uses.
_REGRESSED = {
    "pls": "pls",
    "ridge": "ridge",
    "ridgecv": "ridgecv",
    "linear_predictivity": "linear",
    "neuron_to_neuron": "best_unit",
}

METRIC_FACTORIES: dict[str, Callable[..., Metric]] = {
    **{name: _regressed(CrossRegressedCorrelation, regression) for name, regression in _REGRESSED.items()},
    # The public registry has names with and without "_cv"; both are cross-validated.
    **{
        f"{name}_cv": _regressed(CrossRegressedCorrelation, regression)
        for name, regression in _REGRESSED.items()
        if name != "ridgecv"
    },
    "reverse_pls": _regressed(ReverseRegressedCorrelation, "pls"),
    "reverse_pls_cv": _regressed(ReverseRegressedCorrelation, "pls"),
    **{
        f"spantime_{name}": _regressed(SpanTimeRegressedCorrelation, regression)
        for name, regression in _REGRESSED.items()
    },
    **{
        f"{name}_split": _regressed(TrainTestCorrelation, regression)
        for name, regression in _REGRESSED.items()
    },
    # Kernel and primal ridge are the same numbers; which one is computed follows from the shape.
    "dual_ridge_split": _regressed(TrainTestCorrelation, "ridge"),
    "dual_ridgecv_split": _regressed(TrainTestCorrelation, "ridgecv"),
    "dual_ridge_cv_split": _regressed(TrainTestCorrelation, "ridgecv"),
    "rdm": RDMSimilarity,
    "rdm_cv": RDMSimilarityCV,
    "cka": CKA,
    "cka_cv": CKACV,
    "cka_biased": _biased_cka,
    "ks_similarity": BootstrapDistributionSimilarity,
    "ost": OSTCorrelation,
}
# Names of the public registry that we do not have -> what to use instead, and why.
NOT_OFFERED = {
    "mask_regression": (
        "It fits a mask over places and weights over channels (Klindt et al. 2017), which no benchmark here uses. "
        'The nearest is "linear_predictivity", which weighs every unit.'
    ),
}
