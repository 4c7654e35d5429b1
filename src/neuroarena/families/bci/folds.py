"""The folds of the BCI track: later sessions, other recordings, other people."""

from __future__ import annotations

import re

import pandas as pd

from neuroarena.benchmarks.splits import Fold, Split


def _ids(rows: pd.DataFrame) -> tuple[str, ...]:
    return tuple(sorted(rows["id"]))


def session_order(session: str) -> list[tuple[int, int, str]]:
    """Give what sessions are sorted by: whole numbers as numbers, so that 10 comes after 2.

    Examples
    --------
    >>> sorted(["10", "2", "1"], key=session_order)
    ['1', '2', '10']
    """
    parts = re.findall(r"\d+|\D+", session)
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]


def later_sessions(examples: pd.DataFrame) -> Split:
    """Train on the first half of each person's sessions, rounded down, and judge the later ones.

    Parameters
    ----------
    examples : DataFrame
        With id, subject and session; the order of rows does not matter.

    Returns
    -------
    Split
        A fold for each person with two sessions or more.
    """
    folds = []
    for subject, own in examples.groupby("subject", sort=True):
        sessions = sorted(own["session"].unique(), key=session_order)
        if len(sessions) > 1:
            earlier = set(sessions[: len(sessions) // 2])
            first = own["session"].isin(earlier)
            folds.append(Fold(str(subject), train=_ids(own[first]), test=_ids(own[~first])))
    return Split("later-sessions", tuple(folds))


def cross_session(examples: pd.DataFrame) -> Split:
    """Judge each session with what the same person's other sessions teach.

    Returns
    -------
    Split
        A fold for each session of each person with two sessions or more.
    """
    folds = []
    for subject, own in examples.groupby("subject", sort=True):
        sessions = sorted(own["session"].unique())
        for session in sessions if len(sessions) > 1 else []:
            judged = own["session"] == session
            folds.append(Fold(f"{subject}/{session}", train=_ids(own[~judged]), test=_ids(own[judged])))
    return Split("cross-session", tuple(folds))


def leave_one_subject_out(examples: pd.DataFrame) -> Split:
    """Judge each person with what all others teach: a fold for each person."""
    subjects = sorted(examples["subject"].unique())
    folds = []
    for subject in subjects if len(subjects) > 1 else []:
        judged = examples["subject"] == subject
        folds.append(Fold(str(subject), train=_ids(examples[~judged]), test=_ids(examples[judged])))
    return Split("leave-one-subject-out", tuple(folds))
