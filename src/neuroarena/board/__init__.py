"""Boards: rankings that say which differences are real, as tables, files, plots and pages.

Drawing libraries (matplotlib, jinja2) are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neuroarena.board.board import Board, records
from neuroarena.board.entries import FLOORS, ROLES, Entry, Role, entries_from_results
from neuroarena.board.faces import own_standings
from neuroarena.board.ranking import Ranking
from neuroarena.board.rules import Rules
from neuroarena.board.sizing import Resolution, resolution, size, size_text
from neuroarena.board.standings import Standings, points_board, transfer_board
from neuroarena.board.trees import Tree
from neuroarena.board.wording import p_text
from neuroarena.lazily import lazy_names

if TYPE_CHECKING:
    from neuroarena.board.exports import EXPORTS as EXPORTS
    from neuroarena.board.exports import export as export
    from neuroarena.board.plots import save_plots as save_plots
    from neuroarena.board.report import render_report as render_report
    from neuroarena.board.report import write_report as write_report
    from neuroarena.board.terminal import print_board as print_board
    from neuroarena.board.terminal import print_standings as print_standings
    from neuroarena.board.tree_views import print_tree as print_tree

_MODULES = {
    ".exports": ("EXPORTS", "export"),
    ".plots": ("save_plots",),
    ".report": ("render_report", "write_report"),
    ".terminal": ("print_board", "print_standings"),
    ".tree_views": ("print_tree",),
}
__getattr__, __dir__, _later = lazy_names(__name__, _MODULES)

__all__ = [
    "FLOORS",
    "ROLES",
    "Board",
    "Entry",
    "Ranking",
    "Resolution",
    "Role",
    "Rules",
    "Standings",
    "Tree",
    "entries_from_results",
    "own_standings",
    "p_text",
    "points_board",
    "records",
    "resolution",
    "size",
    "size_text",
    "transfer_board",
    *_later,
]
