"""Check a folder of mental commands, real or simulated."""

from __future__ import annotations

from pathlib import Path

from neuroarena.datasets.dataset import Problem
from neuroarena.errors import InputError
from neuroarena.families.bci.bci_commands.reader import CUES, BciCommands


def verify(root: str | Path) -> list[Problem]:
    """List what is missing or inconsistent in a folder; an empty list means that it is good.

    Signals are not read, only headers and tables.

    Parameters
    ----------
    root : path
        The folder.
    """
    problems: list[Problem] = []
    try:
        data = BciCommands(root)
        people = data.people
    except InputError as error:
        return [Problem.of(error, root)]
    problems += list(data.check_files())
    for person in people:
        try:
            runs = data.runs([person])
        except InputError as error:
            problems.append(Problem.of(error, data.root))
            continue
        for path in runs["path"]:
            problems += _check_run(data, path)
    return problems


def _check_run(data: BciCommands, path: str) -> list[Problem]:
    try:
        trials = data.trials(path)
    except InputError as error:
        return [Problem.of(error, data.root)]
    absent = sorted(set(CUES.values()) - set(trials["label"]))
    if absent:
        name = Path(path).relative_to(data.root).as_posix()
        return [Problem(name, f"has no trial of the class {absent[0]}.")]
    return []
