"""News on the pages: what organisers announce, for everybody; and the desk at which they do."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form
from fastapi import Path as InPath

from neuroarena.board.site.settings import render_markdown
from neuroarena.competition.announcements import (
    list_announcements,
    post_announcement,
    remove_announcement,
    restore_announcement,
)
from neuroarena.competition.arena import Arena
from neuroarena.server import desk_shapes
from neuroarena.server.routing import OpenArena, PageRouter
from neuroarena.server.viewing import Done, View
from neuroarena.server.visitors import Anyone, OrganiserOnly

router = PageRouter()

Number = Annotated[int, InPath(ge=1, le=10**9)]


@router.page("/announcements", shape=desk_shapes.Announcements)
def show_announcements(arena: OpenArena, who: Anyone) -> View:  # noqa: ARG001 - the permission
    """Show what the organisers have announced, newest first."""
    data = {"announcements": render_announcements(arena)}
    return View("announcements.html.j2", "Announcements", data, public=True)


def render_announcements(arena: Arena, *, removed: bool = False) -> list[dict[str, object]]:
    """List announcements with their text as HTML too; HTML of the author is shown as text."""
    return [
        {**row, "html": render_markdown(row["text"])} for row in list_announcements(arena, removed=removed)
    ]


@router.page("/organise/announcements", shape=desk_shapes.Announcements)
def show_desk(arena: OpenArena, who: OrganiserOnly) -> View:  # noqa: ARG001 - the permission
    """Show all announcements, removed ones too, and the form for a new one."""
    data = {"announcements": render_announcements(arena, removed=True)}
    return View("announce.html.j2", "Announcements", data)


@router.action("/organise/announcements", shape=desk_shapes.AnnouncedNow, status=201)
def act_announce(
    arena: OpenArena,
    who: OrganiserOnly,
    title: Annotated[str, Form(max_length=500)],
    text: Annotated[str, Form(max_length=30_000)],
) -> Done:
    """Announce something to everybody."""
    number = post_announcement(arena, title, text, actor=who.account)
    return Done("/organise/announcements", {"number": number}, status=201)


@router.action("/organise/announcements/{number}/remove", shape=desk_shapes.RemovedNow)
def act_remove(arena: OpenArena, who: OrganiserOnly, number: Number) -> Done:
    """Take an announcement off the pages."""
    remove_announcement(arena, number, actor=who.account)
    return Done("/organise/announcements", {"removed": number})


@router.action("/organise/announcements/{number}/restore", shape=desk_shapes.RestoredNow)
def act_restore(arena: OpenArena, who: OrganiserOnly, number: Number) -> Done:
    """Bring an announcement back."""
    restore_announcement(arena, number, actor=who.account)
    return Done("/organise/announcements", {"restored": number})
