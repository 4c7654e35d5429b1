"""The people of every fold, as lists that a missing person does not change."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterable
from importlib.resources import files

import pandas as pd

from neuroarena.benchmarks.split_rules import published_folds
from neuroarena.benchmarks.splits import Split
from neuroarena.errors import InputError

SPLIT = "other-people"


@functools.cache
def folds(group: str) -> dict[str, tuple[str, ...]]:
    """Return the people of every fold of a group ("cassette", "telemetry", "muse")."""
    text = files(__package__).joinpath("people-2026.toml").read_text(encoding="utf-8")
    return {name: tuple(people) for name, people in tomllib.loads(text)[group].items()}


def known_people(group: str) -> tuple[str, ...]:
    """List all people of a group, sorted."""
    return tuple(sorted(person for people in folds(group).values() for person in people))


def choose_people(
    group: str, there: Iterable[str], wanted: Iterable[str] | None, simulated: bool, where: str
) -> tuple[str, ...]:
    """Choose who takes part: those wanted, or everyone.

    A simulated set may hold fewer people than the real one. In real data a missing person is an error: leaving
    someone out silently would make it a different task under the same name.

    Raises
    ------
    InputError
        When someone is missing or unknown.
    """
    found = set(there)
    strangers = sorted(found - set(known_people(group)))
    if strangers:
        raise InputError(
            f'{where}: "{strangers[0]}" is in no fold of the split {SPLIT}; {len(strangers)} people are not.'
        )
    if wanted is not None:
        asked = list(dict.fromkeys(wanted))
        absent = [person for person in asked if person not in found]
        if absent or not asked:
            some = ", ".join(sorted(found)[:8])
            raise InputError(
                f'{where}: there is no person "{absent[0] if absent else ""}". People there: {some}, ...'
            )
        return tuple(sorted(asked))
    absent = [person for person in known_people(group) if person not in found]
    if absent and not simulated:
        raise InputError(
            f"{where}: {len(absent)} of {len(known_people(group))} people are missing, the first {absent[0]}. "
            "Download them, or name the people to use with the option subjects (which changes the split hash)."
        )
    return tuple(sorted(found))


def other_people(groups: Iterable[str], examples: pd.DataFrame) -> Split:
    """Cut examples into folds whose test people are in no training part.

    Raises
    ------
    InputError
        When the available people leave nobody to train on.
    """
    lists: dict[str, list[str]] = {}
    for group in groups:
        for name, people in folds(group).items():
            lists.setdefault(name, []).extend(people)
    return published_folds(examples, lists, name=SPLIT)
