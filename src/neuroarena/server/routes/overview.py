"""The first page of a competition: its boards, or the phases to come."""

from __future__ import annotations

from typing import Any

from fastapi import Request, Response
from starlette.concurrency import run_in_threadpool

from neuroarena.competition.arena import Arena
from neuroarena.competition.times import format_utc
from neuroarena.server import board_shapes
from neuroarena.server.routes.boards import answer_page, find_published
from neuroarena.server.routing import OpenArena, PageRouter
from neuroarena.server.viewing import View
from neuroarena.server.visitors import Anyone

router = PageRouter()


@router.page("/", shape=board_shapes.Overview | board_shapes.Preview)
async def show_overview(request: Request, arena: OpenArena, who: Anyone) -> Response:
    """Show every board at a glance; before the first was published, the phases."""
    if await find_published(request).find("index") is None:
        return await run_in_threadpool(make_preview, arena)
    return await answer_page(request, who, "index")


def make_preview(arena: Arena) -> View:
    """Return the first page of a competition that has not published a board yet."""
    with arena.store.reading() as connection:
        now = arena.store.clock(connection)
    competition = arena.competition
    data: dict[str, Any] = {
        "title": competition.title,
        "description": competition.description,
        "phases": [
            {
                "name": phase.name,
                "title": phase.title,
                "start_utc": format_utc(phase.start),
                "end_utc": format_utc(phase.end),
                "state": "to come" if now < phase.start else "over" if now >= phase.end else "open",
            }
            for phase in competition.phases
        ],
    }
    return View("overview.html.j2", competition.title, data, public=True)
