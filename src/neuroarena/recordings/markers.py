"""Events that are written into a channel of their own: triggers, status and stimulus channels."""

from __future__ import annotations

import numpy as np
import pandas as pd

from neuroarena.recordings.recording import Recording

_STRETCH = 2**20


def channel_events(recording: Recording, channel: str) -> pd.DataFrame:
    """Find the events of a marker channel: every change to a value that is not zero.

    Parameters
    ----------
    recording : Recording
    channel : str
        The channel, read in stretches of a million samples.

    Returns
    -------
    DataFrame
        onset_s, duration_s (until the value changes again) and value, the number as text.

    Raises
    ------
    InputError
        When there is no such channel.

    Examples
    --------
    >>> from neuroarena.recordings import from_array
    >>> marks = from_array(np.array([[0, 2, 2, 0, 5, 0]]), rate_hz=10.0, channels=["STI"])
    >>> channel_events(marks, "STI").values.tolist()
    [[0.1, 0.2, '2'], [0.4, 0.1, '5']]
    """
    changes, values, last = [0], [], None
    for start in range(0, recording.n_samples, _STRETCH):
        stretch = recording.read(start, min(start + _STRETCH, recording.n_samples), [channel])[0]
        if last is None:
            values.append(stretch[0])
        elif stretch[0] != last:
            changes.append(start)
            values.append(stretch[0])
        places = np.flatnonzero(np.diff(stretch)) + 1
        changes += (start + places).tolist()
        values += stretch[places].tolist()
        last = stretch[-1]
    ends = [*changes[1:], recording.n_samples]
    events: pd.DataFrame = pd.DataFrame(
        {
            "onset_s": np.array(changes) / recording.rate_hz,
            "duration_s": (np.array(ends) - np.array(changes)) / recording.rate_hz,
            "value": [f"{value:g}" for value in values],
        }
    )
    return events.iloc[np.flatnonzero(np.array(values))].reset_index(drop=True)
