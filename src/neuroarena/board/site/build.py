"""From pages to a folder: rendered, written beside the old one, and put in its place at once."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from neuroarena import __version__
from neuroarena.atomic import building
from neuroarena.board.board import Board
from neuroarena.board.site.citation import write_citation
from neuroarena.board.site.contents import list_pages
from neuroarena.board.site.pages import Content, Page
from neuroarena.board.site.rendering import describe_site, read_assets, render_files, render_json
from neuroarena.board.site.settings import Settings, TextPage
from neuroarena.board.site.sources import Sources
from neuroarena.errors import InputError

ABOUT = "site.json"
SUMS = "SHA256SUMS"


def build_site(
    board: Board,
    sources: Sources,
    out: Path,
    *,
    settings: Settings | None = None,
    texts: Sequence[TextPage] = (),
    attachments: Mapping[str, Path] | None = None,
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
    attachments : mapping of str to Path, optional
        Files beside these pages, by their address, as :func:`list_attachments` returns them.
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
    pages = [make() for make in list_pages(content).values()]
    about = {
        "schema_version": 1,
        "neuroarena": __version__,
        "title": content.title,
        "snapshot": sources.snapshot,
        "last_update": sources.updated.isoformat(timespec="seconds"),
        "simulated": content.simulated,
        "frozen": frozen,
        "pages": [f"{page.address}.html" for page in pages],
    }
    with building(out) as folder:
        _write_pages(folder, content, pages)
        for address, path in (attachments or {}).items():
            (folder / address).parent.mkdir(parents=True, exist_ok=True)
            (folder / address).write_bytes(path.read_bytes())
        (folder / ABOUT).write_text(render_json(about), encoding="utf-8")
        (folder / "CITATION.cff").write_text(write_citation(content), encoding="utf-8")
        (folder / SUMS).write_text(_sum_files(folder), encoding="utf-8")
        _put_in_place(folder, out)
    return about


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
    about = describe_site(content)
    written = chain.from_iterable(render_files(page, about) for page in pages)
    for address, content_of_file in chain(written, read_assets().items()):
        place = folder / address
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content_of_file)


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
