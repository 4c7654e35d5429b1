"""Documents that teams hand in beside their submissions, such as a description of the method."""

from __future__ import annotations

import datetime
import secrets
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from neuroarena.competition.admission import MEGABYTE, check_room
from neuroarena.competition.arena import Arena
from neuroarena.competition.events import append_event
from neuroarena.competition.rules import Document
from neuroarena.competition.tables import DOCUMENT
from neuroarena.competition.teams import find_team
from neuroarena.competition.times import format_utc
from neuroarena.errors import InputError

# What the bytes of a file must begin with; text is read as UTF-8 instead.
_MAGIC = {"pdf": b"%PDF-"}


def hand_in_document(arena: Arena, token: str, track: str, name: str, file: str | Path) -> str:
    """Keep a document of a team for a track, and return its id; a later one replaces it, and both are kept.

    Raises
    ------
    InputError
        When the competition asks for no such document, it is too late, or the file is not of an allowed format.
    """
    return keep_document(arena, find_team(arena, token, "submit"), track, name, Path(file))


def keep_document(arena: Arena, team: str, track: str, name: str, file: Path) -> str:
    """Keep a document of a team, whose right to hand it in was checked, and return its id.

    Raises
    ------
    InputError
        When the competition asks for no such document, it is too late, or the file is not of an allowed format.
    """
    arena.competition.track(track)
    wanted = find_document(arena, name)
    _check_format(file, wanted)
    ending = file.suffix.lower()
    kept = arena.artifacts.keep(file, wanted.most_mb * MEGABYTE, ending)
    identity = f"d{secrets.token_hex(5)}"
    with arena.store.writing(f"team:{team}") as connection:
        now = arena.store.clock(connection)
        if wanted.due is not None and now >= wanted.due:
            raise InputError(f'"{wanted.title}" was due until {format_utc(wanted.due)}.')
        check_room(connection, arena.competition, team, kept.n_bytes)
        row: dict[str, Any] = {"id": identity, "team": team, "track": track, "name": name}
        row |= {"file": file.name[-255:], "sha256": kept.sha256, "bytes": kept.n_bytes, "received": now}
        connection.execute(DOCUMENT.insert().values(**row))
        facts = {"track": track, "document": name, "sha256": kept.sha256}
        append_event(connection, now, team, "document", identity, facts)
    return identity


def find_document(arena: Arena, name: str) -> Document:
    """Return a document that the competition asks for, by its name.

    Raises
    ------
    InputError
        When it asks for none of that name; those there are, are listed.
    """
    known = {document.name: document for document in arena.competition.documents}
    if name not in known:
        listed = f"Documents: {', '.join(known)}." if known else "It asks for none."
        raise InputError(f'{arena.competition.title} asks for no document "{name}". {listed}')
    return known[name]


def list_missing_documents(
    connection: Connection, arena: Arena, team: str, track: str, as_of: datetime.datetime | None = None
) -> list[str]:
    """List the titles of documents that a team must still hand in to be ranked on a track."""
    asked = select(DOCUMENT.c.name).where(DOCUMENT.c.team == team, DOCUMENT.c.track == track)
    if as_of is not None:
        asked = asked.where(DOCUMENT.c.received <= as_of)
    there = set(connection.execute(asked).scalars())
    return [document.title for document in arena.competition.documents if document.name not in there]


def _check_format(file: Path, wanted: Document) -> None:
    allowed = " or ".join(f".{ending}" for ending in wanted.formats)
    ending = file.suffix.lower().removeprefix(".")
    if not file.is_file() or file.is_symlink():
        raise InputError(f"{file.name}: this is not a regular file. Nothing was taken.")
    if ending not in wanted.formats:
        raise InputError(
            f'{file.name}: "{wanted.title}" is a file that ends in {allowed}. Nothing was taken.'
        )
    with file.open("rb") as opened:
        begin = opened.read(4096)
    magic = _MAGIC.get(ending)
    if magic is not None and not begin.startswith(magic):
        raise InputError(f"{file.name}: this is not a {ending.upper()} file. Nothing was taken.")
    if magic is None and b"\0" in begin:
        raise InputError(f"{file.name}: this is not text. Nothing was taken.")
