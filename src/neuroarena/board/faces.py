"""What families add to a board: rules for their entries and standings of their own, looked up by the names on it."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from neuroarena.benchmarks.faces import face_of
from neuroarena.board.entries import Entry
from neuroarena.errors import NeuroarenaError
from neuroarena.scoring.overalls import Overall

if TYPE_CHECKING:
    from neuroarena.board.ranking import Ranking
    from neuroarena.board.standings import Standings


def apply_entry_rules(entries: Iterable[Entry], as_of: datetime.datetime | None = None) -> list[Entry]:
    """Apply the entry rules of every family present to its own entries.

    A rule is the face ``entry_rules`` of a family: ``(entries, as_of) -> entries``, which returns its entries in the
    order given, those that cannot rank with a reason. Entries of families that are not installed stay as they are.

    Parameters
    ----------
    entries : iterable of Entry
    as_of : datetime, optional
        The time of the board.

    Returns
    -------
    list of Entry
        In the order given.

    Raises
    ------
    NeuroarenaError
        When a rule drops or adds an entry.
    """
    everything = list(entries)
    for family in dict.fromkeys(entry.family for entry in everything):
        rule = face_of(family, "entry_rules")
        if rule is None:
            continue
        places = [at for at, entry in enumerate(everything) if entry.family == family]
        judged = rule([everything[at] for at in places], as_of)
        if len(judged) != len(places):
            raise NeuroarenaError(
                f'The entry rules of "{family}" returned {len(judged)} of {len(places)} entries; '
                "a rule voids an entry by a reason and never drops it."
            )
        for at, entry in zip(places, judged, strict=True):
            everything[at] = entry
    return everything


def overall_of(family: str) -> Overall:
    """Return how the tasks of a family become one number: its face ``overall``, or the mean of its tasks.

    Raises
    ------
    NeuroarenaError
        When the face is something else.
    """
    found = face_of(family, "overall")
    if found is None:
        return Overall()
    if not isinstance(found, Overall):
        raise NeuroarenaError(
            f'The face "overall" of the family "{family}" is a {type(found).__name__}; expected an Overall, as '
            "neuroarena.scoring.Overall.from_toml reads it."
        )
    return found


def columns_of_family(family: str, taken: Iterable[str] = ()) -> dict[str, Callable[[Entry], Any]]:
    """Return the columns that a family adds to its boards.

    They are the face ``columns`` of a family: a mapping of names to functions of an entry, which return a number,
    a text, or None where nothing is known.

    Raises
    ------
    NeuroarenaError
        When a name is among those `taken`.
    """
    columns = dict(face_of(family, "columns") or {})
    clashes = [name for name in columns if name in set(taken)]
    if clashes:
        raise NeuroarenaError(
            f'The family "{family}" adds the column "{clashes[0]}", which boards already have.'
        )
    return columns


def describe_known_answers(family: str, tasks: Iterable[str]) -> tuple[str, ...]:
    """Name the tasks whose answers can be had on public data, so that their boards rank nobody fairly.

    The reasons are the face ``not_rankable`` of a family: a mapping of tasks to sentences.
    """
    known = face_of(family, "not_rankable") or {}
    reasons = dict.fromkeys(known[task] for task in tasks if task in known)
    return tuple(f"Not rankable on public data: {reason}" for reason in reasons)


def own_standings(rankings: Sequence[Ranking]) -> dict[str, Standings | str]:
    """Make the boards that the families present offer over their own tasks.

    They are the face ``own_standings`` of a family: a mapping of names to functions of the family's rankings.

    Returns
    -------
    dict of str to Standings or str
        By name; a sentence says why there is none.
    """
    made: dict[str, Standings | str] = {}
    for family in dict.fromkeys(ranking.family for ranking in rankings):
        own = [ranking for ranking in rankings if ranking.family == family]
        for name, make in (face_of(family, "own_standings") or {}).items():
            made[name] = make(own)
    return made
