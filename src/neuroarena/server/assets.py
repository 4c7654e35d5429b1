"""Style sheets and scripts: those of the static site, and the server's own."""

from __future__ import annotations

import functools
from importlib.resources import files

from fastapi import APIRouter, Request, Response

from neuroarena.board.site import read_assets
from neuroarena.server.refusals import Refusal
from neuroarena.server.viewing import make_answer
from neuroarena.server.visitors import Anyone

# Files of the folder `assets`; name a new one here.
OWN: tuple[str, ...] = ("people.css", "people.js")
TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
router = APIRouter()


@functools.cache
def read_live_assets() -> dict[str, bytes]:
    """Return every asset by its name."""
    site = {name.removeprefix("assets/"): content for name, content in read_assets().items()}
    return site | {name: files(__package__).joinpath("assets", name).read_bytes() for name in OWN}


@router.get("/assets/{name}", include_in_schema=False)
async def show_asset(request: Request, who: Anyone, name: str) -> Response:  # noqa: ARG001 - the permission
    """Return a style sheet or a script."""
    content = read_live_assets().get(name)
    if content is None:
        raise Refusal(404)
    return make_answer(request.scope, content, TYPES[name.rpartition(".")[2]], public=True)
