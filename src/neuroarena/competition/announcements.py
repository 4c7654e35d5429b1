"""Announcements of the organisers: posted, removed, and brought back; nothing is overwritten."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select

from neuroarena.competition.arena import Arena
from neuroarena.competition.events import append_event
from neuroarena.competition.tables import ANNOUNCEMENT
from neuroarena.competition.times import format_utc
from neuroarena.errors import InputError

MOST_TITLE, MOST_TEXT = 200, 20_000


def post_announcement(arena: Arena, title: str, text: str, *, actor: str) -> int:
    """Publish an announcement (its text is Markdown), and return its number.

    Raises
    ------
    InputError
        When title or text are empty or too long.
    """
    title = " ".join(title.split())
    if not title or len(title) > MOST_TITLE or not title.isprintable():
        raise InputError(f"The title of an announcement takes 1 to {MOST_TITLE} printable characters.")
    if not text.strip() or len(text) > MOST_TEXT:
        raise InputError(f"The text of an announcement takes 1 to {MOST_TEXT} characters.")
    with arena.store.writing("announcements") as connection:
        now = arena.store.clock(connection)
        last = connection.execute(select(func.coalesce(func.max(ANNOUNCEMENT.c.number), 0))).scalar_one()
        number = int(last) + 1
        row = {"number": number, "at": now, "title": title, "text": text.strip()}
        connection.execute(ANNOUNCEMENT.insert().values(**row))
        append_event(connection, now, actor, "announced", str(number), {"title": title})
    return number


def remove_announcement(arena: Arena, number: int, *, actor: str) -> None:
    """Take an announcement off the pages; its row stays, so that it can be brought back.

    Raises
    ------
    InputError
        When none with this number is shown.
    """
    _set_removed(arena, number, True, actor)


def restore_announcement(arena: Arena, number: int, *, actor: str) -> None:
    """Show an announcement again that was removed.

    Raises
    ------
    InputError
        When none with this number was removed.
    """
    _set_removed(arena, number, False, actor)


def list_announcements(arena: Arena, *, removed: bool = False) -> list[dict[str, Any]]:
    """List announcements as plain rows, newest first; with `removed`, those that were removed as well."""
    asked = select(ANNOUNCEMENT).order_by(ANNOUNCEMENT.c.number.desc())
    if not removed:
        asked = asked.where(ANNOUNCEMENT.c.removed.is_(None))
    with arena.store.reading() as connection:
        rows = connection.execute(asked).mappings().all()
    return [
        {
            "number": row["number"],
            "at_utc": format_utc(row["at"]),
            "title": row["title"],
            "text": row["text"],
            "removed": row["removed"] is not None,
        }
        for row in rows
    ]


def _set_removed(arena: Arena, number: int, removed: bool, actor: str) -> None:
    with arena.store.writing() as connection:
        now = arena.store.clock(connection)
        there = ANNOUNCEMENT.c.removed.is_(None) if removed else ANNOUNCEMENT.c.removed.is_not(None)
        asked = ANNOUNCEMENT.update().where(ANNOUNCEMENT.c.number == number, there)
        if connection.execute(asked.values(removed=now if removed else None)).rowcount != 1:
            raise InputError(
                f"There is no announcement {number} that could be {'removed' if removed else 'restored'}."
            )
        what = "announcement removed" if removed else "announcement restored"
        append_event(connection, now, actor, what, str(number))
