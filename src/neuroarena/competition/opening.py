"""Open and close a competition: what must stand before the first submission is taken."""

from __future__ import annotations

from neuroarena.competition.arena import Arena, read_about, write_about
from neuroarena.competition.events import append_event
from neuroarena.errors import InputError


def list_missing(arena: Arena) -> list[str]:
    """List what must be done before the competition can open, one sentence each."""
    with arena.store.reading() as connection:
        sealed = {
            track.name: read_about(connection, f"sealed:{track.name}") for track in arena.competition.tracks
        }
    return [
        f'The track "{name}" has no truth: neuroarena admin seal {arena.folder} {name}'
        for name, commitment in sealed.items()
        if commitment is None
    ]


def open_competition(arena: Arena, *, accept_one_user: bool = False) -> None:
    """Take submissions from now on, whenever a phase is open.

    Parameters
    ----------
    arena : Arena
    accept_one_user : bool
        Whether to open sealed phases although intake and scorer run under one user, so that whoever breaks into
        one can read the truth.

    Raises
    ------
    InputError
        When something is missing, or a sealed phase would have no wall round its truth.
    """
    missing = list_missing(arena)
    if missing:
        raise InputError(f"{arena.competition.title} cannot open yet. {missing[0]}")
    sealed = [phase.title for phase in arena.competition.phases if phase.sealed]
    if sealed and not accept_one_user:
        raise InputError(
            f'The phase "{sealed[0]}" is sealed, and intake and scorer run under one user here. '
            "Open it all the same with --accept-one-user; receipts and events will say so."
        )
    _set_status(arena, "open", {"one_user": bool(sealed)})


def close_competition(arena: Arena) -> None:
    """Take no submissions until the competition is opened again; what was received is still judged."""
    _set_status(arena, "closed", {})


def _set_status(arena: Arena, status: str, facts: dict[str, bool]) -> None:
    with arena.store.writing() as connection:
        write_about(connection, "status", status)
        append_event(
            connection, arena.store.clock(connection), "organiser", status, arena.competition.name, facts
        )
