"""The network the simulated neurons read: four stages of convolution in plain NumPy, with fixed weights.

It computes what the shipped model "tiny-cnn" computes in torch; a test keeps the two in step. It is written twice on
purpose: a twin must not be made by the code that is later judged on it.
"""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]

SEED = 20260115
LAYERS = ("stage1", "stage2", "stage3", "stage4")
CHANNELS = (3, 16, 24, 32, 48)
PIXELS = 64


def responses(images: npt.NDArray[np.uint8], batch: int = 8) -> dict[str, Array]:
    """Return the output of every stage.

    Parameters
    ----------
    images : ndarray of uint8, shape (images, 64, 64, 3)
    batch : int
        How many images are computed at a time; few stay in the processor's cache.

    Returns
    -------
    dict of str to ndarray of float32, shape (images, units)
        By the name of the stage; units in the order channel, row, column.
    """
    if images.shape[1:] != (PIXELS, PIXELS, 3):
        raise ValueError(f"images of shape {images.shape[1:]}, expected ({PIXELS}, {PIXELS}, 3)")
    weights = _weights()
    parts: dict[str, list[Array]] = {name: [] for name in LAYERS}
    for start in range(0, len(images), batch):
        # Mean 0.5 and deviation 0.25 of pixel values in [0, 1].
        shown = images[start : start + batch].astype(np.float32)
        values: Array = ((shown / 255 - 0.5) / 0.25).astype(np.float32)
        for name, (kernel, bias) in zip(LAYERS, weights, strict=True):
            values = _stage(values, kernel, bias)
            parts[name].append(np.moveaxis(values, 3, 1).reshape(len(values), -1))
    return {name: np.concatenate(each) for name, each in parts.items()}


def _stage(values: Array, kernel: Array, bias: Array) -> Array:
    """Convolve (n, height, width, channels) with 3 x 3 kernels, rectify, and average 2 x 2 places."""
    n, height, width, _ = values.shape
    padded = np.pad(values, ((0, 0), (1, 1), (1, 1), (0, 0)))
    total = np.broadcast_to(bias, (n, height, width, len(bias))).copy()
    for row in range(3):
        for column in range(3):
            total += padded[:, row : row + height, column : column + width] @ kernel[:, :, row, column].T
    np.maximum(total, 0, out=total)
    pooled: Array = total.reshape(n, height // 2, 2, width // 2, 2, -1).mean(axis=(2, 4))
    return pooled


def _weights() -> list[tuple[Array, Array]]:
    """Draw kernels (out, in, 3, 3) and biases of all stages from the one seed."""
    rng = np.random.default_rng(SEED)
    drawn = []
    for inputs, outputs in itertools.pairwise(CHANNELS):
        kernel = np.sqrt(2.0 / (9 * inputs)) * rng.standard_normal((outputs, inputs, 3, 3))
        bias = 0.1 * rng.standard_normal(outputs)
        drawn.append((kernel.astype(np.float32), bias.astype(np.float32)))
    return drawn
