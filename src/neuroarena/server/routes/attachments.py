"""Files that organisers put beside their pages (maps, reports): from a path where nothing can run."""

from __future__ import annotations

from fastapi import Request, Response
from starlette.concurrency import run_in_threadpool

from neuroarena.board.site.attachments import FOLDER, TYPES, find_attachment
from neuroarena.competition.site_pages import FOLDER as PAGES
from neuroarena.server.refusals import Refusal
from neuroarena.server.routing import OpenArena, PageRouter
from neuroarena.server.viewing import make_answer, sandboxed
from neuroarena.server.visitors import Anyone

router = PageRouter()


@router.get(f"/{FOLDER}/{{name:path}}", include_in_schema=False)
async def show_attachment(request: Request, arena: OpenArena, who: Anyone, name: str) -> Response:  # noqa: ARG001
    """Return a file of the organisers, in a sandbox: no script, no form, no cookie of ours."""
    path = await run_in_threadpool(find_attachment, arena.folder / PAGES, name)
    if path is None:
        raise Refusal(404)
    content = await run_in_threadpool(path.read_bytes)
    return sandboxed(make_answer(request.scope, content, TYPES[path.suffix.lower()], public=True))
