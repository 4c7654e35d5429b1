"""Training data of stagers: the windows of training streams, as they would be heard, with the stage of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuroarena.decoders.decoder import Context, Group, Part
from neuroarena.errors import InputError
from neuroarena.features import FeatureChain
from neuroarena.scoring import StreamRule

STAGES = ("W", "N1", "N2", "N3", "R")
# Where only the onset is known, as in the Muse set, two classes stand for the stages.
BEFORE, AFTER = "before", "after"
DEEP = ("N2", "N3", AFTER)
ONSET = "n2_onset"
UNKNOWN = "?"
_DEFAULT = StreamRule(window_s=30.0, hop_s=10.0, answer="last")


def stream_rule(context: Context | None) -> StreamRule:
    """Return the rule by which test recordings will be played; 30 s windows every 10 s where none is known."""
    return (context.stream if context is not None else None) or _DEFAULT


@dataclass(frozen=True)
class Heard:
    """One training stream as it would be heard.

    Attributes
    ----------
    windows : float32 array (windows, channels, ...)
        The decoder's features of each window, in time order.
    stages : list of str
        Stage at the middle of each window; "?" where it is unknown.
    target_s : float
        Seconds from the first window's start to the onset.
    """

    windows: np.ndarray
    stages: list[str]
    target_s: float


def heard(train: Part, features: FeatureChain, rule: StreamRule) -> Iterator[Heard]:
    """Yield the training streams, cut into the windows in which they would be played.

    Raises
    ------
    InputError
        When a group lacks its recording or its events, or a stream is shorter than a window.
    """
    for group in train:
        if group.recording is None or group.events is None or group.targets is None:
            raise InputError(
                "A stager learns from recordings with events; this training part has none. Use it on a stream task "
                "whose recordings are annotated with stages or with n2_onset."
            )
        for start, stop, target in zip(group.table["start"], group.table["stop"], group.targets, strict=True):
            yield _hear(group, int(start), int(stop), float(target), features, rule)


def _hear(
    group: Group, start: int, stop: int, target: float, features: FeatureChain, rule: StreamRule
) -> Heard:
    recording, events = group.recording, group.events
    assert recording is not None
    assert events is not None
    length, hop = round(rule.window_s * recording.rate_hz), round(rule.hop_s * recording.rate_hz)
    starts = np.arange(start, stop - length + 1, hop)
    if not len(starts):
        raise InputError(
            f"{recording.name}: the stream of {stop - start} samples is shorter than one window."
        )
    windows = recording.windows(starts, length)
    if features.steps:
        windows, _ = features(windows, recording.channels, recording.rate_hz)
    middles = (starts + length / 2) / recording.rate_hz
    return Heard(windows, stages_at(events, middles), target)


def stages_at(events: pd.DataFrame, times_s: np.ndarray) -> list[str]:
    """Return the stage at each time, from events that are a hypnogram or a single n2_onset.

    Examples
    --------
    >>> events = pd.DataFrame({"onset_s": [90.0], "duration_s": [0.0], "value": ["n2_onset"]})
    >>> stages_at(events, np.array([60.0, 120.0]))
    ['before', 'after']
    """
    values = events["value"].astype(str).to_numpy()
    onsets = events["onset_s"].to_numpy(dtype=np.float64)
    if ONSET in values:
        onset = float(onsets[values == ONSET][0])
        return [AFTER if time >= onset else BEFORE for time in times_s]
    order = np.argsort(onsets, kind="stable")
    onsets, values = onsets[order], values[order]
    ends = onsets + events["duration_s"].to_numpy(dtype=np.float64)[order]
    rows = np.searchsorted(onsets, times_s, side="right") - 1
    return [
        str(values[row]) if row >= 0 and time < ends[row] and values[row] in STAGES else UNKNOWN
        for row, time in zip(rows, times_s, strict=True)
    ]


def classes_of(streams: list[Heard]) -> tuple[str, ...]:
    """List the classes that occur, in the order of stages.

    Raises
    ------
    InputError
        When there is only one, or none that is N2 or deeper.
    """
    found = {stage for stream in streams for stage in stream.stages} - {UNKNOWN}
    classes = tuple(stage for stage in (*STAGES, BEFORE, AFTER) if stage in found)
    if len(classes) < 2 or not set(classes) & set(DEEP):
        raise InputError(
            f"A stager needs N2 and at least one other stage; the training part has "
            f"{', '.join(classes) or 'no stage'}."
        )
    return classes
