"""The examples of the BCI track: four seconds from each cue."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from neuroarena.errors import InputError
from neuroarena.families.bci.bci_commands import BciCommands
from neuroarena.families.bci.ssvep_exo import SsvepExo
from neuroarena.recordings import Recording

WINDOW_S = 4.0


def command_examples(data: BciCommands, subjects: Sequence[str] | None) -> pd.DataFrame:
    """List the cued trials of a command set.

    Returns
    -------
    DataFrame
        The columns of an examples table; in addition, context, duration_s (of the cue) and trial (position in its run),
        which no decoder sees.

    Raises
    ------
    InputError
        When a window does not fit its recording, or recordings differ in rate.
    """
    parts = []
    rate_hz: float | None = None
    run: Any
    for run in data.runs(subjects).itertuples(index=False):
        recording = data.recording(run.path)
        if rate_hz not in (None, recording.rate_hz):
            raise InputError(
                f"{run.path}: is sampled at {recording.rate_hz:g} Hz, but the recordings before at {rate_hz:g} Hz. "
                "Resample to one rate first."
            )
        rate_hz = recording.rate_hz
        trials = data.trials(run.path, recording)
        length = round(WINDOW_S * rate_hz)
        _check_fits(run.path, trials, length, recording.n_samples)
        cell = f"{run.subject}/{run.session}/{run.context}"
        key = f"{run.subject}/{run.session}/{run.task}/{run.run or 0}"
        table = {
            "id": [f"{key}/{trial:03d}" for trial in range(len(trials))],
            "recording": Path(run.path).relative_to(data.root).as_posix(),
            "start": trials["start"],
            "stop": trials["start"] + length,
            "target": trials["label"],
            "unit": cell,
            "cluster": run.subject,
            "subject": run.subject,
            "session": run.session,
            "context": run.context,
            "duration_s": trials["duration_s"],
            "trial": range(len(trials)),
        }
        parts.append(pd.DataFrame(table))
    return pd.concat(parts, ignore_index=True)


def _check_fits(path: str, trials: pd.DataFrame, length: int, n_samples: int) -> None:
    late = trials[trials["start"] + length > n_samples]
    if len(late):
        raise InputError(
            f"{path}: the {WINDOW_S:g} s from the cue at sample {late['start'].iloc[0]} extend beyond the "
            f"recording's {n_samples} samples."
        )


def open_command_run(data: BciCommands, key: str) -> Recording:
    """Open the recording that an example names."""
    return data.recording(data.root / key)


def flicker_examples(data: SsvepExo, recordings: pd.DataFrame, classes: Sequence[str]) -> pd.DataFrame:
    """List the trials of SSVEP recordings that belong to some classes.

    Parameters
    ----------
    data : SsvepExo
    recordings : DataFrame
        subject and recording of those that count.
    classes : sequence of str
        Trials of other classes (rest) are left out.

    Returns
    -------
    DataFrame
        The columns of an examples table; in addition, trial (position in its recording), which no decoder sees.
    """
    parts = []
    row: Any
    for row in recordings.itertuples(index=False):
        trials = data.trials(row.subject, row.recording)
        length = round(WINDOW_S * data.subject(row.subject).rate_hz)
        if (trials["stop"] - trials["start"] < length).any():
            raise InputError(
                f"subject{row.subject}.npz: trials are shorter than the {WINDOW_S:g} s that are judged."
            )
        trials = trials[trials["label"].isin(classes)].reset_index(drop=True)
        key = f"{row.subject}/{row.recording}"
        table = {
            "id": [f"{key}/{trial:03d}" for trial in trials["trial"]],
            "recording": key,
            "start": trials["start"],
            "stop": trials["start"] + length,
            "target": trials["label"],
            "unit": key,
            "cluster": row.subject,
            "subject": row.subject,
            "session": row.recording,
            "trial": trials["trial"],
        }
        parts.append(pd.DataFrame(table))
    return pd.concat(parts, ignore_index=True)


def open_flicker_recording(data: SsvepExo, key: str) -> Recording:
    """Open the recording that an example names."""
    subject, _, recording = key.partition("/")
    return data.recording(subject, recording)
