"""A board as a folder of pages that outlives its server: read from a disk, put on any host, archived with a paper.

Pages are data first (:mod:`neuroarena.board.site.pages`), then templates, then files.
"""

from __future__ import annotations

from neuroarena.board.site.build import build_site
from neuroarena.board.site.repositories import write_repository
from neuroarena.board.site.settings import Settings, read_settings
from neuroarena.board.site.sources import Sources, read_sources

__all__ = ["Settings", "Sources", "build_site", "read_settings", "read_sources", "write_repository"]
