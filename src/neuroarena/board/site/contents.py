"""The list of all pages of a site, each made only when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from neuroarena.board.site.board_pages import make_board_page
from neuroarena.board.site.entry_pages import make_entry_page
from neuroarena.board.site.method import make_method
from neuroarena.board.site.overview import make_overview
from neuroarena.board.site.pages import Content, Page
from neuroarena.board.site.settings import TextPage
from neuroarena.board.site.shown_pages import make_shown_page
from neuroarena.board.site.standings_pages import make_standings_page, name_standings


def list_pages(content: Content) -> dict[str, Callable[[], Page]]:
    """Return the address of every page of a site with what makes it, the first page first.

    A page is a pure function of the content: a server makes the one that is asked for, a build makes all.
    """
    over_tracks = name_standings(content)
    pages: dict[str, Callable[[], Page]] = {"index": partial(make_overview, content, over_tracks)}
    for one in content.board.everything:
        pages[content.boards[one.name]] = partial(make_board_page, content, one)
    for heat in content.heats.values():
        if heat.shown is not None:
            pages[content.boards[heat.label]] = partial(make_shown_page, content, heat)
    for address, standings in over_tracks.items():
        pages[address] = partial(make_standings_page, content, address, standings)
    for team in content.teams:
        pages[content.entries[team]] = partial(make_entry_page, content, team)
    pages["method"] = partial(make_method, content, over_tracks)
    for text in content.all_texts:
        pages[text.slug] = partial(make_text_page, text)
    return pages


def make_text_page(text: TextPage) -> Page:
    """Make a page that somebody wrote."""
    data = {"title": text.title, "html": text.html}
    return Page(text.slug, text.title, "text.html.j2", {"html": text.html}, data)
