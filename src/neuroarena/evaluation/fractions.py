"""Learning curves: train on a share of the training part, drawn so that a smaller share lies in every larger one."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError


def check_fractions(fractions: Sequence[float]) -> tuple[float, ...]:
    """Return shares of the training part, sorted and each once.

    Raises
    ------
    InputError
        For a share that is not above 0 and at most 1, and for none at all.

    Examples
    --------
    >>> check_fractions([1, 0.1, 0.3, 0.1])
    (0.1, 0.3, 1.0)
    """
    wrong = [each for each in fractions if not (isinstance(each, int | float) and 0 < each <= 1)]
    if wrong or not fractions:
        raise InputError(
            f"A share of the training part is above 0 and at most 1, got {wrong[0] if wrong else 'none'}; "
            "for example 0.1,0.3,1.0."
        )
    return tuple(sorted({float(each) for each in fractions}))


def name_split(split: str, fraction: float) -> str:
    """Return the name under which boards rank decoders that were trained on a share of the training part.

    Examples
    --------
    >>> name_split("cross-session", 0.1), name_split("cross-session", 1.0)
    ('cross-session-train-0.1', 'cross-session')
    """
    return split if fraction == 1 else f"{split}-train-{fraction:g}"


def choose_rows(ids: Sequence[str], targets: Sequence[Any], fraction: float, seed: int) -> np.ndarray:
    """Choose a share of examples, the same share of every class.

    Examples are put into an order that the seed and their ids decide, and the first of every class are taken: a
    smaller share is a part of every larger one with the same seed, and the order of rows changes nothing.

    Parameters
    ----------
    ids, targets : sequences of equal length
        Targets that are numbers with a fraction are of one class.
    fraction : float
        Above 0 and at most 1; of every class at least one example is taken.
    seed : int

    Returns
    -------
    int array
        Positions, in their order.

    Examples
    --------
    >>> small = choose_rows(list("abcdefgh"), [0, 1] * 4, 0.25, seed=0)
    >>> large = choose_rows(list("abcdefgh"), [0, 1] * 4, 0.75, seed=0)
    >>> len(small), len(large), set(small) < set(large)
    (2, 6, True)
    """
    measured = all(isinstance(target, float | np.floating) for target in targets)
    classes = pd.factorize(np.array(["" if measured else str(target) for target in targets], dtype=object))[0]
    drawn = np.array([hashlib.sha256(f"{seed} {each}".encode()).hexdigest() for each in ids])
    chosen = []
    for number in np.unique(classes):
        own = np.flatnonzero(classes == number)
        ordered = own[np.argsort(drawn[own])]
        # A tenth of thirty is three, although 0.1 * 30 is a little more in binary.
        chosen.append(ordered[: max(1, math.ceil(round(fraction * len(own), 9)))])
    return np.sort(np.concatenate(chosen))
