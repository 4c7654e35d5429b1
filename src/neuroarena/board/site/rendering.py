"""From a page to bytes: the one place that knows templates and assets, for folders and for servers alike."""

from __future__ import annotations

import functools
import io
import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pandas as pd

from neuroarena import __version__
from neuroarena.board.site.pages import Content, Page

if TYPE_CHECKING:
    from jinja2 import Environment

ASSETS = ("icon.svg", "site.css", "site.js")
# Nothing from elsewhere, nothing inline: a page of a stranger's words can only be read.
POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"


def make_environment(*packages: str) -> Environment:
    """Return where templates are looked up: those of the site, after those of the packages named.

    A template of a package may extend ``base.html.j2``, which leaves the blocks `account` and `after` to others.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in (*packages, "neuroarena.board.site")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Only for what `render_markdown` made: it has no HTML of the author in it.
    environment.filters["rendered"] = Markup
    return environment


def describe_site(content: Content) -> dict[str, Any]:
    """Return what every page of a site says: title, snapshot, last update, and the pages that somebody wrote."""
    sources, settings = content.sources, content.settings
    return {
        "title": content.title,
        "description": settings.description,
        "snapshot": sources.snapshot,
        "short": sources.short,
        "updated": f"{sources.updated:%Y-%m-%d %H:%M} UTC",
        "simulated": content.simulated,
        "frozen": content.frozen,
        "version": __version__,
        "policy": POLICY,
        "repository": None if settings.repository is None else str(settings.repository),
        "licence": settings.licence,
        "texts": [{"address": text.slug, "title": text.title} for text in content.all_texts],
    }


def render_html(page: Page, site: Mapping[str, Any], environment: Environment | None = None) -> str:
    """Return a page as HTML.

    Parameters
    ----------
    page : Page
    site : mapping
        What :func:`describe_site` returns.
    environment : Environment, optional
        With templates of another package; by default those of the site.
    """
    found = environment or _own_environment()
    return found.get_template(page.template).render(page=page, site=site, root=page.root, **page.view)


def render_json(value: Any) -> str:
    """Return data as the text of a JSON file; the same data give the same text."""
    return json.dumps(value, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def render_files(
    page: Page, site: Mapping[str, Any], environment: Environment | None = None
) -> Iterator[tuple[str, bytes]]:
    """Yield every file of a page, by its address: HTML, JSON, and each table as CSV and parquet."""
    yield f"{page.address}.html", render_html(page, site, environment).encode()
    yield f"{page.address}.json", render_json(page.data).encode()
    for name, table in page.tables.items():
        stem = f"{page.address}.{name}" if name else page.address
        yield f"{stem}.csv", render_csv(table)
        yield f"{stem}.parquet", render_parquet(table)


def render_csv(table: pd.DataFrame) -> bytes:
    """Return a table as a CSV file."""
    return table.to_csv(index=False, lineterminator="\n").encode()


def render_parquet(table: pd.DataFrame) -> bytes:
    """Return a table as a parquet file."""
    written = io.BytesIO()
    table.to_parquet(written, index=False)
    return written.getvalue()


@functools.cache
def read_assets() -> dict[str, bytes]:
    """Return the style sheet, the script and the icon of all pages, by address."""
    return {f"assets/{name}": files(__package__).joinpath("assets", name).read_bytes() for name in ASSETS}


@functools.cache
def _own_environment() -> Environment:
    return make_environment()
