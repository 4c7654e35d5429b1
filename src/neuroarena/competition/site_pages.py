"""The pages of a competition, made where the unit scores are and kept in the store as plain data, by editions.

A server has no right to open the vault. The scorer makes every page that is public, in full, and puts the whole edition
in the place of the one before in a single transaction: nobody ever sees half of one.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, select

from neuroarena import __version__
from neuroarena.board import Board, Rules
from neuroarena.board.site import (
    Content,
    Page,
    Settings,
    describe_site,
    list_pages,
    read_settings,
    read_sources,
    rendering,
)
from neuroarena.board.site.citation import write_citation
from neuroarena.board.site.contests import Contest
from neuroarena.board.site.rendering import render_csv
from neuroarena.board.site.sources import digest_files
from neuroarena.competition.arena import Arena, read_about, write_about
from neuroarena.competition.publishing import publish_contest
from neuroarena.competition.snapshots import PUBLIC_RULE, publish_boards
from neuroarena.competition.tables import PAGE, SNAPSHOT
from neuroarena.fingerprint import digest

# The key of the store that says which edition its pages are, and the address of what all of them say.
EDITION, SITE = "pages", "data/site"
# Folder of a competition with `site.toml` and pages in Markdown, such as `faq.md`.
FOLDER = "site"
# Longer tables (every pair of hundreds of entries) are for static sites: a row of a store is not the place.
MOST_ROWS = 20_000
LONGEST_TITLE = 300


def publish_everything(arena: Arena) -> str:
    """Publish every board and then the pages, and say what has changed."""
    boards = publish_boards(arena)
    return f"{boards}; {'pages made anew' if publish_pages(arena) else 'pages as before'}"


def publish_pages(arena: Arena) -> bool:
    """Make all pages that are public now, and put them in the place of those before; return whether they changed.

    Before the first board was published there are none.
    """
    with arena.store.reading() as connection:
        now = arena.store.clock(connection)
        kept = read_about(connection, EDITION)
    contest = publish_contest(arena, now)
    edition = _name_edition(arena, contest, now)
    if edition == kept:
        return False
    rows = list(make_rows(read_content(arena, contest)))
    with arena.store.writing("boards") as connection:
        return replace_edition(connection, edition, rows)


def read_content(arena: Arena, contest: Contest) -> Content:
    """Return what the pages of a competition are made from."""
    folder = arena.folder / FOLDER
    settings, texts = read_settings(folder) if folder.is_dir() else (Settings(), ())
    said = {
        "title": settings.title or contest.title,
        "description": settings.description or contest.description,
    }
    sources = read_sources([], contests=[contest])
    board = Board(sources.entries, Rules(rule=PUBLIC_RULE, prizes=True), allow_empty=True)
    return Content(board, sources, settings.model_copy(update=said), tuple(texts))


def make_rows(content: Content) -> Iterator[dict[str, Any]]:
    """Yield every page as a row of the store, and what all pages say as one more."""
    site = {**describe_site(content), "citation": write_citation(content)}
    yield {"address": SITE, "title": content.title, "template": "", "view": site}
    for make in list_pages(content).values():
        page = make()
        yield {
            "address": page.address,
            "title": page.title[:LONGEST_TITLE],
            "template": page.template,
            "view": {"view": page.view, "data": page.data, "tables": _write_tables(page)},
        }


def _write_tables(page: Page) -> dict[str, str]:
    return {
        name: render_csv(table).decode() for name, table in page.tables.items() if len(table) <= MOST_ROWS
    }


def _name_edition(arena: Arena, contest: Contest, now: datetime.datetime) -> str:
    """Return a digest of everything that the pages depend on; the time of making them is not among it."""
    states = [phase.state_at(now) for phase in contest.phases]
    said = contest.model_dump(mode="json", exclude={"as_of"})
    folder = arena.folder / FOLDER
    texts = digest_files(folder) if folder.is_dir() else []
    # Pages are kept as what a template shows: another template may show more.
    templates = digest_files(Path(rendering.__file__).with_name("templates"))
    return digest([__version__, templates, said, states, texts])


def remove_pages(connection: Connection) -> None:
    """Remove all pages, inside the caller's transaction; the scorer's next boards bring them back."""
    connection.execute(PAGE.delete())
    write_about(connection, EDITION, "")


def replace_edition(connection: Connection, edition: str, rows: Sequence[dict[str, Any]]) -> bool:
    """Put all pages in the place of those before, inside the caller's transaction; False where no board is public."""
    number = connection.execute(select(func.max(SNAPSHOT.c.number))).scalar()
    if number is None:
        return False
    connection.execute(PAGE.delete())
    connection.execute(PAGE.insert(), [{"snapshot": number, **row} for row in rows])
    write_about(connection, EDITION, edition)
    return True
