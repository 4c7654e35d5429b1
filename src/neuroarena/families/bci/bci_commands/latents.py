"""The planted answer of twins with several classes: one latent number per class, and the best score it allows.

In a trial of class c the latent numbers are ``z_k = d [k = c] + noise``, standard normal and independent. A twin
writes them into its signals and nothing else of the class, so that no decoder can know more than they reveal.
With equally frequent classes the best rule is the largest z; its accuracy is exact up to the quadrature.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neuroarena.errors import InputError

_GRID = np.linspace(-12.0, 24.0, 7201)


def balanced_accuracy(d: float, offsets: Sequence[float] = (0.0, 0.0, 0.0)) -> float:
    """Return the balanced accuracy of answering with the largest z + offset.

    Parameters
    ----------
    d : float
        How far the latent number of the trial's class is raised.
    offsets : sequence of float
        Added to the latent number of each class before they are compared: effects that a rule does not know about.

    Returns
    -------
    float
        The mean over classes c of the integral of phi(x - d - offset_c) times the product of Phi(x - offset_k)
        over the other classes k.

    Examples
    --------
    >>> round(balanced_accuracy(0.0), 6)
    0.333333
    >>> round(balanced_accuracy(2.0), 3)
    0.866
    >>> balanced_accuracy(2.0, (1.0, 0.0, -1.0)) < balanced_accuracy(2.0)
    True
    """
    from scipy.integrate import trapezoid
    from scipy.stats import norm

    recalls = []
    for number, own in enumerate(offsets):
        others = [norm.cdf(_GRID - offset) for k, offset in enumerate(offsets) if k != number]
        recalls.append(trapezoid(norm.pdf(_GRID - d - own) * np.prod(others, axis=0), _GRID))
    return float(np.mean(recalls))


def separation(ideal: float, strength: float, n_classes: int = 3) -> float:
    """Find the d at which the best rule reaches `ideal`, times `strength`.

    Raises
    ------
    InputError
        When the ideal is below chance or above 0.999.

    Examples
    --------
    >>> round(balanced_accuracy(separation(0.8, 1.0)), 6)
    0.8
    >>> separation(0.8, 0.0)
    0.0
    """
    from scipy.optimize import brentq

    chance = 1.0 / n_classes
    if not chance <= ideal <= 0.999:
        raise InputError(
            f"ideal must be from {chance:.3f}, which is chance, to 0.999, got {ideal!r}. Nothing was written."
        )
    none = (0.0,) * n_classes
    d = 0.0 if ideal <= chance + 1e-9 else brentq(lambda at: balanced_accuracy(at, none) - ideal, 0.0, 11.0)
    return float(d * strength)


def draw_latents(labels: np.ndarray, d: float, n_classes: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the latent numbers of trials: float64 (trials, classes).

    Parameters
    ----------
    labels : int array (trials,)
        Class of each trial; -1 for one without a class.
    d : float
        Separation.
    """
    latents = rng.standard_normal((len(labels), n_classes))
    of_class = np.flatnonzero(labels >= 0)
    latents[of_class, labels[of_class]] += d
    return latents


def balanced_order(n_trials: int, n_classes: int, rng: np.random.Generator, predictable: bool) -> np.ndarray:
    """Draw the classes of a run, equally often each: shuffled, or one after the other in turn."""
    turns = np.arange(n_trials) % n_classes
    return turns if predictable else rng.permutation(turns)
