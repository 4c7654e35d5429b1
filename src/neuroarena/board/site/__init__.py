"""A board as a folder of pages that outlives its server: read from a disk, put on any host, archived with a paper.

A page is data first: sources become a `Content`, `list_pages` says which pages it has and makes each on demand, as a
`Page` (view, data, tables), and `render_html` or `render_files` turn one into bytes. A build writes all of them; a
server renders the one that is asked for, with the same templates.
"""

from __future__ import annotations

from neuroarena.board.site.build import build_site
from neuroarena.board.site.contents import list_pages
from neuroarena.board.site.pages import Content, Page
from neuroarena.board.site.rendering import (
    describe_site,
    make_environment,
    read_assets,
    render_files,
    render_html,
    render_json,
)
from neuroarena.board.site.repositories import write_repository
from neuroarena.board.site.settings import Settings, read_settings
from neuroarena.board.site.sources import Sources, read_sources

__all__ = [
    "Content",
    "Page",
    "Settings",
    "Sources",
    "build_site",
    "describe_site",
    "list_pages",
    "make_environment",
    "read_assets",
    "read_settings",
    "read_sources",
    "render_files",
    "render_html",
    "render_json",
    "write_repository",
]
