"""The published folds of Neuroprobe: within a session, across sessions, across subjects."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from neuroarena.benchmarks.splits import Fold, Split
from neuroarena.errors import InputError

# Cross-subject decoders are trained on this one session.
CROSS_SUBJECT_TRAINING = "btbank2_4"


def _sessions(examples: pd.DataFrame) -> dict[str, list[str]]:
    """Item ids of each session in item order; ids end in the item number, so sorting restores it."""
    return {str(key): sorted(group["id"]) for key, group in examples.groupby("session", sort=True)}


def _halves(ids: list[str], validation: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Cut a test block into its validation part (the first half) and what is judged."""
    cut = len(ids) // 2 if validation else 0
    return tuple(ids[:cut]), tuple(ids[cut:])


def within_session(examples: pd.DataFrame, *, n_folds: int = 2, validation: bool = True) -> Split:
    """Cut every session into consecutive blocks of its item list; each block is held out once.

    The blocks are consecutive in each class, not in time, as published: windows on both sides of
    a cut can share samples.
    """
    folds = []
    for session, ids in _sessions(examples).items():
        size, larger = divmod(len(ids), n_folds)
        stop = 0
        for number in range(n_folds):
            start, stop = stop, stop + size + (number < larger)
            chosen, judged = _halves(ids[start:stop], validation)
            folds.append(Fold(f"{session}/{number}", tuple(ids[:start] + ids[stop:]), judged, chosen))
    return Split("within-session", tuple(folds))


def cross_session(examples: pd.DataFrame, *, validation: bool = True) -> Split:
    """Judge every session with a decoder trained on the other session of the same subject."""
    sessions = _sessions(examples)
    subject_of = examples.drop_duplicates("session").set_index("session")["subject"].astype(str).to_dict()
    folds = []
    for session, ids in sessions.items():
        others = [
            other for other in sessions if subject_of[other] == subject_of[session] and other != session
        ]
        if len(others) != 1:
            raise InputError(
                f"cross-session: subject {subject_of[session]} has {len(others) + 1} sessions in these data "
                f"({', '.join(sorted([session, *others]))}); exactly two are needed."
            )
        chosen, judged = _halves(ids, validation)
        folds.append(Fold(session, tuple(sessions[others[0]]), judged, chosen))
    return Split("cross-session", tuple(folds))


def cross_subject(examples: pd.DataFrame, *, validation: bool = True) -> Split:
    """Judge every session of the other subjects with a decoder trained on one session of subject 2."""
    sessions = _sessions(examples)
    if CROSS_SUBJECT_TRAINING not in sessions:
        raise InputError(
            f"cross-subject: the training session {CROSS_SUBJECT_TRAINING} is not in these data."
        )
    subject_of = examples.drop_duplicates("session").set_index("session")["subject"].astype(str).to_dict()
    trained = subject_of[CROSS_SUBJECT_TRAINING]
    folds = []
    for session, ids in sessions.items():
        if subject_of[session] == trained:
            continue
        chosen, judged = _halves(ids, validation)
        folds.append(Fold(session, tuple(sessions[CROSS_SUBJECT_TRAINING]), judged, chosen))
    return Split("cross-subject", tuple(folds))


SPLIT_RULES: dict[str, Callable[..., Split]] = {
    "within-session": within_session,
    "cross-session": cross_session,
    "cross-subject": cross_subject,
}
