"""Check a folder of SSVEP exoskeleton recordings, real or simulated."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from neuroarena.datasets.dataset import Problem
from neuroarena.errors import InputError
from neuroarena.families.bci.ssvep_exo.files import SubjectFile
from neuroarena.families.bci.ssvep_exo.reader import CLASSES, SsvepExo


def verify(root: str | Path) -> list[Problem]:
    """List what is missing or inconsistent in a folder; an empty list means that it is good.

    A recording that occurs twice is not a problem: the reader leaves it out and reports it.

    Parameters
    ----------
    root : path
        The folder.
    """
    try:
        data = SsvepExo(root)
    except InputError as error:
        return [Problem.of(error, root)]
    problems = []
    shapes: dict[tuple[object, ...], str] = {}
    for subject in data.people:
        name = f"subject{subject}.npz"
        try:
            file = data.subject(subject)
        except InputError as error:
            message = str(error)
            for prefix in (f"{(data.root / name).absolute()}: ", f"{data.root}: "):
                message = message.removeprefix(prefix)
            problems.append(Problem(name, message))
            continue
        problems += _check_trials(name, file)
        shapes.setdefault((file.channels, file.rate_hz, file.signals.shape[2]), name)
    if len(shapes) > 1:
        first, other = list(shapes.values())[:2]
        problems.append(Problem(other, f"differs from {first} in channels, rate or length of a trial."))
    return problems


def _check_trials(name: str, file: SubjectFile) -> list[Problem]:
    problems = []
    for recording in sorted({str(each) for each in file.recordings}):
        rows = file.rows(recording)
        if len(set(file.trial_indices[rows].tolist())) != len(rows):
            problems.append(Problem(name, f"recording {recording} has a duplicate trial_index."))
        counts = np.bincount(file.labels[rows], minlength=len(CLASSES))
        if (counts[1:] == 0).any():
            absent = CLASSES[int(np.flatnonzero(counts[1:] == 0)[0]) + 1]
            problems.append(Problem(name, f"recording {recording} has no trial of {absent}."))
    return problems
