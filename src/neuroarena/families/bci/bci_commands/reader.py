"""Read a set of mental commands in BIDS: people, sessions, contexts and cued trials."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.datasets.folder import DatasetFolder
from neuroarena.errors import InputError
from neuroarena.recordings import Recording
from neuroarena.recordings.bids import bids_events, bids_recordings, open_bids, participants, sidecar
from neuroarena.recordings.tsv import read_tsv

# trial_type of the events -> class. PROTEUS calls mental arithmetic `sub`: people subtract.
CUES = {"mi": "motor-imagery", "sub": "mental-math", "word": "word-association"}
# Runs without cues.
BASELINES = ("BaselineOE", "BaselineCE")
_ENVIRONMENT = re.compile(r"(Graz|BH)$")


class BciCommands(DatasetFolder):
    """A folder of cued mental commands, real (PROTEUS) or simulated.

    Parameters
    ----------
    root : path
        The BIDS dataset's folder.

    Attributes
    ----------
    root : Path
    card : dict or None
        The card of a simulated twin; None for real data.

    Raises
    ------
    InputError
        When the folder does not exist, or its card cannot be read.
    """

    expected = "Expected a BIDS dataset of mental commands."

    @functools.cached_property
    def people(self) -> tuple[str, ...]:
        """The people who must be there: those of participants.tsv, in its order."""
        return tuple(participants(self.root)["participant_id"])

    def runs(self, subjects: Iterable[str] | None = None) -> pd.DataFrame:
        """List the cued runs of some people, or of everybody.

        Returns
        -------
        DataFrame
            subject, session, task, run, path, and context: the environment the task's name ends in (Graz, BH),
            or the task.

        Raises
        ------
        InputError
            When a person of participants.tsv, or a session of a person's own list, has no recording: nothing
            is left out silently.
        """
        wanted = (
            self.people if subjects is None else tuple(str(name).removeprefix("sub-") for name in subjects)
        )
        unknown = [name for name in wanted if name not in self.people]
        if unknown or not wanted:
            raise InputError(
                f"{self.root / 'participants.tsv'}: has no {unknown[0] if unknown else 'person that was named'}; "
                f"it lists {', '.join(self.people)}."
            )
        absent = [name for name in wanted if not (self.root / f"sub-{name}").is_dir()]
        if absent:
            raise InputError(
                f"{self.root}: sub-{absent[0]} is listed in participants.tsv, but is missing. "
                "Download it, or name the subjects you have; nothing is left out silently."
            )
        found = bids_recordings(self.root, subjects=wanted)
        found = found[~found["task"].isin(BASELINES)].reset_index(drop=True)
        for name in wanted:
            self._check_sessions(name, set(found.loc[found["subject"] == name, "session"]))
        found["context"] = [_context(task) for task in found["task"]]
        return found

    def _check_sessions(self, subject: str, there: set[str]) -> None:
        listing = self.root / f"sub-{subject}" / f"sub-{subject}_sessions.tsv"
        if not there:
            raise InputError(f"{self.root}: sub-{subject} has no cued run.")
        if listing.is_file():
            listed = read_tsv(listing, required=("session_id",))["session_id"].dropna()
            for row, session in enumerate(listed):
                if str(session).removeprefix("ses-") not in there:
                    raise InputError(
                        f"{listing}: line {row + 2}: lists {session}, which has no cued run. "
                        "Download it; nothing is left out silently."
                    )

    def trials(self, path: str | Path, recording: Recording | None = None) -> pd.DataFrame:
        """List the cued trials of a run.

        Parameters
        ----------
        path : path
            The signal file.
        recording : Recording, optional
            The run, when it is already open.

        Returns
        -------
        DataFrame
            start (sample of the cue), duration_s (of the cue), label (class); in time order.

        Raises
        ------
        InputError
            When there is no cue, or a trial lies outside the recording; the message names file and line.
        """
        file = sidecar(path, "events.tsv")
        events = bids_events(path)
        if "trial_type" not in events:
            raise InputError(f'{file}: line 1: the column "trial_type" is missing.')
        cued = events[events["trial_type"].isin(CUES)]
        if cued.empty:
            raise InputError(f"{file}: does not hold a cue. Expected the trial_type {', '.join(CUES)}.")
        recording = recording or self.recording(path)
        starts = np.round(cued["onset_s"].to_numpy() * recording.rate_hz).astype(np.int64)
        outside = np.flatnonzero((starts < 0) | (starts >= recording.n_samples))
        if outside.size:
            line = int(cued.index[outside[0]]) + 2
            raise InputError(f"{file}: line {line}: the cue is not within the recording {Path(path).name}.")
        table = pd.DataFrame(
            {
                "start": starts,
                "duration_s": cued["duration_s"].to_numpy(),
                "label": [CUES[str(name)] for name in cued["trial_type"]],
            }
        )
        table = table.sort_values("start", ignore_index=True)
        if table["start"].duplicated().any():
            again = int(table.loc[table["start"].duplicated(), "start"].iloc[0])
            raise InputError(f"{file}: two cues at sample {again}. A trial has one cue.")
        return table

    def recording(self, path: str | Path) -> Recording:
        """Open the EEG channels of a run, in microvolts; what channels.tsv types otherwise is left out."""
        return open_bids(path, kinds=["eeg"])

    def __reduce__(self) -> tuple[Any, ...]:
        return BciCommands, (self.root.absolute(),)


def _context(task: str) -> str:
    found = _ENVIRONMENT.search(task)
    return found.group(1) if found else task
