"""Split rules by name: what ``leave-one-run-out`` and ``blocked-5-folds`` mean for one's own recordings."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from neuroarena.benchmarks.own.definition import Definition, ListedSplit
from neuroarena.benchmarks.own.pieces import as_text
from neuroarena.benchmarks.split_rules import (
    blocked_folds,
    later_sessions,
    leave_one_out,
    published_folds,
    published_parts,
)
from neuroarena.benchmarks.splits import Split
from neuroarena.benchmarks.time_blocks import blocks_in_time
from neuroarena.errors import InputError

SplitRule = Callable[[pd.DataFrame], Split]
# What a person's data are divided into, from the largest to the smallest: the same number in two of the larger ones
# means two different things.
LEVELS = ("subject", "session", "run", "block")
EXPECTED = (
    "leave-one-subject-out, leave-one-session-out, leave-one-run-out (or any other column), blocked-5-folds, "
    "later-sessions"
)
_LEAVE_OUT = re.compile(r"leave-one-(?P<column>.+?)-out(-within-(?P<within>.+))?")
_BLOCKED = re.compile(r"blocked-(?P<count>\d+)-folds")


def split_rules(definition: Definition, where: str) -> dict[str, SplitRule]:
    """Return the rules of a definition's splits by name.

    Raises
    ------
    InputError
        For a name that is not a rule.
    """
    asked = definition.split
    if isinstance(asked, Mapping):
        return {
            name: functools.partial(_cut_by_lists, lists=lists, name=name) for name, lists in asked.items()
        }
    names = (asked,) if isinstance(asked, str) else asked
    if not names:
        raise InputError(f'{where}: the key "split" is empty. Expected {EXPECTED}, or lists.')
    return {name: find_rule(name, where) for name in names}


def find_rule(name: str, where: str) -> SplitRule:
    """Return the rule that a name stands for.

    ``leave-one-X-out`` holds out one subject, or one session, run, block or recording of a person after training on
    the person's others; any other column is held out of all people at once. ``-within-Y`` says otherwise.

    Raises
    ------
    InputError
        For a name that is not a rule.
    """
    if name == "later-sessions":
        return later_sessions
    blocked, left_out = _BLOCKED.fullmatch(name), _LEAVE_OUT.fullmatch(name)
    if blocked is not None:
        return functools.partial(_cut_in_time, n_folds=int(blocked["count"]), name=name)
    if left_out is not None:
        return functools.partial(_leave_out, column=left_out["column"], within=left_out["within"], name=name)
    raise InputError(f'{where}: the split "{name}" is unknown. Expected {EXPECTED}, or lists.')


def nested_values(table: pd.DataFrame, column: str) -> pd.Series:
    """Return the values of a column, with those of the larger levels in front where one person has several.

    Examples
    --------
    >>> runs = pd.DataFrame({"subject": ["a", "a"], "session": ["1", "2"], "run": ["1", "1"]})
    >>> nested_values(runs, "run").tolist()
    ['1/1', '2/1']
    """
    values = as_text(table[column])
    if column not in LEVELS:
        return values
    for level in reversed(LEVELS[1 : LEVELS.index(column)]):
        if level in table and (table.groupby("subject")[level].nunique() > 1).any():
            values = as_text(table[level]) + "/" + values
    return values


def _leave_out(examples: pd.DataFrame, column: str, within: str | None, name: str) -> Split:
    for each in (column, within):
        if each is not None and each not in examples:
            raise InputError(
                f'The split "{name}" needs a column "{each}", which the events do not have; there are: '
                f"{', '.join(map(str, examples.columns))}."
            )
    if within is None and column in (*LEVELS[1:], "recording"):
        within = "subject"
    held_out = nested_values(examples, column)
    if held_out.isna().any():
        raise InputError(
            f'The split "{name}" needs a value of "{column}" for every event; {int(held_out.isna().sum())} of '
            f"{len(held_out)} have none."
        )
    owners = examples[within] if within else pd.Series("", index=examples.index)
    if (held_out.groupby(owners).nunique() < 2).all():
        of = f" of one {within}" if within else ""
        told = (
            'Who is who comes from BIDS, from a column (subject = "...") or from names = "S{subject}R{run}"; '
            if column == "subject"
            else ""
        )
        raise InputError(
            f'The split "{name}" needs two values of "{column}"{of} or more; these data have only '
            f"{', '.join(sorted(held_out.unique())[:3])}. {told}blocked-5-folds cuts each recording in time."
        )
    return leave_one_out(examples.assign(**{column: held_out}), column, within=within, name=name)


def _cut_in_time(examples: pd.DataFrame, n_folds: int, name: str) -> Split:
    cut = functools.partial(blocks_in_time, validation=False)
    return blocked_folds(examples, n_folds, by="recording", cut=cut, name=name)


def _cut_by_lists(examples: pd.DataFrame, lists: ListedSplit, name: str) -> Split:
    """Cut by lists of values of a column; a value that is in no example is refused."""
    if lists.column not in examples:
        raise InputError(
            f'The split "{name}" lists values of "{lists.column}", which the events do not have; there are: '
            f"{', '.join(map(str, examples.columns))}."
        )
    values = as_text(examples[lists.column])
    there = set(values)
    listed = [
        *lists.train,
        *lists.validation,
        *lists.test,
        *(each for own in lists.folds.values() for each in own),
    ]
    absent = [each for each in listed if each not in there]
    if absent:
        raise InputError(
            f'The split "{name}" lists "{absent[0]}", which is no {lists.column} of these data; there are: '
            f"{', '.join(sorted(there)[:8])}{', ...' if len(there) > 8 else ''}."
        )
    table = examples.assign(**{lists.column: values})
    if lists.folds:
        return replace(
            published_folds(table, lists.folds, column=lists.column, name=name), apart=_apart(lists)
        )
    train = lists.train or tuple(there - {*lists.test, *lists.validation})
    parts = [_ids_of(table, lists.column, part) for part in (train, lists.test, lists.validation)]
    return replace(published_parts(table, *parts, name=name), apart=_apart(lists))


def _apart(lists: ListedSplit) -> tuple[str, ...]:
    """Return what lists promise: no value of their column, nor of others that they name, on both sides."""
    return tuple(dict.fromkeys([*([] if lists.column == "id" else [lists.column]), *lists.apart]))


def _ids_of(table: pd.DataFrame, column: str, values: Sequence[str]) -> list[str]:
    return sorted(table.loc[table[column].isin(list(values)), "id"])
