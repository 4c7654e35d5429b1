"""Statistics of images and their embeddings, for comparing simulated ones with real ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neuroarena.datasets.likeness import correlate_pairs, describe_spread


def describe_images(training: Sequence[str], test: Sequence[str]) -> dict[str, str]:
    """Describe the images of a set by their concepts, one per image, such as ``00001_aardvark``."""
    # Each part counts its concepts from one: only the name behind the number tells whether two are the same.
    training, test = ([concept.partition("_")[2] for concept in part] for part in (training, test))
    per_concept = np.unique(np.array(training), return_counts=True)[1]
    return {
        "training images": f"{len(training):,}",
        "training concepts": f"{len(per_concept):,}",
        "training images per concept": describe_spread(per_concept, 0),
        "test images": str(len(test)),
        "test concepts": str(len(set(test))),
        "concepts in both": str(len(set(test) & set(training))),
    }


def describe_embeddings(vectors: np.ndarray) -> dict[str, str]:
    """Describe the embeddings of test images: float (images, length)."""
    vectors = np.asarray(vectors, dtype=np.float64)
    norms = np.linalg.norm(vectors, axis=1)
    directions = vectors / norms[:, np.newaxis]
    cosines = (directions @ directions.T)[np.triu_indices(len(vectors), 1)]
    nearest = directions @ directions.T - 2 * np.eye(len(vectors))
    variances = np.linalg.svd(vectors - vectors.mean(axis=0), compute_uv=False) ** 2
    return {
        "length of an embedding": str(vectors.shape[1]),
        "norm, relative deviation": f"{norms.std() / norms.mean():.2f}",
        "cosine of two images": describe_spread(cosines),
        "cosine of an image and its nearest": describe_spread(nearest.max(axis=1)),
        "correlation of two images": describe_spread(correlate_pairs(vectors)),
        "dimensions that carry the variance (participation ratio)": (
            f"{variances.sum() ** 2 / (variances**2).sum():.0f}"
        ),
    }
