"""What the people behind a site say about it: a title, authors, and pages in Markdown."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, HttpUrl, ValidationError

from neuroarena.board.site.names import make_slug
from neuroarena.errors import InputError

FILE = "site.toml"
# Addresses that the site itself uses.
RESERVED = ("index", "method", "boards", "entries", "assets", "data", "files")
LARGEST_PAGE = 2**20


class Settings(BaseModel):
    """What ``site.toml`` may say.

    Parameters
    ----------
    title, description : str
    authors : tuple of str
        Who is cited.
    url, repository : str, optional
        Where the site is, and where its sources are.
    licence : str, optional
        Of the pages and tables, as an SPDX name.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    title: str = ""
    description: str = ""
    authors: tuple[str, ...] = ()
    url: HttpUrl | None = None
    repository: HttpUrl | None = None
    licence: str | None = None


@dataclass(frozen=True)
class TextPage:
    """A page that somebody wrote: its address, its title, and its text as HTML without any of theirs."""

    slug: str
    title: str
    html: str


def read_settings(folder: Path | None) -> tuple[Settings, tuple[TextPage, ...]]:
    """Read ``site.toml`` and every ``*.md`` of a folder.

    Raises
    ------
    InputError
        Naming the file, when it cannot be read or has a name that the site itself uses.
    """
    if folder is None:
        return Settings(), ()
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder. Expected {FILE} and pages in Markdown.")
    pages = tuple(_read_page(path) for path in sorted(folder.glob("*.md")))
    return _read_toml(folder / FILE), pages


def _read_toml(path: Path) -> Settings:
    if not path.is_file():
        return Settings()
    try:
        return Settings.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: cannot be read as TOML: {error}.") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise InputError(
            f'{path}: "{field}": {first["msg"]}; expected one of {", ".join(Settings.model_fields)}.'
        ) from error


def _read_page(path: Path) -> TextPage:
    slug = make_slug(path.stem)
    if slug in RESERVED or not slug:
        raise InputError(f"{path}: the site has a page of this name already; rename the file.")
    if path.stat().st_size > LARGEST_PAGE:
        raise InputError(f"{path}: a page has at most {LARGEST_PAGE // 2**20} MB.")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: this page is not UTF-8 text; save it as such.") from error
    first = next((line for line in text.splitlines() if line.startswith("# ")), "")
    return TextPage(slug, first.removeprefix("# ").strip() or path.stem, render_markdown(text))


def render_markdown(text: str) -> str:
    """Return Markdown as HTML; HTML inside it is shown as text, and only links to the web or the site become links.

    Examples
    --------
    >>> render_markdown("**a** <b>")
    '<p><strong>a</strong> &lt;b&gt;</p>\\n'
    """
    from markdown_it import MarkdownIt

    return str(MarkdownIt("commonmark", {"html": False}).enable("table").disable("image").render(text))
