"""Boards over several tracks have a page of their own, with the numbers of the board."""

from __future__ import annotations

import json

import pandas as pd

from entry_making import suite
from neuroarena.board import Board, Rules, Standings
from neuroarena.board.site import Sources, build_site


def test_a_board_that_a_family_offers_over_its_tasks_has_a_page(tmp_path, monkeypatch):
    entries = suite()
    board = Board(entries, Rules(n_draws=400))
    table = pd.DataFrame({"rank": [1, 2], "team": list(board.teams[:2]), "score": [100.0, 12.5]})
    nobody = pd.DataFrame({"team": ["late"], "reason": ["not on onset"]}, dtype=object)
    made = Standings("Over tracks", "the mean rank", table, nobody, ("onset", "speech"))
    # The face of a family: one board that can be made, and one that cannot.
    monkeypatch.setattr(
        "neuroarena.board.site.standings_pages.own_standings", lambda rankings: {"x": made, "y": "no encoder"}
    )
    build_site(board, Sources(tuple(entries), (), "ab" * 32, {"results": 1}), tmp_path / "site")
    page = (tmp_path / "site/boards/over-x.html").read_text()
    assert "the mean rank" in page
    assert "12.500" in page
    assert "not on onset" in page
    assert json.loads((tmp_path / "site/boards/over-x.json").read_text())["table"][1]["score"] == 12.5
    assert 'href="boards/over-x.html"' in (tmp_path / "site/index.html").read_text()
    assert not (tmp_path / "site/boards/over-y.html").exists()
