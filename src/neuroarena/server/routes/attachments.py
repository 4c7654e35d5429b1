"""Files that organisers put beside their pages (maps, reports): from a path where nothing can run."""

from __future__ import annotations

from fastapi import Request, Response

from neuroarena.board.site.attachments import FOLDER, TYPES, find_attachment
from neuroarena.competition.site_pages import FOLDER as PAGES
from neuroarena.server.refusals import Refusal
from neuroarena.server.routing import OpenArena, PageRouter
from neuroarena.server.viewing import Bytes, make_answer, make_etag, sandboxed
from neuroarena.server.visitors import Anyone

router = PageRouter()
COMPRESSED = ("text/", "image/svg", "application/json")


@router.get(f"/{FOLDER}/{{name:path}}", include_in_schema=False)
def show_attachment(request: Request, arena: OpenArena, who: Anyone, name: str) -> Response:  # noqa: ARG001
    """Return a file of the organisers, in a sandbox: no script, no form, no cookie of ours."""
    path = find_attachment(arena.folder / PAGES, name)
    if path is None:
        raise Refusal(404)
    kind, content = TYPES[path.suffix.lower()], path.read_bytes()
    # Pictures and tables are small already: compressing 64 MB of them for every visitor would gain nothing.
    known = Bytes.of(content) if kind.startswith(COMPRESSED) else Bytes(content, None, make_etag(content))
    return sandboxed(make_answer(request.scope, known, kind, public=True))
