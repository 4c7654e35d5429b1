"""Which submissions an audit looks at: those that would win."""

from __future__ import annotations

from neuroarena.competition.arena import Arena
from neuroarena.competition.final import rank_finally
from neuroarena.errors import InputError


def find_top(arena: Arena, track: str, first: int) -> list[str]:
    """Return the submissions of the first so many teams of a track by the final rule, best first.

    Teams of the organisers are left out; teams that share the last place are all in.

    Raises
    ------
    InputError
        When nobody is ranked.
    """
    found = rank_finally(arena, track, before_audit=True)
    table = found.board.everything[0].table
    entries = table[table["role"] == "entry"]
    if entries.empty:
        raise InputError(f'Nobody is ranked on the track "{track}" yet.')
    last = entries["rank"].iloc[min(first, len(entries)) - 1]
    return [found.chosen[str(team)] for team in entries.loc[entries["rank"] <= last, "team"]]
