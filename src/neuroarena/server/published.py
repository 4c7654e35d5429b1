"""The pages of the boards, as the scorer left them in the store: rendered once per edition, and sent as bytes."""

from __future__ import annotations

import asyncio
import io
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup
from sqlalchemy import Connection, select
from starlette.concurrency import run_in_threadpool

from neuroarena.competition.arena import Arena, read_about
from neuroarena.competition.site_pages import EDITION, SITE
from neuroarena.competition.tables import PAGE, SNAPSHOT
from neuroarena.competition.times import format_utc
from neuroarena.server.rendering import ACCOUNT_MARK, LivePage, Templates
from neuroarena.server.viewing import Bytes, render_data
from neuroarena.server.visitors import VISITOR, Visitor

# How old a look into the store may be; the scorer makes boards every few minutes.
LOOK_S = 1.0
# Pages of an edition that are kept rendered, and those of them that are rendered ahead for the next one.
MOST_KEPT, MOST_AHEAD = 400, 20
PARQUET_TYPE = "application/vnd.apache.parquet"


@dataclass(frozen=True, eq=False)
class Published:
    """A page of an edition, rendered.

    Attributes
    ----------
    page : LivePage
    parts : tuple of bytes
        HTML before and after the account of the visitor.
    html, json : Bytes
        For visitors.
    tables : mapping of str to str
        CSV by the name of the table.
    """

    page: LivePage
    parts: tuple[bytes, bytes]
    html: Bytes
    json: Bytes
    tables: Mapping[str, str]

    def read_table(self, name: str, ending: str) -> tuple[bytes, str] | None:
        """Return a table as CSV or parquet, with its type; None when there is none of that name."""
        if name not in self.tables:
            return None
        if ending == "csv":
            return self.tables[name].encode(), "text/csv; charset=utf-8"
        import pandas as pd

        written = io.BytesIO()
        pd.read_csv(io.StringIO(self.tables[name]), keep_default_na=True).to_parquet(written, index=False)
        return written.getvalue(), PARQUET_TYPE


@dataclass(eq=False)
class Edition:
    """All pages as they were made together: their name, what they say of the site, and those rendered so far."""

    name: str | None
    site: dict[str, Any]
    kept: dict[str, Published | None] = field(default_factory=dict)


class PublishedPages:
    """The pages of the newest edition; while the next is rendered, the one before is shown.

    Parameters
    ----------
    arena : Arena
    templates : Templates
    """

    def __init__(self, arena: Arena, templates: Templates) -> None:
        self.arena, self.templates = arena, templates
        self.edition = Edition(None, {})
        self.looked = -LOOK_S
        self.looking: asyncio.Task[None] | None = None
        self.lock = threading.Lock()

    async def find(self, address: str) -> Published | None:
        """Return a page by its address; None when there is none."""
        if time.monotonic() - self.looked >= LOOK_S:
            self.looked = time.monotonic()
            look = asyncio.ensure_future(run_in_threadpool(self.look))
            if self.edition.name is None:
                await look
            else:  # the page that is there is sent at once
                self.looking = look
        edition = self.edition
        if address in edition.kept:
            return edition.kept[address]
        return await run_in_threadpool(self.read, address)

    def look(self) -> None:
        """Take over the newest edition, if there is another, with the pages that were asked for last."""
        with self.lock:
            with self.arena.store.reading(as_one=True) as connection:
                if read_about(connection, EDITION) == self.edition.name:
                    return
                edition = self._open(connection)
                for address in list(self.edition.kept)[-MOST_AHEAD:]:
                    edition.kept[address] = self._render(connection, address, edition)
            self.edition, self.templates.published = edition, edition.site

    def read(self, address: str) -> Published | None:
        """Read a page from the store and render it; in one transaction, so that it is of one edition."""
        with self.lock:
            if address in self.edition.kept:
                return self.edition.kept[address]
            with self.arena.store.reading(as_one=True) as connection:
                if read_about(connection, EDITION) != self.edition.name:
                    self.edition = self._open(connection)
                    self.templates.published = self.edition.site
                page = self._render(connection, address, self.edition)
            if page is not None:
                kept = self.edition.kept
                while len(kept) >= MOST_KEPT:
                    kept.pop(next(iter(kept)))
                kept[address] = page
            return page

    def render_for(self, published: Published, who: Visitor, csrf_field: Any) -> bytes:
        """Return a page with the account of somebody who has signed in."""
        account = self.templates.render_account(published.page, who, csrf_field)
        return account.encode().join(published.parts)

    def _open(self, connection: Connection) -> Edition:
        asked = select(PAGE.c.view).where(PAGE.c.address == SITE)
        site = connection.execute(asked).scalar()
        return Edition(read_about(connection, EDITION), dict(site or {}))

    def _render(self, connection: Connection, address: str, edition: Edition) -> Published | None:
        asked = (
            select(PAGE, SNAPSHOT.c.as_of, SNAPSHOT.c.event_hash)
            .join(SNAPSHOT, SNAPSHOT.c.number == PAGE.c.snapshot)
            .where(PAGE.c.address == address, PAGE.c.template != "")
        )
        row = connection.execute(asked).mappings().first()
        if row is None:
            return None
        page = LivePage(address, row["title"], tuple(row["view"]["tables"]))
        self.templates.published = edition.site
        text = self.templates.render_page(page, row["template"], row["view"]["view"], ACCOUNT_MARK)
        before, _, after = text.partition(ACCOUNT_MARK)
        parts = before.encode(), after.encode()
        said = {
            "board": row["snapshot"],
            "board_as_of": format_utc(row["as_of"]),
            "event_hash": row["event_hash"],
            **row["view"]["data"],
        }
        account = self.templates.render_account(page, VISITOR, _no_form)
        html = Bytes.of(account.encode().join(parts))
        return Published(page, parts, html, Bytes.of(render_data(said)), row["view"]["tables"])


def _no_form() -> Markup:
    raise RuntimeError("a page that is kept for all visitors has no form with a token of one of them")
