"""Statistics of responses to pictures, for comparing simulated neurons with real ones."""

from __future__ import annotations

import numpy as np

from neuroarena.datasets.likeness import correlate_pairs, describe_spread


def describe_dissimilarities(name: str, values: np.ndarray) -> dict[str, str]:
    """Describe dissimilarities 1 - r of pairs of images: float (pairs,)."""
    return {f"{name}: dissimilarity of two images (1 - r)": describe_spread(values)}


def describe_responses(name: str, trials: np.ndarray) -> dict[str, str]:
    """Describe the responses of one region.

    Parameters
    ----------
    name : str
        Of the region.
    trials : float array (repetitions, images, neuroids)
    """
    halves = trials[::2].mean(axis=0), trials[1::2].mean(axis=0)
    reliability = [
        np.corrcoef(first, second)[0, 1] for first, second in zip(halves[0].T, halves[1].T, strict=True)
    ]
    # Spearman and Brown: what all repetitions together would reach.
    whole = 2 * np.array(reliability) / (1 + np.array(reliability))
    mean = trials.mean(axis=0)
    # Neuroids of different gain would otherwise dominate the likeness of images.
    scaled = (mean - mean.mean(axis=0)) / mean.std(axis=0)
    return {
        f"{name}: neuroids": str(trials.shape[2]),
        f"{name}: images": str(trials.shape[1]),
        f"{name}: repetitions": str(trials.shape[0]),
        f"{name}: reliability of a neuroid over all repetitions": describe_spread(whole),
        f"{name}: correlation of two neuroids over images": describe_spread(correlate_pairs(mean.T)),
        **describe_dissimilarities(name, 1 - correlate_pairs(scaled)),
    }
