"""The shifts of the null, and how slow labels may be for it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

# Where labels stay the same for longer than this share of a fold, the null becomes liberal.
SLOWEST = 1 / 50
# Correlation of labels with themselves, shifted, from which on the two are the same for a null.
_REPEATED = 0.9


def draw_shifts(seed: int, draws: int, items: Sequence[str]) -> np.ndarray:
    """Draw circular shifts of some items in time order, 0 and its neighbours included.

    The items themselves are the seed: whatever shares them (electrodes, bins, tasks) is shifted together. Shifts near
    0 give values like the observed one and belong to the null; without them it would be liberal.

    Parameters
    ----------
    seed, draws : int
    items : sequence of str
        One name per item: of its recording and place.

    Returns
    -------
    int64 array (draws,)

    Examples
    --------
    >>> one, two = (draw_shifts(0, 4, ["a 100", "a 200", "a 300"]) for _ in range(2))
    >>> bool((one == two).all()), bool((one < 3).all())
    (True, True)
    """
    content = hashlib.sha256("\n".join(items).encode()).digest()
    rng = np.random.default_rng([seed, *np.frombuffer(content, dtype=np.uint32)])
    return rng.integers(0, len(items), draws)


def correlation_time(labels: np.ndarray) -> float:
    """Return after how many items the autocorrelation of labels first falls below 1 / e.

    Parameters
    ----------
    labels : array (items,)
        In time order.

    Examples
    --------
    >>> correlation_time(np.array([0, 1] * 50)) < 1, correlation_time(np.repeat([0, 1] * 5, 20)) > 5
    (True, True)
    """
    centred = labels - labels.mean()
    size = next_fast_len(2 * len(centred), real=True)
    power = np.abs(rfft(centred, size)) ** 2
    kept = irfft(power, size)[: len(centred)] / np.arange(len(centred), 0, -1)
    if kept[0] <= 0:
        return float(len(labels))
    below = np.flatnonzero(kept / kept[0] < 1 / np.e)
    if not below.size:
        return float(len(labels))
    place, values = int(below[0]), kept / kept[0]
    # Between two lags, on a straight line.
    return float(place - (1 / np.e - values[place]) / (values[place - 1] - values[place]))


def repeats_itself(labels: np.ndarray) -> bool:
    """Return whether labels alternate by a rule, so that a shift reproduces them.

    Labels that merely change slowly resemble themselves a few items later; a rule brings them back after they differed.

    Examples
    --------
    >>> repeats_itself(np.array([0, 1] * 20)), repeats_itself(np.random.default_rng(0).integers(0, 2, 40))
    (True, False)
    >>> repeats_itself(np.repeat([0, 1, 0], [30, 25, 40]))
    False
    """
    centred = labels - labels.mean()
    around = irfft(np.abs(rfft(centred)) ** 2, len(centred))
    apart = np.flatnonzero(around <= 0)
    if around[0] <= 0 or not apart.size:
        return False
    return bool(around[apart[0] : apart[-1] + 1].max() > _REPEATED * around[0])


@dataclass(frozen=True)
class LabelSpeed:
    """How the labels of a task change in one session.

    Attributes
    ----------
    session : str
    tau : float
        Correlation time, in items.
    n_items : int
        Items of the shortest stretch that is shifted.
    ruled : bool
        Whether they alternate by a rule.
    """

    session: str
    tau: float
    n_items: int
    ruled: bool = False


def describe_labels(task: str, sessions: Sequence[LabelSpeed]) -> list[str]:
    """Return warnings where labels alternate by a rule, or are too slow for the shifts of a null.

    A session has at most one of the two: p values cannot be both too large and too small.

    Examples
    --------
    >>> describe_labels("speech", [LabelSpeed("1_1", 3.0, 1000), LabelSpeed("1_2", 0.6, 24)])
    []
    """
    said = []
    ruled = [each.session for each in sessions if each.ruled]
    if ruled:
        said.append(
            f"{task}: the labels of {len(ruled)} of {len(sessions)} sessions ({', '.join(ruled)}) alternate by a rule, "
            "so that some shifts reproduce them. The null cannot tell such a design from chance, and p values are too "
            "large."
        )
    # Below one item neighbours are independent, however few there are.
    slow = [each for each in sessions if not each.ruled and each.tau > max(1.0, SLOWEST * each.n_items)]
    if slow:
        worst = max(slow, key=lambda each: each.tau / each.n_items)
        said.append(
            f"{task}: the labels of {len(slow)} of {len(sessions)} sessions change slowly. Those of {worst.session} "
            f"resemble each other over {worst.tau:.0f} items, and stretches of {worst.n_items} are shifted; above a "
            "fiftieth, p values are a little too small (at a twentieth, 6 to 8 % false positives at a level of 5 %)."
        )
    return said
