"""The trial table of the contrast change detection task: which trials count, and their response times."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from neuroarena.errors import InputError

START = "contrastTrial_start"
END = "end_experiment"
TARGETS = ("left_target", "right_target")
PRESSES = ("left_buttonPress", "right_buttonPress")
COLUMNS = (
    "trial_start_onset",
    "trial_stop_onset",
    "stimulus_onset",
    "response_onset",
    "rt_from_stimulus",
    "rt_from_trialstart",
    "response_type",
    "correct",
)
_CORRECT = {"smiley_face": True, "sad_face": False}


def trial_table(events: pd.DataFrame, name: str = "events") -> pd.DataFrame:
    """List the trials that count, in time order.

    A trial goes from its start to the next start; the last one to the last ``end_experiment``, if that comes later, and
    is dropped otherwise. Its stimulus is the first target in it, its response the first press at or after
    the stimulus. Trials with both are kept; nothing else is left out, however slow or wrong the answer.

    Parameters
    ----------
    events : DataFrame
        onset_s (seconds), value, and where known feedback; in any order.
    name : str
        Name of the events in errors.

    Returns
    -------
    DataFrame
        One row per trial: trial_start_onset, trial_stop_onset, stimulus_onset, response_onset, rt_from_stimulus (the
        target of the benchmark) and rt_from_trialstart, all in seconds; response_type ("left" or "right");
        correct (True, False, or None where the press has no feedback), which is reported and never used.

    Raises
    ------
    InputError
        When a column is missing or an onset is not finite.

    Examples
    --------
    >>> rows = [(0, "contrastTrial_start"), (3, "left_target"), (4.5, "left_buttonPress"), (6, "contrastTrial_start")]
    >>> trial_table(pd.DataFrame(rows, columns=["onset_s", "value"]))["rt_from_stimulus"].tolist()
    [1.5]
    """
    missing = [column for column in ("onset_s", "value") if column not in events.columns]
    if missing:
        raise InputError(
            f'{name}: the column "{missing[0]}" is missing; a trial table needs onset_s and value.'
        )
    ordered = events.sort_values("onset_s", kind="stable", ignore_index=True)
    onsets = ordered["onset_s"].to_numpy(dtype=np.float64)
    if not np.isfinite(onsets).all():
        raise InputError(f"{name}: an onset is not finite.")
    values = ordered["value"].to_numpy()
    feedback = (
        ordered["feedback"].to_numpy() if "feedback" in ordered.columns else np.full(len(ordered), None)
    )
    targets = np.flatnonzero(np.isin(values, TARGETS))
    presses = np.flatnonzero(np.isin(values, PRESSES))
    rows = []
    for start, stop in _spans(onsets, values):
        stimulus = _first(onsets, targets, start, stop)
        response = None if stimulus is None else _first(onsets, presses, onsets[stimulus], stop)
        if stimulus is None or response is None:
            continue
        pressed = onsets[response]
        rows.append(
            (
                start,
                stop,
                onsets[stimulus],
                pressed,
                pressed - onsets[stimulus],
                pressed - start,
                str(values[response]).partition("_")[0],
                _CORRECT.get(feedback[response]),
            )
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _spans(onsets: np.ndarray, values: np.ndarray) -> list[tuple[float, float]]:
    """Return start and stop of every trial whose stop is known."""
    starts = onsets[values == START].tolist()
    spans: list[tuple[float, float]] = list(itertools.pairwise(starts))
    ends = onsets[values == END]
    if starts and len(ends) and ends[-1] > starts[-1]:
        spans.append((starts[-1], float(ends[-1])))
    return spans


def _first(onsets: np.ndarray, rows: np.ndarray, start: float, stop: float) -> int | None:
    """Find the first of these rows with start <= onset < stop."""
    inside = rows[(onsets[rows] >= start) & (onsets[rows] < stop)]
    return int(inside[0]) if len(inside) else None
