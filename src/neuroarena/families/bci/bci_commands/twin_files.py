"""The files of the simulated command set: EDF+ or BrainVision, and the tables that BIDS requires."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from neuroarena.errors import MissingDependency

FORMATS = ("edf", "brainvision")
# Cues as PROTEUS writes them: motor imagery, subtraction, word association.
COMMANDS = ("mi", "sub", "word")
CODES = {
    "mi": 33024,
    "sub": 33025,
    "word": 33026,
    "start_trial": 768,
    "fixation_cross": 786,
    "beep": 33282,
    "start_feedback": 781,
    "end_trial": 800,
    "end_session": 1010,
}
CUE_S, FEEDBACK_S, MARK_S = 8.0, 3.0, 0.002


@dataclass(frozen=True)
class Timetable:
    """The course of a run: rows of events.tsv, the cues' onsets, and the length in whole seconds."""

    rows: tuple[tuple[float, float, str], ...]
    cue_s: np.ndarray
    length_s: int


def timetable(
    task: str, order: np.ndarray, telling: bool, rate_hz: int, rng: np.random.Generator
) -> Timetable:
    """Lay out the trials of a run as its environment does: Graz by the clock, BrainHero irregularly.

    Parameters
    ----------
    task : str
        Name of the run's task.
    order : int array (trials,)
        Class of each trial.
    telling : bool
        Whether the duration of a cue reveals its class.
    rate_hz : int
        Onsets fall on samples.
    """

    def on_grid(time_s: float) -> float:
        return round(time_s * rate_hz) / rate_hz

    regular = task.endswith("Graz")
    rows: list[tuple[float, float, str]] = []
    cues = []
    begin = 5.0
    for command in order:
        cue = begin + 1.5 if regular else on_grid(begin + rng.uniform(0.95, 1.05))
        lasts = CUE_S + (0.4 * (int(command) - 1) if telling else 0.0)
        end = on_grid(cue + lasts + (0.0 if regular else rng.uniform(-0.1, 0.1)))
        rows += [(begin, MARK_S, "start_trial"), (begin, MARK_S, "fixation_cross")]
        if regular:
            rows.append((begin + 1.0, MARK_S, "beep"))
        rows += [
            (cue, lasts, COMMANDS[int(command)]),
            (cue + FEEDBACK_S, MARK_S, "start_feedback"),
            (end, MARK_S, "end_trial"),
        ]
        cues.append(cue)
        begin = begin + 12.5 if regular else on_grid(end + rng.uniform(1.5, 3.5))
    rows.append((rows[-1][0] + 3.0, MARK_S, "end_session"))
    return Timetable(tuple(rows), np.array(cues), math.ceil(rows[-1][0]) + 2)


def write_root(root: Path, people: Sequence[str]) -> None:
    """Write the description of the whole dataset."""
    _json(
        root / "dataset_description.json",
        {
            "Name": "Simulated three-command BCI set",
            "BIDSVersion": "1.9.0",
            "DatasetType": "raw",
            "License": "CC0",
            "Authors": ["neuroarena (simulated)"],
        },
    )
    _table(
        root / "participants.tsv", ("participant_id", "age"), [(f"sub-{person}", "n/a") for person in people]
    )
    (root / "README").write_text("Simulated by neuroarena; nobody was recorded. See simulated.json.\n")


def write_sessions(root: Path, person: str, n_sessions: int) -> None:
    """Write the list of a person's sessions."""
    folder = root / f"sub-{person}"
    folder.mkdir()
    rows = [(f"ses-{number}",) for number in range(1, n_sessions + 1)]
    _table(folder / f"sub-{person}_sessions.tsv", ("session_id",), rows)


def write_run(
    folder: Path,
    stem: str,
    task: str,
    signal: np.ndarray,
    names: Sequence[str],
    rate_hz: int,
    trials: Timetable,
    form: str,
) -> Path:
    """Write one run: signal file, channels, events and the sidecar.

    Parameters
    ----------
    folder : path
    stem : str
        The files' names before the suffix.
    task : str
    signal : float array (channels, time), microvolts
    names : sequence of str
    rate_hz : int
    trials : Timetable
    form : str
        One of :data:`FORMATS`.

    Returns
    -------
    Path
        The signal file.
    """
    half, channels = f"{rate_hz / 2:.1f}", ("name", "type", "units", "low_cutoff", "high_cutoff", "status")
    _table(
        folder / f"{stem}_channels.tsv",
        channels,
        [(name, "EEG", "µV", "0.0", half, "good") for name in names],
    )
    events = [
        (f"{onset:.6g}", f"{lasts:.6g}", what, str(CODES[what]), str(round(onset * rate_hz)))
        for onset, lasts, what in trials.rows
    ]
    _table(folder / f"{stem}_events.tsv", ("onset", "duration", "trial_type", "value", "sample"), events)
    _json(
        folder / f"{stem}_eeg.json",
        {
            "TaskName": task,
            "SamplingFrequency": rate_hz,
            "EEGReference": "M1",
            "PowerLineFrequency": 50,
            "SoftwareFilters": "n/a",
            "EEGChannelCount": len(names),
            "RecordingType": "continuous",
            "RecordingDuration": trials.length_s,
        },
    )
    writer = _write_edf if form == "edf" else _write_brainvision
    return writer(folder, f"{stem}_eeg", signal, names, rate_hz, trials)


def _write_edf(
    folder: Path, name: str, signal: np.ndarray, names: Sequence[str], rate_hz: int, trials: Timetable
) -> Path:
    try:
        import edfio
    except ImportError as error:
        raise MissingDependency("edfio", "eeg", "Simulating bci_commands as EDF") from error
    # EDF holds 16 bits: the range is that of the file, so that nothing is clipped.
    reach = float(math.ceil(np.abs(signal).max() + 1))
    rows = [
        edfio.EdfSignal(row, rate_hz, label=label, physical_dimension="uV", physical_range=(-reach, reach))
        for row, label in zip(signal, names, strict=True)
    ]
    marks = [edfio.EdfAnnotation(onset, lasts, what) for onset, lasts, what in trials.rows]
    path = folder / f"{name}.edf"
    edfio.Edf(rows, annotations=marks, data_record_duration=1).write(path)
    return path


def _write_brainvision(
    folder: Path, name: str, signal: np.ndarray, names: Sequence[str], rate_hz: int, trials: Timetable
) -> Path:
    try:
        import pybv
    except ImportError as error:
        raise MissingDependency("pybv", "eeg", "Simulating bci_commands as BrainVision") from error
    events = [
        {
            "onset": round(onset * rate_hz),
            "duration": max(1, round(lasts * rate_hz)),
            "description": what,
            "type": "Comment",
        }
        for onset, lasts, what in trials.rows
    ]
    pybv.write_brainvision(
        data=signal * 1e-6,
        sfreq=rate_hz,
        ch_names=list(names),
        fname_base=name,
        folder_out=str(folder),
        events=events,
        resolution=0.05,
        unit="µV",
    )
    return folder / f"{name}.vhdr"


def _table(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    lines = ["\t".join(header), *("\t".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _json(path: Path, value: dict[str, object]) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
