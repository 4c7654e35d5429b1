"""The first page of a competition: its tracks and phases, and which of them is open."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from neuroarena.competition.times import format_utc
from neuroarena.server.routing import OpenArena, PageRouter
from neuroarena.server.viewing import View
from neuroarena.server.visitors import Anyone

router = PageRouter()


class PhaseShape(BaseModel):
    """A phase in the timeline."""

    model_config = ConfigDict(extra="forbid")

    name: str
    title: str
    start_utc: str
    end_utc: str
    state: str


class OverviewShape(BaseModel):
    """What the first page says."""

    model_config = ConfigDict(extra="forbid")

    title: str
    description: str | None
    phases: list[PhaseShape]


@router.page("/", shape=OverviewShape)
def show_overview(arena: OpenArena, who: Anyone) -> View:  # noqa: ARG001 - the permission
    """Show the phases and the boards of the competition."""
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
