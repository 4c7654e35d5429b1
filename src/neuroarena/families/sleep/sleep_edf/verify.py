"""Check a folder of Sleep-EDF, real or simulated."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from neuroarena.datasets.dataset import Problem
from neuroarena.errors import InputError
from neuroarena.families.sleep.sleep_edf.hypnogram import EPOCH_S
from neuroarena.families.sleep.sleep_edf.reader import SleepEDF

RATE_HZ = 100.0


def verify(root: str | Path) -> list[Problem]:
    """List what is missing or inconsistent in a folder; an empty list means that it is good.

    Headers and hypnograms are read, samples are not: a real folder takes a minute at most.

    Parameters
    ----------
    root : path
        The folder.
    """
    try:
        data = SleepEDF(root)
    except InputError as error:
        return [Problem.of(error, root)]
    problems = [
        Problem(f"{entry['night']}*-PSG.edf", "is missing, but simulated.json lists the night.")
        for entry in (data.card or {}).get("nights", [])
        if entry["night"] not in data.nights
    ]
    for key in data.nights:
        problems += _check_night(data, key)
    return problems


def _check_night(data: SleepEDF, key: str) -> list[Problem]:
    night = data.nights[key]
    signals, hypnogram = (path.relative_to(data.root).as_posix() for path in (night.signals, night.hypnogram))
    problems = []
    length_s: float | None = None
    try:
        recording = data.open(key)
        length_s = recording.duration_s
        if recording.rate_hz != RATE_HZ:
            problems.append(
                Problem(signals, f"is sampled at {recording.rate_hz:g} Hz; expected {RATE_HZ:g} Hz.")
            )
    except InputError as error:
        problems.append(Problem.of(error, data.root, signals))
    try:
        stages = data.stages(key)
    except InputError as error:
        return [*problems, Problem.of(error, data.root, hypnogram)]
    return problems + _check_stages(stages, hypnogram, length_s)


def _check_stages(stages: pd.DataFrame, file: str, length_s: float | None) -> list[Problem]:
    first = float(stages["start_s"].iloc[0])
    if first < 0:
        return [Problem(file, f"its first epoch is at {first:g} s, before the signals begin.")]
    known = stages.loc[stages["stage"] != "?", "start_s"]
    if known.empty:
        return [Problem(file, "has no epoch with a known stage.")]
    last = float(known.iloc[-1]) + EPOCH_S
    if length_s is not None and last > length_s:
        return [
            Problem(file, f"its last scored epoch ends at {last:g} s, but the signals end at {length_s:g} s.")
        ]
    return []
