"""Check a folder of THINGS-EEG2, real or simulated."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from neuroarena.datasets.dataset import Problem
from neuroarena.errors import InputError
from neuroarena.families.img.things_eeg2.reader import PARTS, ThingsEEG2


def verify(root: str | Path) -> list[Problem]:
    """List what is missing or inconsistent in a folder; an empty list means that it is good.

    Signals are not read, only their shapes: a real folder takes seconds.
    """
    problems: list[Problem] = []
    try:
        data = ThingsEEG2(root)
    except InputError as error:
        return [Problem.of(error, root)]
    if _attempt(problems, data, lambda: data.images) is None:
        return problems
    problems += data.check_files()
    _attempt(problems, data, data.embeddings)
    layouts: dict[str, tuple[Any, ...]] = {}
    for subject in data.subjects:
        for part in PARTS:
            epochs = _attempt(problems, data, functools.partial(data.epochs, subject, part))
            if epochs is None:
                continue
            layout = (epochs.channels, epochs.data.shape[3], epochs.rate_hz)
            first, expected = next(iter(layouts.items()), (None, layout))
            layouts[f"{subject} {part}"] = layout
            if layout != expected:
                file = data.file(subject, part).relative_to(data.root).as_posix()
                problems.append(Problem(file, f"channels, samples or rate differ from those of {first}."))
    return problems


def _attempt(problems: list[Problem], data: ThingsEEG2, read: Callable[[], Any]) -> Any:
    try:
        return read()
    except InputError as error:
        found = Problem.of(error, data.root)
        if all(found.file != other.file for other in problems):
            problems.append(found)
        return None
