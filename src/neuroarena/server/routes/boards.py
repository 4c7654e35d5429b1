"""The pages of the boards: what the static site shows, live."""

from __future__ import annotations

from fastapi import Request, Response
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool

from neuroarena.server import board_shapes
from neuroarena.server.formats import wants_json
from neuroarena.server.origins import FIELD, cookie_name
from neuroarena.server.published import Published, PublishedPages
from neuroarena.server.refusals import Refusal
from neuroarena.server.routing import PageRouter
from neuroarena.server.viewing import HTML, JSON_TYPE, is_signed_in, make_answer
from neuroarena.server.visitors import Anyone, Visitor

router = PageRouter()
# Pages that the organisers wrote have any name: they come after all others.
text_router = PageRouter()


def _add_table(folder: str, ending: str) -> None:
    """Add the addresses of tables: ``boards/NAME.csv``, ``boards/NAME.verdicts.parquet``."""

    async def show_table(request: Request, who: Anyone, name: str) -> Response:  # noqa: ARG001 - the permission
        stem, _, table = name.partition(".")
        page = await find_page(request, f"{folder}{stem}")
        found = await run_in_threadpool(page.read_table, table, ending)
        if found is None:
            raise Refusal(404, "There is no such table.")
        return make_answer(request.scope, *found, public=True)

    # Before the pages, whose names would take the ending; those of the first page and of the method are at the top.
    router.add_api_route(f"/{folder}{{name}}.{ending}", show_table, methods=["GET"], include_in_schema=False)


for _folder in ("", "boards/", "entries/"):
    for _ending in ("csv", "parquet"):
        _add_table(_folder, _ending)


@router.page(
    "/boards/{name}", shape=board_shapes.BoardPage | board_shapes.ShownPage | board_shapes.StandingsPage
)
async def show_board(request: Request, who: Anyone, name: str) -> Response:
    """Return a board: ranks, intervals and verdicts where scores are public, else the values that were shown."""
    return await answer_page(request, who, f"boards/{name}")


@router.page("/entries/{name}", shape=board_shapes.EntryPage)
async def show_entry(request: Request, who: Anyone, name: str) -> Response:
    """Return the page of a team: its scores on all boards, and how it compares with the others."""
    return await answer_page(request, who, f"entries/{name}")


@router.page("/method", shape=board_shapes.MethodPage)
async def show_method(request: Request, who: Anyone) -> Response:
    """Return how scoring works: metrics, rules of every task, and how verdicts are made."""
    return await answer_page(request, who, "method")


@text_router.page("/{name}", shape=board_shapes.WrittenPage)
async def show_text(request: Request, who: Anyone, name: str) -> Response:
    """Return a page that the organisers wrote, such as the news."""
    return await answer_page(request, who, name)


@router.get("/CITATION.cff", include_in_schema=False)
async def show_citation(request: Request, who: Anyone) -> Response:  # noqa: ARG001 - the permission
    """Return how to cite the boards as they are now."""
    await find_page(request, "index")
    text = find_published(request).edition.site.get("citation", "")
    return make_answer(request.scope, text.encode(), "text/yaml; charset=utf-8", public=True)


async def answer_page(request: Request, who: Visitor, address: str) -> Response:
    """Return a page of the newest edition in the format that was asked for."""
    page, scope = await find_page(request, address), request.scope
    if wants_json(scope):
        return make_answer(scope, page.json, JSON_TYPE, public=True)
    if not is_signed_in(scope):
        return make_answer(scope, page.html, HTML, public=True)

    def csrf_field() -> Markup:
        kept = request.cookies.get(cookie_name(request.app.state.settings), "")
        return Markup('<input type="hidden" name="{}" value="{}">').format(FIELD, kept)

    return make_answer(scope, find_published(request).render_for(page, who, csrf_field), HTML)


async def find_page(request: Request, address: str) -> Published:
    """Return a published page.

    Raises
    ------
    Refusal
        When there is none.
    """
    page = await find_published(request).find(address)
    if page is None:
        raise Refusal(404)
    return page


def find_published(request: Request) -> PublishedPages:
    """Return the pages that the scorer has published."""
    published: PublishedPages = request.app.state.published
    return published
