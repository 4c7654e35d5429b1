"""Check a folder of emg2qwerty, real or simulated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.datasets.dataset import Problem
from neuroarena.errors import InputError
from neuroarena.families.emg.emg2qwerty.reader import SPLIT_FILE, Emg2Qwerty
from neuroarena.families.emg.emg2qwerty.sessions import plain_user
from neuroarena.families.emg.emg2qwerty.wristbands import RATE_HZ, WristbandSource

# A press may be logged a little after the last sample; much later, the clocks do not agree.
_LATEST_S = 1.0
_LARGEST_GAP_S = 0.1
_RATE_TOLERANCE = 0.01


def open_any(root: str | Path) -> Any:
    """Open a folder of session files, or of the BIDS copy when it has folders ``sub-*`` instead."""
    folder = Path(root)
    if folder.is_dir() and not any(folder.glob("*.hdf5")) and any(folder.glob("sub-*")):
        from neuroarena.families.emg.emg2qwerty.bids_copy import Emg2QwertyBids

        return Emg2QwertyBids(folder)
    return Emg2Qwerty(folder)


def verify(root: str | Path) -> list[Problem]:
    """List what is missing or inconsistent in a folder; an empty list means that it is good.

    Signals are not read, only the clock and what was typed.
    """
    try:
        data = open_any(root)
    except InputError as error:
        return [Problem.of(error, root)]
    problems = list(_check_split(data))
    for session in data.sessions:
        file = data.file(session)
        name = str(file.relative_to(data.root))
        try:
            check = _check_session if isinstance(data, Emg2Qwerty) else _check_copy
            problems += [Problem(name, what) for what in check(data, session)]
        except InputError as error:
            problems.append(
                Problem(name, str(error).removeprefix(f"{file}: ").removeprefix(f"{file.name}: "))
            )
    return problems


def _check_copy(data: Any, name: str) -> Iterator[str]:
    data.recording(name)
    if not data.text(name):
        yield "has no text: no key of the set was pressed."


def _check_split(data: Any) -> Iterator[Problem]:
    try:
        split = data.split_file()
    except InputError as error:
        yield Problem(SPLIT_FILE, str(error))
        return
    for part in ("train", "val", "test"):
        for user, session in getattr(split, part):
            try:
                data.file(session)
            except InputError:
                yield Problem(f"{session}.hdf5", f"is missing, but {SPLIT_FILE} lists it in {part}.")
                continue
            try:
                found, _ = data.about(session)
            except InputError:
                continue
            if found != plain_user(user):
                yield Problem(
                    SPLIT_FILE, f"states that {session} belongs to user {user}, but its file states {found}."
                )
    shared = {user for user, _ in split.train} & {user for user, _ in split.test}
    if shared and split.user == "generic":
        yield Problem(SPLIT_FILE, f"has user {min(shared)} in training and in test: the people must differ.")


def _check_session(data: Emg2Qwerty, name: str) -> Iterator[str]:
    session = data.session(name)
    times = WristbandSource(data.file(name)).times()
    if session.name != name:
        yield f'states that it is session "{session.name}".'
    steps = np.diff(times)
    rate = len(steps) / (times[-1] - times[0]) if len(times) > 1 and times[-1] > times[0] else 0.0
    if abs(rate / RATE_HZ - 1) > _RATE_TOLERANCE:
        yield f"has {rate:.1f} samples per second by its clock, expected {RATE_HZ:g}."
    elif steps.max() > _LARGEST_GAP_S:
        yield f"has a gap of {steps.max():.2f} s after sample {int(steps.argmax())}."
    if not data.text(name):
        yield "has no text: no key of the set was pressed."
    presses = session.keystrokes["start"].to_numpy()
    if len(presses) and presses[0] < times[0]:
        yield f"has {int((presses < times[0]).sum())} keystrokes before its first sample."
    if len(presses) and presses[-1] > times[-1] + _LATEST_S:
        yield f"has a keystroke {presses[-1] - times[-1]:.1f} s after its last sample."
