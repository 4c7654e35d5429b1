"""No two surfaces of a board ever disagree: terminal, page, compare, CSV and JSON are parsed and compared."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from surfaces import see_compare, see_csv, see_html, see_json, see_terminal

from entry_making import ERROR_RATE, make_entry, make_manifest
from neuroarena.board import Board, Rules, export
from neuroarena.scoring import METRICS

RULES = Rules(n_draws=60)


def make_board(draw: st.DrawFn, rules: Rules = RULES) -> Board:
    """Draw a board: a few teams of various levels, copies among them, clustered or not, higher or lower is better."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_teams, n_people = draw(st.integers(1, 6)), draw(st.sampled_from([1, 2, 4, 6, 8, 12]))
    sessions = draw(st.sampled_from([1, 1, 3]))
    n_units = n_people * sessions
    clusters = [f"person {at // sessions}" for at in range(n_units)]
    nu = draw(st.sampled_from([None, 0.02, 0.2]))
    ratio = draw(st.booleans())
    changes = {"metric": ERROR_RATE.name, "chance": None} if ratio else {}
    manifest = make_manifest(cluster="person", **({} if nu is None else {"nu": nu}), **changes)
    hardness = np.repeat(rng.normal(0.5, 0.1, n_people), sessions) + rng.normal(0, 0.05, n_units)
    entries, before = [], None
    for at in range(n_teams):
        level = draw(st.sampled_from([0.0, 0.01, 0.05, 0.3]))
        scores = np.clip(hardness + level + rng.normal(0, 0.03, n_units), 0.01, 0.99)
        if before is not None and draw(st.integers(0, 4)) == 0:
            scores = before + draw(st.sampled_from([0.0, 0.0, 0.005]))
        before = scores
        more = {"columns": {"errors": (10 * scores).tolist()}} if ratio else {}
        entries.append(make_entry(f"team{at}", scores.tolist(), manifest=manifest, clusters=clusters, **more))
    return Board(entries, rules)


boards = st.composite(make_board)


def check_surfaces(board: Board) -> None:
    terminal, page, table, plain = see_terminal(board), see_html(board), see_csv(board), see_json(board)
    for other in (page, table, plain):
        assert other[:4] == terminal[:4]
    for shown in (terminal, page):
        if len(plain.order) > 1 or shown is page:  # a terminal says nothing about a team alone
            assert plain.sentence in shown.sentence
        for team, numbers in shown.numbers.items():
            for exact in (table.numbers[team], plain.numbers[team]):
                np.testing.assert_allclose(numbers, exact, rtol=0, atol=0.00051)
            # A p that is printed as 0.050 would have a star on one board and none on another.
            assert np.isnan(numbers[3]) or (numbers[3] <= board.rules.alpha) == shown.stars[team]
    assert page.better == table.better == plain.better
    assert page.verdicts == table.verdicts == plain.verdicts == see_compare(board)


def check_properties(board: Board) -> None:
    """Hold every row to section 6 of the specification of inference."""
    (ranking,) = board.rankings
    shared = dict(zip(ranking.table["team"], ranking.table["letters"], strict=True))
    place = {team: at for at, team in enumerate(ranking.table["team"])}
    nu = ranking.manifest.nu
    for row in ranking.verdicts.itertuples():
        assert place[row.a] < place[row.c]
        if row.verdict == "none":
            assert row.n_levels < 6
            assert shared[row.a] is None is shared[row.c]
            assert np.isnan([row.p, row.p_holm, *row.ci95, *row.judged]).all()
            continue
        low, high = row.judged
        better = row.verdict == "better"
        assert better == (row.p_holm <= 0.05 * (1 + 1e-12)) == (low > 0)
        assert better == set(shared[row.a]).isdisjoint(shared[row.c])
        assert 0 < row.p <= row.p_holm <= 1
        assert low <= row.ci95[0] <= row.delta <= row.ci95[1] <= high
        if row.verdict == "equivalent":
            assert (row.delta == 0 == row.se) or (nu is not None and -nu <= low <= high <= nu)
    for row in ranking.table.itertuples():
        assert np.isnan(row.ci95_low) or row.ci95_low <= row.score <= row.ci95_high
        assert row.rank_low <= row.rank <= row.rank_high


@pytest.fixture(autouse=True, scope="module")
def _error_rate():
    METRICS._registered[ERROR_RATE.name] = ERROR_RATE
    yield
    del METRICS._registered[ERROR_RATE.name]


@settings(max_examples=6, deadline=None)
@given(boards())
def test_no_two_surfaces_disagree_and_every_row_keeps_its_properties(board):
    check_properties(board)
    check_surfaces(board)


@settings(max_examples=15, deadline=None)
@given(boards())
def test_every_row_of_a_random_board_keeps_its_properties(board):
    check_properties(board)


@pytest.mark.drill
@settings(max_examples=80, deadline=None)
@given(boards())
def test_no_two_surfaces_disagree_on_many_boards(board):
    check_properties(board)
    check_surfaces(board)


@pytest.mark.drill
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_the_surfaces_of_the_challenges_rule_do_not_disagree_either(data):
    board = make_board(data.draw, Rules(n_draws=60, inference="seed", pairs="all"))
    terminal, page, table, plain = see_terminal(board), see_html(board), see_csv(board), see_json(board)
    for other in (page, table, plain):
        assert other[:2] == terminal[:2]
        assert other.stars == terminal.stars
    assert page.better == table.better == plain.better


def test_above_300_teams_page_and_json_hold_leader_and_neighbours_and_the_export_all(tmp_path):
    rng = np.random.default_rng(0)
    board = Board(
        [make_entry(f"t{at:03d}", rng.normal(0.5 + at / 900, 0.02, 8).tolist()) for at in range(301)],
        Rules(n_draws=50),
    )
    (ranking,) = json.loads(board.to_json())["rankings"]
    order = [row["team"] for row in ranking["table"]]
    shown = {(row["team_a"], row["team_c"]) for row in ranking["pairs"]}
    assert shown == {(order[0], team) for team in order[1:]} | set(pairwise(order))
    assert ranking["pairs_shown"] == "leader and neighbours"
    assert ranking["n_pairs"] == 301 * 300 // 2
    assert all(row["letters"] is None for row in ranking["table"])
    export(board, "verdicts", tmp_path / "pairs.parquet")
    rows = pd.read_parquet(tmp_path / "pairs.parquet")
    assert len(rows) == ranking["n_pairs"]
    decided = rows[rows["verdict"] == "better"]
    won = decided["team_a"].value_counts()
    for row in ranking["table"]:
        assert row["rank_high"] == 301 - won.get(row["team"], 0)
