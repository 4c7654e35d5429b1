"""Read the Muse sleep-onset set: BIDS, BrainVision files of four electrodes, one event per recording."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from neuroarena.datasets.folder import DatasetFolder
from neuroarena.errors import InputError
from neuroarena.recordings import Recording
from neuroarena.recordings.bids import bids_events, bids_recordings, open_bids

TASK = "sleeponset"
CHANNELS = ("TP9", "AF7", "AF8", "TP10")
ONSET = "n2_onset"


@dataclass(frozen=True)
class Session:
    """One recording.

    Attributes
    ----------
    key : str
        "sub-001_ses-001".
    subject, session : str
        "001" and "001".
    path : Path
        The BrainVision header.
    """

    key: str
    subject: str
    session: str
    path: Path


class MuseSleep(DatasetFolder):
    """A folder with the Muse sleep-onset set, real or simulated.

    Parameters
    ----------
    root : path
        The BIDS folder.

    Attributes
    ----------
    root : Path
    sessions : dict of str to Session
        Key -> recording, in the order of people and sessions.
    card : dict or None
        The card of the simulation; None for real data.
    simulated : bool

    Raises
    ------
    InputError
        When the folder does not exist or holds no recording of the task sleeponset.
    """

    def __init__(self, root: str | Path) -> None:
        super().__init__(root)
        self.sessions: dict[str, Session] = {}
        for row in bids_recordings(self.root, "eeg", TASK).itertuples(index=False):
            key = f"sub-{row.subject}_ses-{row.session}"
            if key in self.sessions:
                raise InputError(f"{row.path}: is a second recording of {key}; keep one per session.")
            self.sessions[key] = Session(key, str(row.subject), str(row.session), Path(str(row.path)))

    def __repr__(self) -> str:
        kind = "simulated, " if self.simulated else ""
        return f"MuseSleep({str(self.root)!r}, {kind}{len(self.sessions)} recordings)"

    def session(self, key: str) -> Session:
        """Return a recording's files.

        Raises
        ------
        InputError
            When there is no such recording.
        """
        if key not in self.sessions:
            shown = ", ".join(list(self.sessions)[:8])
            raise InputError(f'{self.root}: there is no recording "{key}". Recordings there: {shown}, ...')
        return self.sessions[key]

    def open(self, key: str) -> Recording:
        """Open a recording, its four electrodes in their order; nothing is read yet.

        Raises
        ------
        InputError
            When a file is missing or broken, or an electrode is not there.
        """
        path = self.session(key).path
        recording = open_bids(path)
        absent = [name for name in CHANNELS if name not in set(recording.channels["name"])]
        if absent:
            there = ", ".join(recording.channels["name"])
            raise InputError(f'{path}: has no channel "{absent[0]}"; it has {there}.')
        return recording.select(list(CHANNELS))

    def onset_s(self, key: str) -> float:
        """Return the seconds from a recording's first sample to N2, as stated in its events.tsv.

        Raises
        ------
        InputError
            When there is not exactly one event n2_onset.
        """
        path = self.session(key).path
        events = bids_events(path)
        named = events["trial_type"].to_numpy() if "trial_type" in events else np.array([], dtype=object)
        onsets = events["onset_s"].to_numpy()[named == ONSET] if len(named) else np.array([])
        if len(onsets) != 1:
            raise InputError(
                f"{path}: its events.tsv has {len(onsets)} events {ONSET}; expected exactly one."
            )
        return float(onsets[0])

    def events(self, key: str) -> pd.DataFrame:
        """Return the one event of a recording: onset_s, duration_s and value ("n2_onset")."""
        return pd.DataFrame({"onset_s": [self.onset_s(key)], "duration_s": [0.0], "value": [ONSET]})
