"""The application: a value built from lists of routers, middleware and refusals."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, Depends, FastAPI
from starlette.middleware import Middleware

from neuroarena import __version__
from neuroarena.competition.arena import Arena
from neuroarena.competition.people.letters import make_sender
from neuroarena.server import assets
from neuroarena.server.guarding import Guard
from neuroarena.server.origins import RefuseOtherSites, demand_token
from neuroarena.server.published import PublishedPages
from neuroarena.server.refusals import add_refusals
from neuroarena.server.rendering import Templates
from neuroarena.server.routes import (
    accounts,
    announcing,
    attachments,
    boards,
    organising,
    overview,
    submissions,
    submitting,
    teams,
)
from neuroarena.server.settings import Settings
from neuroarena.server.sign_ins import make_rates

# Every page of the server; a router that is not here does not exist.
ROUTERS: tuple[APIRouter, ...] = (
    assets.router,
    overview.router,
    boards.router,
    accounts.router,
    teams.router,
    submitting.router,
    submissions.router,
    announcing.router,
    attachments.router,
    organising.router,
    # Pages of any name: last.
    boards.text_router,
)


def create_app(
    arena: Arena, settings: Settings | None = None, routers: Sequence[APIRouter] = ROUTERS
) -> FastAPI:
    """Return the application of a competition; it starts nothing and opens no port.

    Parameters
    ----------
    arena : Arena
    settings : Settings, optional
        What ``server.toml`` says.
    routers : sequence of APIRouter
        By default those of all pages.
    """
    settings = settings or Settings()
    app = FastAPI(
        title=arena.competition.title,
        version=__version__,
        description="Every page of the competition as JSON. Programs send `Authorization: Bearer TOKEN`.",
        openapi_url="/openapi.json",
        docs_url=None,
        redoc_url=None,
        dependencies=[Depends(demand_token)],
        middleware=[Middleware(Guard, settings=settings), Middleware(RefuseOtherSites, settings=settings)],
    )
    app.state.arena, app.state.settings = arena, settings
    app.state.templates = Templates(arena, settings)
    app.state.published = PublishedPages(arena, app.state.templates)
    app.state.rates, app.state.send = make_rates(settings), make_sender(settings.mail, arena.folder)
    app.state.streams = {}
    add_refusals(app)
    for router in routers:
        app.include_router(router)
    return app
