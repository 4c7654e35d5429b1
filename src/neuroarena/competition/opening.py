"""Open and close a competition: what must stand before the first submission is taken."""

from __future__ import annotations

from typing import Any

from neuroarena.competition.arena import Arena, read_about, write_about
from neuroarena.competition.baselines import find_baseline_problems
from neuroarena.competition.events import append_event
from neuroarena.competition.showing import read_step
from neuroarena.competition.vault_shelves import SchemaShelf, refuse_reader
from neuroarena.errors import InputError


def list_missing(arena: Arena) -> list[str]:
    """List what must be done before the competition can open, one sentence each."""
    return list_unsealed(arena) or [*list_shared_truths(arena), *list_baseline_problems(arena)]


def list_unsealed(arena: Arena) -> list[str]:
    """List the questions that have no truth yet."""
    missing = []
    for sheet in arena.competition.sheets():
        try:
            arena.manifests(sheet)
        except InputError as error:
            missing.append(str(error))
    return missing


def list_shared_truths(arena: Arena) -> list[str]:
    """List sealed questions whose answers an open phase shows as well, because both were sealed from the same data."""
    problems = []
    for track in arena.competition.tracks:
        mine = [phase for phase in arena.competition.phases if phase.takes(track.name)]
        sealed = {track.sheet(phase.name) for phase in mine if phase.sealed}
        shown = {track.sheet(phase.name) for phase in mine if not phase.sealed}
        problems += [
            f'"{secret}" has the answers of "{public}", whose scores are shown; seal it from data of its own'
            for secret in sorted(sealed)
            for public in sorted(shown)
            if _have_same_answers(arena, secret, public)
        ]
    return problems


def _have_same_answers(arena: Arena, first: str, second: str) -> bool:
    """Return whether all questions that two sheets share have the same answers; names alone may agree by chance."""
    for part in set(arena.parts(first)) & set(arena.parts(second)):
        one, other = (
            arena.vault.truth(sheet, part).set_index("id")["target"].astype(str) for sheet in (first, second)
        )
        common = one.index.intersection(other.index)
        if len(common) > 0 and (one[common] == other[common]).all():
            return True
    return False


def list_baseline_problems(arena: Arena) -> list[str]:
    """List what is missing of the host's baselines in sealed phases, and of the steps that they set."""
    missing = []
    for phase in arena.competition.phases:
        for track in arena.competition.tracks:
            if not phase.sealed or not phase.takes(track.name):
                continue
            problems = find_baseline_problems(arena, track.name, phase)
            with arena.store.reading() as connection:
                step = read_step(connection, phase, track.name)
            overall = None if problems else arena.overall(track.sheet(phase.name))
            ranked = overall is not None and overall.of == "ranks"
            if not problems and phase.display == "ladder" and step is None and not ranked:
                problems = [
                    f'"{track.name}" in "{phase.name}" has no step: its baseline has no standard error, which six '
                    "people are needed for; seal more people, or state a step"
                ]
            missing += problems
    return missing


def open_competition(
    arena: Arena, *, accept_one_user: bool = False, without_baselines: bool = False, actor: str = "organiser"
) -> None:
    """Take submissions from now on, whenever a phase is open.

    Parameters
    ----------
    arena : Arena
    accept_one_user : bool
        Whether to open sealed phases although intake and scorer run under one user, so that whoever breaks into
        one can read the truth.
    without_baselines : bool
        Whether to open sealed phases that no baseline of the host has gone through, and whose truth may be shown
        elsewhere; for rehearsals, and the events say so.
    actor : str
        Who opens it, as events say.

    Raises
    ------
    InputError
        When something is missing, or a sealed phase would have no wall round its truth.
    """
    with arena.store.reading() as connection:
        if read_about(connection, "revealed") is not None:
            raise InputError(
                f"{arena.competition.title} cannot open again: its truth was revealed. Set up a new competition."
            )
    missing = list_unsealed(arena) if without_baselines else list_missing(arena)
    if missing:
        raise InputError(f"{arena.competition.title} cannot open yet. {missing[0]}")
    problem = find_user_problem(arena)
    if problem is not None and not accept_one_user:
        raise InputError(problem)
    _set_status(
        arena, "open", {"one_user": problem is not None, "without_baselines": without_baselines}, actor
    )


def find_user_problem(arena: Arena) -> str | None:
    """Return why sealed truth would have no wall round it: one user, or role, reaches everything; None if not so."""
    shelf = arena.vault.shelf
    if isinstance(shelf, SchemaShelf):
        try:
            refuse_reader(arena.store.url, shelf)
        except InputError as error:
            return str(error)
    sealed = [phase.title for phase in arena.competition.phases if phase.sealed]
    with arena.store.reading() as connection:
        separate = read_about(connection, "zones") == "separate"
    if not sealed or separate:
        return None
    return (
        f'The phase "{sealed[0]}" is sealed, and intake and scorer run under one user here. Start the arena as '
        f"root (neuroarena arena start {arena.folder}), or open it all the same with --accept-one-user; receipts "
        "and events will say so."
    )


def close_competition(arena: Arena, *, actor: str = "organiser") -> None:
    """Take no submissions until the competition is opened again; what was received is still judged."""
    _set_status(arena, "closed", {}, actor)


def _set_status(arena: Arena, status: str, facts: dict[str, Any], actor: str) -> None:
    with arena.store.writing() as connection:
        write_about(connection, "status", status)
        append_event(connection, arena.store.clock(connection), actor, status, arena.competition.name, facts)
