"""Check a folder of the Muse sleep-onset set, real or simulated."""

from __future__ import annotations

from pathlib import Path

from neuroarena.datasets.dataset import Problem
from neuroarena.errors import InputError
from neuroarena.families.sleep.muse_sleep.reader import MuseSleep

RATE_HZ = 128.0


def verify(root: str | Path) -> list[Problem]:
    """List what is missing or inconsistent in a folder; an empty list means that it is good.

    Headers and tables are read, samples are not.

    Parameters
    ----------
    root : path
        The folder.
    """
    try:
        data = MuseSleep(root)
    except InputError as error:
        return [Problem.of(error, root)]
    problems = [
        Problem(entry["recording"], "is missing, although simulated.json lists it.")
        for entry in (data.card or {}).get("recordings", [])
        if entry["recording"] not in data.sessions
    ]
    for key in data.sessions:
        problems += _check_session(data, key)
    return problems


def _check_session(data: MuseSleep, key: str) -> list[Problem]:
    file = data.sessions[key].path.relative_to(data.root).as_posix()
    try:
        recording, onset_s = data.open(key), data.onset_s(key)
    except InputError as error:
        return [Problem.of(error, data.root, file)]
    problems = []
    if recording.rate_hz != RATE_HZ:
        problems.append(Problem(file, f"is sampled at {recording.rate_hz:g} Hz; expected {RATE_HZ:g} Hz."))
    if not 0 <= onset_s < recording.duration_s:
        problems.append(
            Problem(
                file,
                f"N2 begins at {onset_s:g} s by its events, outside its {recording.duration_s:g} s.",
            )
        )
    return problems
