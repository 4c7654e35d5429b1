"""The formula of a metric, as a page shows it; a metric of somebody else is described by its own words alone."""

from __future__ import annotations

# Of one unit: y are its n targets, ŷ the predictions, C the classes that occur in its truth.
FORMULAS = {
    "accuracy": "number of i with ŷᵢ = yᵢ, divided by n",
    "auroc": "P(s⁺ > s⁻) + ½ P(s⁺ = s⁻), over all pairs of a positive and a negative example",
    "balanced_accuracy": "1/|C| · Σ over c in C of (correct examples of c / examples of c)",
    "macro_f1": "1/|C| · Σ over c in C of 2·TP / (2·TP + FP + FN)",
    "mae": "1/n · Σ |ŷᵢ − yᵢ|",
    "median_absolute_error": "median of |ŷᵢ − yᵢ|",
    "binned_mae": "mean over bins b of (1/n_b · Σ over i in b of |ŷᵢ − yᵢ|)",
    "binned_mae_weighted": "Σ w_b · MAE_b / Σ w_b over bins b, w = 10, 5, 3, 1",
    "rmse": "√(1/n · Σ (ŷᵢ − yᵢ)²)",
    "nrmse": "√(Σ (ŷᵢ − yᵢ)² / Σ (yᵢ − ȳ)²)",
    "r2": "1 − Σ (ŷᵢ − yᵢ)² / Σ (yᵢ − ȳ)²",
    "cer": "100 · (substituted + deleted + inserted characters) / reference characters",
    "corpus_cer": "100 · Σ edit operations / Σ reference characters, over all units",
    "wer": "100 · (substituted + deleted + inserted words) / reference words",
    "top1": "share of examples whose true candidate has rank 1 of all candidates",
    "top5": "share of examples whose true candidate is among the first 5 of all candidates",
    "mean_inverse_normalised_rank": "1/n · Σ (1 − rᵢ / (N − 1)), rᵢ = 0 for the first of N candidates",
}
