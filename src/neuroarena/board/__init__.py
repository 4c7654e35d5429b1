"""Boards: rankings that say which differences are real, as table, file, plot and page.

What draws (matplotlib, jinja2) is loaded when it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from neuroarena.board.board import Board, records
from neuroarena.board.entries import FLOORS, ROLES, Entry, Role, entries_from_results
from neuroarena.board.faces import own_standings
from neuroarena.board.ranking import Ranking
from neuroarena.board.rules import Rules
from neuroarena.board.sizing import Resolution, resolution, size, size_text
from neuroarena.board.standings import Standings, points_board, transfer_board
from neuroarena.board.wording import p_text

if TYPE_CHECKING:
    from neuroarena.board.exports import EXPORTS as EXPORTS
    from neuroarena.board.exports import export as export
    from neuroarena.board.plots import save_plots as save_plots
    from neuroarena.board.report import render_report as render_report
    from neuroarena.board.report import write_report as write_report
    from neuroarena.board.terminal import print_board as print_board
    from neuroarena.board.terminal import print_standings as print_standings

_HOMES = {
    "EXPORTS": "exports",
    "export": "exports",
    "print_board": "terminal",
    "print_standings": "terminal",
    "render_report": "report",
    "save_plots": "plots",
    "write_report": "report",
}

__all__ = [
    "EXPORTS",
    "FLOORS",
    "ROLES",
    "Board",
    "Entry",
    "Ranking",
    "Resolution",
    "Role",
    "Rules",
    "Standings",
    "entries_from_results",
    "export",
    "own_standings",
    "p_text",
    "points_board",
    "print_board",
    "print_standings",
    "records",
    "render_report",
    "resolution",
    "save_plots",
    "size",
    "size_text",
    "transfer_board",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
