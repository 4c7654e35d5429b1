"""The usual ways to divide examples into folds: one held out at a time, blocks, later sessions, published lists.

A rule is a function of a table of examples (`id` and the columns it divides by) that returns a
:class:`~neuroarena.benchmarks.splits.Split`. None depends on the order of the rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import pandas as pd

from neuroarena.benchmarks.splits import Fold, Split
from neuroarena.errors import InputError

Ids = tuple[str, ...]
# (items of one group, number of folds, how messages name it) -> train, validation and test ids of each fold.
Cut = Callable[[pd.DataFrame, int, str], Iterable[tuple[Ids, Ids, Ids]]]


def fold_of(
    name: str,
    examples: pd.DataFrame,
    train: pd.Series,
    test: pd.Series,
    validation: pd.Series | None = None,
) -> Fold:
    """Make a fold from rows that are marked, in the order of the rows.

    Parameters
    ----------
    name : str
    examples : DataFrame
    train, test, validation : bool Series
        One entry for each row of `examples`.
    """
    chosen = () if validation is None else tuple(examples.loc[validation, "id"])
    return Fold(name, tuple(examples.loc[train, "id"]), tuple(examples.loc[test, "id"]), chosen)


def leave_one_out(
    examples: pd.DataFrame, column: str, *, within: str | None = None, name: str | None = None
) -> Split:
    """Judge each subject, session, run or block after training on the others.

    Parameters
    ----------
    examples : DataFrame
    column : str
        What is held out: "subject", "session", "run", "block", ...
    within : str, optional
        Learn only from rows with the same value of this column, such as "subject". A value with nothing to learn
        from beside it has no fold.
    name : str, optional
        Of the split; by default ``leave-one-<column>-out``.

    Examples
    --------
    >>> table = pd.DataFrame({"id": ["a", "b", "c"], "subject": ["1", "2", "2"], "session": ["1", "1", "2"]})
    >>> [fold.name for fold in leave_one_out(table, "subject").folds]
    ['1', '2']
    >>> [fold.name for fold in leave_one_out(table, "session", within="subject").folds]
    ['2/1', '2/2']
    """
    folds = []
    for group, own in _groups(examples, within):
        values = sorted(own[column].unique())
        for value in values if len(values) > 1 else []:
            judged = own[column] == value
            folds.append(fold_of(f"{group}/{value}" if within else str(value), own, ~judged, judged))
    crosses = () if within is None else (within,)
    return Split(name or f"leave-one-{column}-out", tuple(folds), apart=(column,), crosses=crosses)


def later_sessions(examples: pd.DataFrame, *, name: str = "later-sessions") -> Split:
    """Train on the first half of each person's sessions, rounded down, and judge the later ones.

    Parameters
    ----------
    examples : DataFrame
        With id, subject and session.
    name : str

    Returns
    -------
    Split
        A fold for each person with two sessions or more.
    """
    folds = []
    for subject, own in _groups(examples, "subject"):
        sessions = sorted(own["session"].unique(), key=natural_order)
        if len(sessions) > 1:
            first = own["session"].isin(sessions[: len(sessions) // 2])
            folds.append(fold_of(subject, own, first, ~first))
    return Split(name, tuple(folds), apart=("session",), crosses=("subject",))


def natural_order(text: str) -> list[tuple[int, int, str]]:
    """Return what names are sorted by: whole numbers as numbers, so that 10 comes after 2.

    Examples
    --------
    >>> sorted(["10", "2", "1"], key=natural_order)
    ['1', '2', '10']
    """
    parts = re.findall(r"\d+|\D+", text)
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]


def blocked_folds(
    examples: pd.DataFrame, n_folds: int, *, by: str = "session", cut: Cut | None = None, name: str
) -> Split:
    """Cut every session into consecutive blocks; each block is held out once.

    Parameters
    ----------
    examples : DataFrame
    n_folds : int
        Blocks per session, 2 or more.
    by : str
        The column whose values are cut by themselves.
    cut : callable, optional
        How one session is cut: by default :func:`cut_list`, in the order of ids, without a validation part;
        :func:`neuroarena.benchmarks.time_blocks.blocks_in_time` cuts in time.
    name : str
        Of the split.

    Raises
    ------
    InputError
        For fewer than 2 folds, or more than a session has items for.
    """
    cut = cut or cut_list(validation=False)
    folds = []
    for group, items in _groups(examples, by):
        if not 2 <= n_folds <= len(items) // 2:
            raise InputError(
                f"{name}: {n_folds} folds of {group}, which has {len(items)} items; "
                "expected at least 2 folds, of at least 2 items each."
            )
        folds += [
            Fold(f"{group}/{number}", train, test, chosen)
            for number, (train, chosen, test) in enumerate(cut(items, n_folds, group))
        ]
    return Split(name, tuple(folds), crosses=("subject", "session"))


def cut_list(*, validation: bool) -> Cut:
    """Make the cut into consecutive blocks of the item list; the first half of a block may be for validation."""

    def blocks(items: pd.DataFrame, n_folds: int, where: str) -> Iterator[tuple[Ids, Ids, Ids]]:  # noqa: ARG001
        ids = tuple(items["id"])
        size, larger = divmod(len(ids), n_folds)
        stop = 0
        for number in range(n_folds):
            start, stop = stop, stop + size + (number < larger)
            middle = start + (stop - start) // 2 if validation else start
            yield ids[:start] + ids[stop:], ids[start:middle], ids[middle:stop]

    return blocks


def published_folds(
    examples: pd.DataFrame, lists: Mapping[str, Collection[str]], *, column: str = "subject", name: str
) -> Split:
    """Judge each of several published groups of people after training on the other groups.

    Parameters
    ----------
    examples : DataFrame
    lists : mapping of str to collection of str
        Fold to the people it judges. Whoever is in no list takes no part; a fold without anybody present is left out.
    column : str
        What the lists name.
    name : str
        Of the split.
    """
    ids = {str(value): tuple(sorted(part["id"])) for value, part in examples.groupby(column)}
    judged = {
        fold: tuple(sorted(example for value in values for example in ids.get(value, ())))
        for fold, values in lists.items()
    }
    everyone = {example for test in judged.values() for example in test}
    folds = [Fold(fold, tuple(sorted(everyone - set(test))), test) for fold, test in judged.items() if test]
    return Split(name, tuple(folds), apart=(column,))


def published_parts(
    examples: pd.DataFrame,
    train: Sequence[str],
    test: Sequence[str],
    validation: Sequence[str] = (),
    *,
    name: str,
) -> Split:
    """Cut one fold by published lists of ids, in their order; ids that are not present are skipped."""
    there = set(examples["id"])
    parts = [tuple(each for each in part if each in there) for part in (train, test, validation)]
    return Split(name, (Fold(name, *parts),))


def _groups(examples: pd.DataFrame, column: str | None) -> Iterator[tuple[str, pd.DataFrame]]:
    """Iterate over the values of a column, with their rows in the order of ids."""
    ordered = examples.sort_values("id")
    if column is None:
        yield "", ordered
        return
    for value, own in ordered.groupby(column, sort=True):
        yield str(value), own
