"""The shifts of the null, and how slow labels may be for it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

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


def describe_slow_labels(task: str, sessions: Sequence[tuple[str, float, int]]) -> str | None:
    """Return a warning where labels are too slow for the shifts of a null; None where they are not.

    Parameters
    ----------
    task : str
    sessions : sequence of (session, correlation time, items)
        Items are those of the shortest stretch that is shifted.

    Examples
    --------
    >>> describe_slow_labels("speech", [("1_1", 3.0, 1000), ("1_2", 0.6, 24)]) is None
    True
    """
    # Below one item neighbours are independent, however few there are.
    slow = [each for each in sessions if each[1] > max(1.0, SLOWEST * each[2])]
    if not slow:
        return None
    session, tau, n_items = max(slow, key=lambda each: each[1] / each[2])
    return (
        f"{task}: the labels of {len(slow)} of {len(sessions)} sessions change slowly. Those of {session} "
        f"resemble each other over {tau:.0f} items, and stretches of {n_items} are shifted; above a fiftieth, p values "
        "are a little too small (at a twentieth, 6 to 8 % false positives at a level of 5 %)."
    )
