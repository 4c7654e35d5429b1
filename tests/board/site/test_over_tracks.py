"""Boards over several tracks have a page of their own, with the numbers of the board."""

from __future__ import annotations

import dataclasses
import json

import pandas as pd

from entry_making import suite
from neuroarena.board import Board, Rules, Standings
from neuroarena.board.site import Sources, build_site
from neuroarena.board.site.contests import Contest, Heat
from neuroarena.board.site.leads import Lead
from neuroarena.board.site.standings_pages import describe_overall_lead


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
    assert f"<b>{board.teams[0]}</b> leads with 100.000" in page
    assert f"87.500 ahead of {board.teams[1]}" in page
    assert "no verdict of their own" in page
    assert "not on onset" in page
    assert json.loads((tmp_path / "site/boards/over-x.json").read_text())["table"][1]["score"] == 12.5
    assert 'href="boards/over-x.html"' in (tmp_path / "site/index.html").read_text()
    assert not (tmp_path / "site/boards/over-y.html").exists()


def test_equal_teams_over_tracks_share_the_lead_and_a_tie_break_is_called_one():
    def lead(ranks: list[int], points: list[float]) -> Lead:
        table = pd.DataFrame({"rank": ranks, "team": list("abc"), "all_tracks": points})
        return describe_overall_lead(Standings("Points", "", table, table.head(0), ("x",)))

    shared = lead([1, 1, 3], [0.5, 0.5, 0.1])
    assert (shared.team, shared.verb, shared.ahead) == ("a and b", "share the lead", "")
    assert lead([1, 2, 3], [0.5, 0.5, 0.1]).ahead == "as high as b, before it by the tie-break"
    assert lead([1, 2, 3], [0.5, 0.4, 0.1]).ahead == "0.100 ahead of b"


def make_heat(track: str, **fields) -> Heat:
    said = {"title": f"{track} · Final", "track": track, "phase": "Final", "benchmark": f"demo@1/{track}"}
    told = {"split": "within", "metric": "AUROC", "direction": "higher", "scored": 2, "received": 2}
    return Heat(label=f"spring: {track}, final", **said, **told, **fields)


def test_a_competition_has_a_board_over_its_tracks_where_scores_are_public(tmp_path):
    chosen = [entry for entry in suite() if entry.split == "within" and entry.task in ("onset", "speech")]
    entries = [dataclasses.replace(one, split=f"spring: {one.task}, final") for one in chosen]
    contest = Contest(
        name="spring",
        title="Spring",
        contact="spring@example.org",
        as_of=max(one.time for one in entries),
        teams=2,
        phases=(),
        # Nothing was handed in on the third track: it counts 0 for everybody.
        heats=(make_heat("onset"), make_heat("speech"), make_heat("typing", shown=())),
        manifests={},
        entries=(),
    )
    sources = Sources(tuple(entries), (), "ab" * 32, {"results": 1}, (contest,))
    build_site(Board(entries, Rules(n_draws=400, prizes=True)), sources, tmp_path / "site")
    said = json.loads((tmp_path / "site/boards/over-spring-final.json").read_text())
    assert said["title"] == "All tracks · Final"
    rows = [
        (row["team"], row["onset"], row["submitted"], round(row["all_tracks"], 6)) for row in said["table"]
    ]
    assert rows == [("fancy", 1.0, 1.0, 0.666667), ("plain", 0.0, 0.0, 0.0)]
    assert 'href="boards/over-spring-final.html"' in (tmp_path / "site/index.html").read_text()
