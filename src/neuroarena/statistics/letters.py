"""What is read off the verdicts: letters that teams share, and the range of ranks of each team."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from neuroarena.errors import InputError
from neuroarena.statistics.verdicts import BETTER

LETTERS = string.ascii_lowercase + string.ascii_uppercase
MOST_TEAMS = 300
MANY_ROWS = 10_000
# A board with letters has 52 groups at most. One that passes this on the way has none; going on to 4,096 groups cost
# a board of 200 teams five seconds, because each group is held against every other.
_MOST_GROUPS = 512


def insert_and_absorb(n_teams: int, apart: Iterable[tuple[int, int]]) -> list[list[int]] | None:
    """Return the groups of teams that share a letter, by insert and absorb (Piepho 2004).

    One group holds all teams at first. Each pair that is apart splits every group that holds both into
    one without the first and one without the second; a group inside another is dropped. Two teams end in
    a common group exactly when they are not apart.

    Parameters
    ----------
    n_teams
        Teams are numbered from 0, best first.
    apart
        Pairs of teams that are told apart.

    Returns
    -------
    list of list of int, or None
        Ordered by best member, then the next; None where there are too many to be read.

    Examples
    --------
    >>> insert_and_absorb(4, [(0, 2), (0, 3), (1, 3)])
    [[0, 1], [1, 2], [2, 3]]
    """
    rivals = [0] * n_teams  # a set of teams is a number, one bit per team
    for first, second in apart:
        rivals[min(first, second)] |= 1 << max(first, second)
    groups = [(1 << n_teams) - 1]
    for team, beaten in enumerate(rivals):
        # All pairs of one team at once: its splits one by one leave the same two parts of each group.
        split = [group for group in groups if group >> team & 1 and group & beaten]
        kept = [group for group in groups if not (group >> team & 1 and group & beaten)]
        parts = dict.fromkeys(part for group in split for part in (group & ~(1 << team), group & ~beaten))
        groups = kept + [
            part
            for part in parts
            if not any(part & ~group == 0 for group in kept)
            and not any(part & ~other == 0 for other in parts if other != part)
        ]
        if len(groups) > _MOST_GROUPS:
            return None
    return sorted([at for at in range(n_teams) if group >> at & 1] for group in groups if group)


def letter_groups(rows: pd.DataFrame, teams: Sequence[Any] | None = None) -> list[list[Any]] | None:
    """Return the groups of teams of which none is better than another, best first.

    Parameters
    ----------
    rows
        From `verdicts` or `judge`.
    teams
        All teams, best first; read from the rows unless given, which a board of one team needs.

    Returns
    -------
    list of list, or None
        None above 300 teams or 52 groups: there rank ranges say more than letters.

    Examples
    --------
    >>> from neuroarena.statistics.verdicts import verdicts
    >>> rows = verdicts({"a": [3, 4, 5, 4, 3, 5], "b": [3, 4, 5, 3, 4, 5], "c": [0, 1, 0, 1, 0, 1]})
    >>> letter_groups(rows)
    [['a', 'b'], ['c']]
    """
    names = team_order(rows) if teams is None else list(teams)
    if len(names) > MOST_TEAMS:
        return None
    place = {team: at for at, team in enumerate(names)}
    # Column by column: choosing rows of a table costs a millisecond, for every ranking.
    decided = rows["verdict"].to_numpy(dtype=object) == BETTER
    sides = (rows[side].to_numpy(dtype=object)[decided].tolist() for side in ("a", "c"))
    apart = [(place[a], place[c]) for a, c in zip(*sides, strict=True)]
    groups = insert_and_absorb(len(names), apart)
    if groups is None or len(groups) > len(LETTERS):
        return None
    return [[names[at] for at in group] for group in groups]


def letters(rows: pd.DataFrame, teams: Sequence[Any] | None = None) -> pd.Series:
    """Return the letters of each team; two teams share one exactly when neither is better.

    Parameters
    ----------
    rows, teams
        As in `letter_groups`.

    Returns
    -------
    pandas.Series
        Such as "ab", indexed by team, best first; empty texts above 300 teams or 52 groups.

    Examples
    --------
    >>> from neuroarena.statistics.verdicts import verdicts
    >>> rows = verdicts({"a": [3, 4, 5, 4, 3, 5], "b": [3, 4, 5, 3, 4, 5], "c": [0, 1, 0, 1, 0, 1]})
    >>> letters(rows).to_dict()
    {'a': 'a', 'b': 'a', 'c': 'b'}
    """
    names = team_order(rows) if teams is None else list(teams)
    groups = letter_groups(rows, names) or []
    shared = dict.fromkeys(names, "")
    for letter, group in zip(LETTERS, groups, strict=False):
        for team in group:
            shared[team] += letter
    return pd.Series(shared, index=pd.Index(names, name="team"), name="letters", dtype=object)


def rank_ranges(rows: pd.DataFrame, teams: Sequence[Any] | None = None) -> pd.DataFrame:
    """Return the ranks that each team can have: below all that are better, above all it is better than.

    All ranges hold at once with the probability at which no verdict of the family is false.

    Parameters
    ----------
    rows, teams
        As in `letter_groups`.

    Returns
    -------
    pandas.DataFrame
        `rank_low`, `rank_high`, indexed by team, best first.

    Examples
    --------
    >>> from neuroarena.statistics.verdicts import verdicts
    >>> rows = verdicts({"a": [3, 4, 5, 4, 3, 5], "b": [3, 4, 5, 3, 4, 5], "c": [0, 1, 0, 1, 0, 1]})
    >>> rank_ranges(rows).to_dict("index")["b"]
    {'rank_low': 1, 'rank_high': 2}
    """
    names = team_order(rows) if teams is None else list(teams)
    won, lost = count_verdicts(rows, names)
    return pd.DataFrame({"rank_low": 1 + lost, "rank_high": len(names) - won})


def count_verdicts(rows: pd.DataFrame, teams: Sequence[Any]) -> tuple[pd.Series, pd.Series]:
    """Return for each team how many it is better than, and how many are better than it.

    Examples
    --------
    >>> from neuroarena.statistics.verdicts import verdicts
    >>> rows = verdicts({"a": [3, 4, 5, 4, 3, 5], "c": [0, 1, 0, 1, 0, 1]})
    >>> [counts.to_dict() for counts in count_verdicts(rows, ["a", "c"])]
    [{'a': 1, 'c': 0}, {'a': 0, 'c': 1}]
    """
    decided = (rows["verdict"] == BETTER).to_numpy(dtype=bool)
    index = pd.Index(teams, name="team")
    if len(rows) > MANY_ROWS:
        counts = [Counter(rows.loc[decided, side].value_counts().to_dict()) for side in ("a", "c")]
    else:  # in plain Python: pandas would take a few milliseconds for each of many small boards
        counts = [Counter(rows[side].to_numpy(dtype=object)[decided].tolist()) for side in ("a", "c")]
    won, lost = (pd.Series([count[team] for team in teams], index=index, dtype="int64") for count in counts)
    return won, lost


def team_order(rows: pd.DataFrame) -> list[Any]:
    """Return the teams of complete rows, best first.

    Raises
    ------
    InputError
        When the rows do not hold every pair once, in rank order.

    Examples
    --------
    >>> team_order(pd.DataFrame({"a": ["x", "x", "y"], "c": ["y", "z", "z"]}))
    ['x', 'y', 'z']
    """
    leader = rows["a"].iloc[:1].tolist()
    teams = [*leader, *rows.loc[rows["a"].isin(leader), "c"].tolist()]
    if len(set(teams)) != len(teams) or len(rows) != len(teams) * (len(teams) - 1) // 2:
        raise InputError(
            "These rows do not hold every pair of teams once, so that the order of the teams is not known; "
            "pass all rows of `verdicts`, or the teams with them."
        )
    return teams
