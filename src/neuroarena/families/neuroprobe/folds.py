"""The folds of Neuroprobe: within a session, across sessions, across subjects."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Literal

import pandas as pd

from neuroarena.benchmarks.split_rules import blocked_folds, cut_list
from neuroarena.benchmarks.splits import Fold, Split
from neuroarena.benchmarks.time_blocks import blocks_in_time, halves_in_time
from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.sessions import training_sessions
from neuroarena.families.neuroprobe.windows import WINDOW_SAMPLES

# Cross-subject decoders are trained on this one session.
CROSS_SUBJECT_TRAINING = "btbank2_4"

SPLITS = ("within-session", "cross-session", "cross-subject")

SplitRule = Callable[[pd.DataFrame], Split]
TrainingRule = Callable[[str, Sequence[str]], tuple[str, ...]]


def _sessions(examples: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the items of each session in item order; ids end in the item number, so sorting restores it."""
    return {str(key): group.sort_values("id") for key, group in examples.groupby("session", sort=True)}


def _ids(session: pd.DataFrame) -> tuple[str, ...]:
    return tuple(session["id"])


def _halves(
    session: pd.DataFrame, validation: bool, in_time: bool, where: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Cut a test block into its validation part (the first half) and what is judged."""
    if in_time:
        return halves_in_time(session, where, least=WINDOW_SAMPLES)
    ids = _ids(session)
    cut = len(ids) // 2 if validation else 0
    return ids[:cut], ids[cut:]


def within_session(
    examples: pd.DataFrame,
    *,
    n_folds: int = 2,
    validation: bool = True,
    in_time: bool = False,
    judged: Collection[str] | None = None,
) -> Split:
    """Cut every session into consecutive blocks of its item list; each block is held out once.

    As published, the blocks are consecutive in each class, not in time: windows on both sides of a
    cut can share samples. With `in_time` they are cut as described in :mod:`neuroarena.benchmarks.time_blocks`.

    Parameters
    ----------
    examples : DataFrame
    n_folds : int
        Blocks per session, 2 or more.
    validation : bool
        Whether the first half of each block is for validation; otherwise the whole block is judged.
    in_time : bool
        Cut in time, with an embargo; there is always a validation part then.
    judged : collection of str, optional
        The sessions that are judged; by default all.

    Raises
    ------
    InputError
        For fewer than 2 folds, or more than a session has items for.
    """
    if judged is not None:
        examples = examples[examples["session"].isin(judged)]
    cut = (
        functools.partial(blocks_in_time, least=WINDOW_SAMPLES)
        if in_time
        else cut_list(validation=validation)
    )
    split = blocked_folds(examples, n_folds, cut=cut, name="within-session")
    # The published cut leaves no gap, and windows that lie on both sides of it overlap.
    return split if in_time else replace(split, crosses=(*split.crosses, "sample"))


def other_session(session: str, present: Sequence[str]) -> tuple[str, ...]:
    """Train on the other session of the same subject; there must be exactly one.

    Parameters
    ----------
    session : str
        The session that is judged.
    present : sequence of str
        All sessions of its subject in the data.
    """
    others = tuple(each for each in present if each != session)
    if len(others) != 1:
        raise InputError(
            f"the subject of {session} has {len(others) + 1} sessions in these data "
            f"({', '.join(sorted(present))}); exactly two are needed"
        )
    return others


def longest_sessions(train_on: Literal["longest", "all"] = "longest") -> TrainingRule:
    """Make the rule of the full subset: train on the table of :func:`.sessions.training_sessions`."""

    def rule(session: str, present: Sequence[str]) -> tuple[str, ...]:
        chosen = training_sessions(session, train_on)
        absent = [each for each in chosen if each not in present]
        if absent:
            raise InputError(f"{session}: its training session {absent[0]} is not in these data")
        return chosen

    return rule


def cross_session(
    examples: pd.DataFrame,
    *,
    validation: bool = True,
    in_time: bool = False,
    judged: Collection[str] | None = None,
    training: TrainingRule = other_session,
    max_samples: int | None = None,
) -> Split:
    """Judge every session with a decoder trained on other sessions of the same subject.

    Parameters
    ----------
    examples : DataFrame
    validation, in_time : bool
        How the judged session is cut, as in :func:`within_session`.
    judged : collection of str, optional
        The sessions that are judged; by default all.
    training : callable
        ``(session, sessions of the subject) -> sessions to train on``.
    max_samples : int, optional
        Divided evenly between several training sessions, of which the first items are kept.

    Raises
    ------
    InputError
        When a judged session has no training session; the message names all of them.
    """
    sessions = _sessions(examples)
    subject_of = _subjects(examples)
    folds, problems = [], []
    for session, items in sessions.items():
        if judged is not None and session not in judged:
            continue
        present = [other for other in sessions if subject_of[other] == subject_of[session]]
        try:
            chosen = training(session, present)
        except InputError as error:
            problems.append(str(error))
            continue
        train = [_share(sessions[other], max_samples, len(chosen)) for other in chosen]
        before, test = _halves(items, validation, in_time, session)
        folds.append(Fold(session, tuple(each for ids in train for each in ids), test, before))
    if problems:
        raise InputError(
            f"cross-session: {'; '.join(dict.fromkeys(problems))}. Leave such sessions out by naming the others "
            "(sessions, or judged to keep them for training); nothing is left out silently."
        )
    return Split("cross-session", tuple(folds))


def _share(session: pd.DataFrame, max_samples: int | None, n_sessions: int) -> tuple[str, ...]:
    """Return the training items of one of several sessions: the earliest ones, the same number of each class."""
    if max_samples is None or n_sessions == 1:
        return _ids(session)
    classes = session["target"].nunique()
    kept = classes * (max_samples // n_sessions // classes)
    if not kept:
        raise InputError(
            f"max_samples is {max_samples}, too few for {n_sessions} training sessions and {classes} classes."
        )
    return _ids(session)[:kept]


def cross_subject(
    examples: pd.DataFrame,
    *,
    validation: bool = True,
    in_time: bool = False,
    judged: Collection[str] | None = None,
) -> Split:
    """Judge every session of the other subjects with a decoder trained on one session of subject 2.

    Parameters
    ----------
    examples : DataFrame
    validation, in_time : bool
        How the judged session is cut, as in :func:`within_session`.
    judged : collection of str, optional
        The sessions that are judged; by default all but those of the training subject.

    Raises
    ------
    InputError
        When the training session is absent, or a session of its subject is to be judged.
    """
    sessions = _sessions(examples)
    if CROSS_SUBJECT_TRAINING not in sessions:
        raise InputError(
            f"cross-subject: the training session {CROSS_SUBJECT_TRAINING} is not in these data."
        )
    subject_of = _subjects(examples)
    trained = subject_of[CROSS_SUBJECT_TRAINING]
    own = sorted(session for session in judged or () if subject_of.get(session) == trained)
    if own:
        raise InputError(
            f"cross-subject: {own[0]} cannot be judged; decoders are trained on {CROSS_SUBJECT_TRAINING}, "
            "a session of the same subject."
        )
    folds = []
    for session, items in sessions.items():
        if subject_of[session] == trained or (judged is not None and session not in judged):
            continue
        before, test = _halves(items, validation, in_time, session)
        folds.append(Fold(session, _ids(sessions[CROSS_SUBJECT_TRAINING]), test, before))
    return Split("cross-subject", tuple(folds))


def _subjects(examples: pd.DataFrame) -> dict[str, str]:
    return dict(examples.drop_duplicates("session").set_index("session")["subject"].astype(str))


def each_electrode(rule: SplitRule) -> SplitRule:
    """Cut the examples of every electrode separately; folds are named ``<fold>/<electrode>``."""

    def split(examples: pd.DataFrame) -> Split:
        electrodes = examples["recording"].str.partition("/")[2]
        parts = [(label, rule(group)) for label, group in examples.groupby(electrodes, sort=True)]
        folds = tuple(
            Fold(f"{fold.name}/{label}", fold.train, fold.test, fold.validation)
            for label, part in parts
            for fold in part.folds
        )
        return replace(parts[0][1], folds=folds)

    return split


def refuse_cross_subject(examples: pd.DataFrame) -> Split:  # noqa: ARG001 - a split rule
    """Refuse the split: two people have no electrode in common."""
    raise InputError(
        "cross-subject: not defined for single electrodes, because no two people share one; "
        "use within-session or cross-session, or the level population."
    )


def refuse_cross_session(examples: pd.DataFrame) -> Split:  # noqa: ARG001 - a split rule
    """Refuse the split: the nano subset has one session per subject."""
    raise InputError(
        "cross-session: not defined for the subset nano, which has one session per subject; use lite or full."
    )
