"""Folds cut in time: one cut for all classes, an embargo around it, no sample in two parts."""

from __future__ import annotations

import numpy as np
import pandas as pd

from neuroarena.errors import InputError

Ids = tuple[str, ...]


def blocks_in_time(
    session: pd.DataFrame,
    n_folds: int,
    where: str = "the session",
    *,
    least: int = 0,
    validation: bool = True,
) -> list[tuple[Ids, Ids, Ids]]:
    """Cut a session into consecutive stretches of time; each is held out once.

    The stretches hold equally many items, of whichever class. The earlier half of a held-out stretch is
    for validation, the later is judged (:func:`halves_in_time`). Training items near the stretch, and
    validation items near the judged ones, are left out: an item before a cut and one after it
    lie two windows apart from start to start, so that a whole window lies between their samples.

    Parameters
    ----------
    session : DataFrame
        ``id, start, stop, target`` of the items of one session.
    n_folds : int
        At least 2.
    where : str
        How messages name the session.
    least : int
        Samples that a shorter window counts as; see :func:`spacing`.
    validation : bool
        Whether the earlier half of a held-out stretch is for validation; otherwise all of it is judged.

    Returns
    -------
    list of (train, validation, test)
        Ids, in time order.

    Raises
    ------
    InputError
        When a part would lack a class.
    """
    ordered = _sort_by_time(session)
    starts, space = ordered["start"].to_numpy(), spacing(ordered, least)
    # Of measured numbers no part can have them all.
    numbers = not validation and pd.api.types.is_float_dtype(ordered["target"])
    classes = set() if numbers else set(ordered["target"])
    sizes = [len(part) for part in np.array_split(np.arange(len(ordered)), n_folds)]
    folds = []
    last = 0
    for number, size in enumerate(sizes):
        first, last = last, last + size
        held_out = ordered.iloc[first:last]
        before = (np.arange(len(ordered)) < first) & (starts <= starts[first] - space)
        after = (np.arange(len(ordered)) >= last) & (starts >= starts[last - 1] + space)
        train = ordered[before | after]
        fold = f"{where}, fold {number}"
        _check_classes(train, classes, fold, "training")
        _check_classes(held_out, classes, fold, "held-out")
        chosen: Ids = ()
        judged: Ids = tuple(held_out["id"])
        if validation:
            chosen, judged = halves_in_time(held_out, fold, least=least)
        folds.append((tuple(train["id"]), chosen, judged))
    return folds


def halves_in_time(session: pd.DataFrame, where: str = "the session", *, least: int = 0) -> tuple[Ids, Ids]:
    """Cut a stretch of time in two: the earlier part for validation, the later one to be judged.

    The cut lies where the rarest class is best represented on both sides, and of such places nearest to
    the middle item; where the classes are equally many it is the middle. On real annotations a plain
    middle can leave a class out: of the speech items of btbank4_0, 350 in a row are silences.

    Raises
    ------
    InputError
        When no cut leaves every class on both sides.
    """
    ordered = _sort_by_time(session)
    starts = ordered["start"].to_numpy()
    classes = sorted(set(ordered["target"]), key=str)
    member = np.stack([(ordered["target"] == label).to_numpy() for label in classes])
    until = np.concatenate([np.zeros((len(classes), 1), dtype=int), member.cumsum(axis=1)], axis=1)
    # For every item as the first of the later part: how many items may stay in the earlier part.
    kept = np.searchsorted(starts, starts - spacing(ordered, least), side="right")
    rarest = np.minimum(until[:, kept], until[:, -1:] - until[:, :-1]).min(axis=0)
    if rarest.max() == 0:
        raise InputError(
            f"{where}: no cut in time leaves examples of every class on both sides. The session is too short, or a "
            "class is confined to one stretch of it; ask for fewer folds or for a published definition."
        )
    best = np.flatnonzero(rarest == rarest.max())
    cut = int(best[np.argmin(np.abs(best - len(ordered) // 2))])
    return tuple(ordered["id"][: kept[cut]]), tuple(ordered["id"][cut:])


def spacing(session: pd.DataFrame, least: int = 0) -> int:
    """Return the samples that must lie between the starts of two items in different parts.

    Two windows: the earlier one and the embargo. A window shorter than `least` samples counts as this many, so
    that the folds of a time course's bins can be those of the whole window.
    """
    longest = int((session["stop"] - session["start"]).max())
    return 2 * max(longest, least)


def _sort_by_time(session: pd.DataFrame) -> pd.DataFrame:
    return session.sort_values(["start", "id"], ignore_index=True)


def _check_classes(part: pd.DataFrame, classes: set[object], where: str, name: str) -> None:
    absent = sorted(classes - set(part["target"]), key=str)
    if absent:
        raise InputError(
            f"{where}: cut in time, the {name} part has no example of class {absent[0]}. The session is too short, "
            "or the class is confined to one stretch of it; ask for fewer folds or for a published definition."
        )
