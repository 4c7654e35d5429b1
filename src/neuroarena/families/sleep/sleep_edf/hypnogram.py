"""Hypnograms: scored stages in epochs of 30 seconds, and when sleep has set in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from neuroarena.errors import InputError

EPOCH_S = 30.0
# What is scored -> the stage of today's rules. Stages 3 and 4 of Rechtschaffen and Kales are both N3.
STAGES = {
    "Sleep stage W": "W",
    "Sleep stage 1": "N1",
    "Sleep stage 2": "N2",
    "Sleep stage 3": "N3",
    "Sleep stage 4": "N3",
    "Sleep stage R": "R",
    "Sleep stage ?": "?",
    "Movement time": "?",
    "Sleep stage N1": "N1",
    "Sleep stage N2": "N2",
    "Sleep stage N3": "N3",
}
UNKNOWN = "?"
# REM is not deeper than N2: a night that goes from N2 to REM has left stable sleep.
N2_OR_DEEPER = ("N2", "N3")
# Wake this long parts a nap from the night.
WAKE_AFTER_NAP_S = 7200.0
# Onsets are written as decimal text; a difference below this is rounding, not a gap.
_TOLERANCE_S = 1e-3


def stage_epochs(annotations: pd.DataFrame, name: str = "hypnogram") -> pd.DataFrame:
    """Cut annotations into epochs of 30 seconds, each from its annotation's own onset.

    Annotations that are not stages ("Lights off", "Recording starts") are ignored. A gap between two annotations,
    and the remainder of an annotation that is not a multiple of 30 seconds, become one row of the stage "?".

    Parameters
    ----------
    annotations : DataFrame
        Columns onset_s, duration_s, description; in any order of rows.
    name : str
        Name of the hypnogram in errors.

    Returns
    -------
    DataFrame
        start_s (float), stage (W, N1, N2, N3, R or ?), in time order.

    Raises
    ------
    InputError
        When an annotation is an unknown stage, two annotations overlap, or there is no stage at all.

    Examples
    --------
    >>> rows = [(0, 60, "Sleep stage W"), (60, 30, "Sleep stage 2")]
    >>> table = pd.DataFrame(rows, columns=["onset_s", "duration_s", "description"])
    >>> stage_epochs(table)["stage"].tolist()
    ['W', 'W', 'N2']
    """
    scored = _score(annotations, name)
    starts: list[float] = []
    stages: list[str] = []
    end = None
    for onset, duration, stage in scored:
        if end is not None and onset < end - _TOLERANCE_S:
            raise InputError(
                f"{name}: the annotation at {onset:g} s begins before the one before it ends, at {end:g} s. "
                "Stages must not overlap."
            )
        if end is not None and onset > end + _TOLERANCE_S:
            starts.append(end)
            stages.append(UNKNOWN)
        whole = int((duration + _TOLERANCE_S) // EPOCH_S)
        starts += [onset + EPOCH_S * number for number in range(whole)]
        stages += [stage] * whole
        if duration - EPOCH_S * whole > _TOLERANCE_S:
            starts.append(onset + EPOCH_S * whole)
            stages.append(UNKNOWN)
        end = onset + duration
    return pd.DataFrame({"start_s": np.array(starts, dtype=float), "stage": stages})


def _score(annotations: pd.DataFrame, name: str) -> list[tuple[float, float, str]]:
    rows = []
    for onset, duration, text in zip(
        annotations["onset_s"], annotations["duration_s"], annotations["description"], strict=True
    ):
        words = str(text).strip()
        if words in STAGES:
            rows.append((float(onset), float(duration), STAGES[words]))
        elif words.startswith("Sleep stage"):
            raise InputError(
                f'{name}: the annotation "{words}" at {onset:g} s is not a known stage. '
                f"Expected one of {', '.join(STAGES)}."
            )
    if not rows:
        raise InputError(
            f'{name}: holds no sleep stage. Expected annotations such as "Sleep stage W" or "Sleep stage 2".'
        )
    return sorted(rows)


def first_n2(stages: Sequence[str]) -> int | None:
    """Find the first epoch scored N2, whatever follows; None where there is none.

    Examples
    --------
    >>> first_n2(["W", "N1", "N2", "W"])
    2
    """
    return first_stable_n2(stages, k=0)


def first_stable_n2(stages: Sequence[str], k: int = 1) -> int | None:
    """Find the first epoch scored N2 that is followed by at least `k` further epochs of N2 or deeper.

    Wake, N1, REM, movement, an unknown stage, a gap and the end of the hypnogram all break the run.

    Parameters
    ----------
    stages : sequence of str
        W, N1, N2, N3, R or ?, one per epoch, as :func:`stage_epochs` returns them.
    k : int
        Epochs that must follow; 0 means the first N2 alone.

    Returns
    -------
    int or None
        Position of the epoch; None when there is none.

    Raises
    ------
    InputError
        When `k` is below zero.

    Examples
    --------
    >>> first_stable_n2(["W", "N2", "N1", "N2", "N3", "R"])
    3
    >>> first_stable_n2(["W", "N1", "N2"]) is None
    True
    """
    if k < 0:
        raise InputError(f"k, the epochs that must follow the first N2, cannot be below zero, got {k}.")
    run = 0
    # Backwards, so that the length of the run that follows an epoch is known when it is reached.
    found: int | None = None
    for position in range(len(stages) - 1, -1, -1):
        if stages[position] == "N2" and run >= k:
            found = position
        run = run + 1 if stages[position] in N2_OR_DEEPER else 0
    return found


def slept_before_the_night(stages: Sequence[str], k: int = 1) -> bool:
    """Return whether the first stable N2 belongs to a nap: two hours of wake follow it, and stable N2 once more.

    A nap is sleep: its stable N2 is the first, and the target. In the evening before two of thirty real nights
    somebody napped, for half an hour and for two hours; the longest wake within a night was 42 minutes.

    Parameters
    ----------
    stages : sequence of str
        As for :func:`first_stable_n2`.
    k : int
        Epochs that must follow an N2.

    Examples
    --------
    >>> slept_before_the_night(["N2", "N2"] + 240 * ["W"] + ["N2", "N2"])
    True
    >>> slept_before_the_night(["N2", "N2"] + 100 * ["W"] + ["N2", "N2"])
    False
    """
    first = first_stable_n2(stages, k)
    if first is None:
        return False
    awake = 0
    for position in range(first, len(stages)):
        awake = awake + 1 if stages[position] in ("W", UNKNOWN) else 0
        if awake * EPOCH_S >= WAKE_AFTER_NAP_S:
            return first_stable_n2(stages[position:], k) is not None
    return False
