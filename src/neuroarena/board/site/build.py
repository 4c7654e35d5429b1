"""From pages to a folder: rendered, written beside the old one, and put in its place at once."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd

from neuroarena import __version__
from neuroarena.atomic import building
from neuroarena.board.board import Board
from neuroarena.board.site.board_pages import make_board_pages
from neuroarena.board.site.citation import write_citation
from neuroarena.board.site.entry_pages import make_entry_pages
from neuroarena.board.site.method import make_method
from neuroarena.board.site.overview import make_overview
from neuroarena.board.site.pages import Content, Page
from neuroarena.board.site.settings import Settings, TextPage
from neuroarena.board.site.sources import Sources
from neuroarena.board.site.standings_pages import make_standings_pages
from neuroarena.errors import InputError

ABOUT = "site.json"
SUMS = "SHA256SUMS"
ASSETS = ("site.css", "site.js")
# Nothing from elsewhere, nothing inline: a page of a stranger's words can only be read.
POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"


def build_site(
    board: Board,
    sources: Sources,
    out: Path,
    *,
    settings: Settings | None = None,
    texts: Sequence[TextPage] = (),
    frozen: bool = False,
) -> dict[str, Any]:
    """Write a board as a folder of pages, completely or not at all.

    Parameters
    ----------
    board : Board
    sources : Sources
        What the board was made from.
    out : Path
        A new folder, or one that holds a site, which is then replaced.
    settings : Settings, optional
    texts : sequence of TextPage
        Pages that somebody wrote.
    frozen : bool
        Whether this is the last state of the board: its pages say so, and it is never replaced.

    Returns
    -------
    dict
        What ``site.json`` says: title, snapshot, last update, number of pages.

    Raises
    ------
    InputError
        When the folder holds something else than a site, or one that is frozen.
    """
    _check_target(out)
    content = Content(board, sources, settings or Settings(), tuple(texts), frozen)
    pages = make_pages(content)
    about = {
        "schema_version": 1,
        "neuroarena": __version__,
        "title": content.title,
        "snapshot": sources.snapshot,
        "last_update": sources.updated.isoformat(timespec="seconds"),
        "simulated": board.simulated,
        "frozen": frozen,
        "pages": [f"{page.address}.html" for page in pages],
    }
    with building(out) as folder:
        _write_pages(folder, content, pages)
        _write_json(folder / ABOUT, about)
        (folder / "CITATION.cff").write_text(write_citation(content), encoding="utf-8")
        (folder / SUMS).write_text(_sum_files(folder), encoding="utf-8")
        _put_in_place(folder, out)
    return about


def make_pages(content: Content) -> list[Page]:
    """Make every page of a site, the first page first."""
    texts = [
        Page(
            text.slug,
            text.title,
            "text.html.j2",
            {"html": text.html},
            {"title": text.title, "html": text.html},
        )
        for text in content.texts
    ]
    over_tracks = make_standings_pages(content)
    return [
        make_overview(content, over_tracks),
        *make_board_pages(content),
        *over_tracks,
        *make_entry_pages(content),
        make_method(content),
        *texts,
    ]


def _check_target(out: Path) -> None:
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    try:
        about = json.loads((out / ABOUT).read_text(encoding="utf-8"))
        frozen = bool(about["frozen"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{out}: there is something here that is not a site, and it was left alone. Name a new folder."
        ) from error
    if frozen:
        raise InputError(f"{out}: this site is frozen, and it was left alone. Name a new folder.")


def _write_pages(folder: Path, content: Content, pages: Sequence[Page]) -> None:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("neuroarena.board.site"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Only for what `render_markdown` made: it has no HTML of the author in it.
    environment.filters["rendered"] = Markup
    about = _describe_site(content)
    for page in pages:
        stem = folder / page.address
        stem.parent.mkdir(parents=True, exist_ok=True)
        html = environment.get_template(page.template).render(
            page=page, site=about, root=page.root, **page.view
        )
        stem.with_name(f"{stem.name}.html").write_text(html, encoding="utf-8")
        _write_json(stem.with_name(f"{stem.name}.json"), page.data)
        for name, table in page.tables.items():
            _write_table(stem.with_name(f"{stem.name}.{name}" if name else stem.name), table)
    assets = folder / "assets"
    assets.mkdir()
    for name in ASSETS:
        (assets / name).write_bytes(files(__package__).joinpath("assets", name).read_bytes())


def _describe_site(content: Content) -> dict[str, Any]:
    sources, settings = content.sources, content.settings
    return {
        "title": content.title,
        "description": settings.description,
        "snapshot": sources.snapshot,
        "short": sources.short,
        "updated": f"{sources.updated:%Y-%m-%d %H:%M} UTC",
        "simulated": content.board.simulated,
        "frozen": content.frozen,
        "version": __version__,
        "policy": POLICY,
        "repository": None if settings.repository is None else str(settings.repository),
        "licence": settings.licence,
        "texts": [{"address": text.slug, "title": text.title} for text in content.texts],
    }


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1, allow_nan=False, ensure_ascii=False) + "\n", encoding="utf-8")


def _write_table(stem: Path, table: pd.DataFrame) -> None:
    csv = table.to_csv(index=False, lineterminator="\n")
    stem.with_name(f"{stem.name}.csv").write_text(csv, encoding="utf-8")
    table.to_parquet(stem.with_name(f"{stem.name}.parquet"), index=False)


def _sum_files(folder: Path) -> str:
    """Return the SHA-256 of every file, as ``sha256sum --check`` reads it."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return "".join(f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names)


def _put_in_place(folder: Path, out: Path) -> None:
    """Rename the new folder to its place; the old one goes into the place of the new, and is removed with it."""
    if not out.exists():
        os.replace(folder, out)
        return
    aside = folder.with_name(f"{folder.name}.old")
    os.replace(out, aside)
    try:
        os.replace(folder, out)
    except OSError:
        os.replace(aside, out)
        raise
    os.replace(aside, folder)
