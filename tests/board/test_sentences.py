"""What boards say in words, at the edges: a shared lead, too few levels, unbounded intervals, seeds of some teams."""

from __future__ import annotations

import dataclasses
import io
import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from entry_making import make_entry, make_manifest
from neuroarena.board import Board, Entry, Rules, export, print_board
from neuroarena.board.exports import latex, verdict_table
from neuroarena.board.plots import caption, pair_matrix
from neuroarena.board.report import render_report
from neuroarena.board.site.leads import describe_lead
from neuroarena.board.terminal import make_console
from neuroarena.board.verdict_plots import difference_plot
from neuroarena.board.wording import (
    alpha_words,
    bounds_text,
    levels_words,
    pair_p_text,
    verdict,
    verdict_words,
)
from neuroarena.cli.comparing import Pairs, choose_pairs, describe_pairs

QUICK = Rules(n_draws=60)
RISING, FALLING = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.6, 0.5, 0.4, 0.3, 0.2, 0.1]


def board_of(*entries: Entry, **rules: object) -> Board:
    return Board(entries, Rules(n_draws=60, **rules))


def words_of(board: Board) -> list[str]:
    ranking = board.everything[0]
    return [
        row[-1] for row in describe_pairs(ranking, choose_pairs(ranking, None, Pairs.all, False), alone=False)
    ]


def three_apart(n_units: int) -> dict[str, list[float]]:
    """Return three teams whose differences are the same on every unit: on six units they prove too little."""
    return {"a": [0.5] * n_units, "b": [0.4] * n_units, "c": [0.2] * n_units}


def make_suite(n_tasks: int, n_people: int, teams: int = 3, shared: bool = False) -> list[Entry]:
    """Make teams that differ clearly, on tasks that share their people or have their own."""
    rng = np.random.default_rng(0)
    entries = []
    for task in range(n_tasks):
        people = [f"p{at}" if shared else f"t{task}p{at}" for at in range(n_people)]
        manifest = make_manifest(f"task{task}", cluster="person")
        for team in range(teams):
            scores = 0.3 + 0.2 * team / teams + rng.normal(0, 0.01, n_people)
            entry = make_entry(
                f"team{team}", scores.tolist(), task=f"task{task}", manifest=manifest, clusters=people
            )
            own = entry.unit_scores.assign(unit=people)
            entries.append(dataclasses.replace(entry, unit_scores=own))
    return entries


# ---------------------------------------------------------------- who leads


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ({"a": RISING, "b": FALLING}, "a and b share the lead: Accuracy 0.350; a is better than 0 of 1; undecided: b."),
        (
            {"a": RISING, "b": FALLING, "c": RISING},
            "a, b and c share the lead: Accuracy 0.350; a is better than 0 of 2; identical: c; undecided: b.",
        ),
        (
            {"a": RISING[:4], "b": FALLING[2:], "c": RISING[:4]},
            "a, b and c share the lead: Accuracy 0.250. There are no verdicts here.",
        ),
        (
            {"a": [0.5] * 6, "b": [0.5] * 6},
            "a and b share the lead: Accuracy 0.500 [0.500, 0.500]; identical on every unit.",
        ),
        ({"a": [0.5] * 6}, "Only a is ranked: Accuracy 0.500 [0.500, 0.500]."),
    ],
)  # fmt: skip
def test_nobody_leads_alone_who_shares_the_first_rank(scores, said):
    board = board_of(*(make_entry(team, values) for team, values in scores.items()))
    assert verdict(board.rankings[0]) == said


@pytest.mark.parametrize(
    ("scores", "rope", "team", "words"),
    [
        ({"a": RISING, "b": FALLING}, None, "a and b share the lead", "The lead is not settled against the other"),
        ({"a": RISING, "b": RISING}, None, "a and b share the lead", "No lead that matters: equivalent to the other"),
        (three_apart(6), 0.3, "a leads", "The lead is not settled against 2 of 2 others"),
        (three_apart(12), None, "a leads", "The lead is real: better than all 2 others"),
        ({"a": [0.5] * 4, "b": [0.5] * 4}, None, "a and b share the lead", "No verdict is possible"),
    ],
)  # fmt: skip
def test_a_site_says_whether_there_is_a_lead_that_matters(scores, rope, team, words):
    board = board_of(*(make_entry(name, values) for name, values in scores.items()), rope=rope)
    lead = describe_lead(board.rankings[0])
    assert (f"{lead.team} {lead.verb}", lead.words) == (team, words)


# ---------------------------------------------------------------- too few levels


def test_one_independent_level_is_named_in_the_singular():
    board = board_of(make_entry("a", [0.7]), make_entry("b", [0.6]))
    assert words_of(board) == ["no verdict: one independent level, 6 needed"]
    assert alpha_words(board.rankings[0]) == "no pair can be judged; one independent level"


def test_a_board_without_verdicts_does_not_say_what_verdicts_hold_for():
    few = board_of(make_entry("a", [0.7] * 4), make_entry("b", [0.6, 0.5, 0.6, 0.5]))
    enough = board_of(make_entry("a", RISING), make_entry("b", FALLING))
    assert few.notes == ("Training noise not measured.",)
    assert enough.notes == ("Training noise not measured: verdicts hold for these trained models.",)


def test_on_these_tasks_alone_too_few_sessions_are_not_called_tasks():
    (whole,) = board_of(*make_suite(6, 4, shared=True)).overall
    assert whole.decides
    words = {verdict_words(row, whole) for row in whole.on_these_tasks.itertuples()}
    assert words == {"no verdict: 4 independent sessions, 6 needed"}


@pytest.mark.parametrize("teams", [1, 2])
def test_tasks_with_too_few_people_have_no_interval_together_either(teams):
    (whole,) = board_of(*make_suite(3, 4, teams)).overall
    assert whole.n_units == 12
    assert not whole.decides
    assert whole.table[["ci95_low", "ci95_high", "letters"]].isna().all(axis=None)
    (enough,) = board_of(*make_suite(3, 6, teams)).overall
    assert enough.table[["ci95_low", "ci95_high", "letters"]].notna().all(axis=None)


def test_what_is_fixed_is_named_where_every_unit_is_a_level_too():
    (whole,) = board_of(*make_suite(3, 6, shared=True)).overall
    assert levels_words(whole) == "6 units; for these 3 tasks"


# ---------------------------------------------------------------- numbers and words


def test_a_printed_p_is_on_the_same_side_of_alpha_as_the_verdict():
    (ranking,) = board_of(make_entry("a", RISING), make_entry("b", FALLING)).rankings
    shown = {p: pair_p_text(ranking, p) for p in (0.0496, 0.05, 0.0504, 0.05000001, 0.2)}
    assert shown == {0.0496: "0.050", 0.05: "0.050", 0.0504: "0.0504", 0.05000001: "0.05000001", 0.2: "0.200"}


def test_an_interval_that_excludes_0_does_not_show_0():
    assert bounds_text(0.0002, 0.05) == "[0.0002, 0.050]"
    assert bounds_text(-0.00003, 0.05) == "[-0.00003, 0.050]"
    assert bounds_text(0.0, 0.05) == "[0.000, 0.050]"


def test_a_pair_is_undecided_for_its_company_only_if_it_would_be_decided_alone():
    rng = np.random.default_rng(4)
    teams = [
        make_entry(f"t{at}", (np.array(RISING) + rng.normal(0.02 * at, 0.02, 6)).tolist()) for at in range(4)
    ]
    ranking = board_of(*teams, alpha=0.01).rankings[0]
    rows = list(ranking.judgements.itertuples())
    between = [row for row in rows if 0.01 < row.p <= 0.05]
    assert between, "the example should have a pair whose own 95 % interval excludes 0"
    for row in rows:
        told = verdict_words(row, ranking)
        assert ("once all" in told) == (row.verdict == "undecided" and row.p <= 0.01)


def test_the_same_difference_on_every_level_is_unbounded_where_it_is_undecided():
    teams = [make_entry(f"t{at}", (np.array(RISING) + 0.01 * at).tolist()) for at in range(5)]
    board = board_of(*teams)
    (ranking,) = board.rankings
    assert set(ranking.judgements["verdict"]) == {"undecided"}
    page = render_report(board)
    assert "unbounded" in page
    # How far the leader is ahead is known; that the interval has no end is said beside the pair.
    assert describe_lead(ranking).ahead == "0.010 ahead of t3"
    assert "inf]" not in page
    axes = difference_plot(ranking).axes[0]
    across = [line for line in axes.lines if list(line.get_xdata()) == [0, 1] and line.get_linewidth() == 4]
    assert len(across) == 4


def test_the_matrix_shows_the_verdict_and_p_of_every_pair():
    board = board_of(make_entry("a", RISING), make_entry("b", RISING), make_entry("c", FALLING))
    texts = [text.get_text() for text in pair_matrix(board.rankings[0]).axes[0].texts]
    assert texts.count("p 1.000") == 3
    far = board_of(make_entry("a", (np.array(RISING) + 0.3).tolist()), make_entry("b", RISING))
    assert {".300*", "p .031"} <= {text.get_text() for text in pair_matrix(far.rankings[0]).axes[0].texts}


def test_letters_of_the_challenges_rule_are_not_explained_as_those_of_verdicts():
    entries = [make_entry("a", RISING), make_entry("b", FALLING)]
    ours, seed = board_of(*entries), board_of(*entries, inference="seed")
    exactly = "two teams share a letter exactly when neither is better"
    for text in (latex, render_report):
        assert exactly in text(ours)
        assert exactly not in text(seed)
    assert "none is better" not in caption("groups", seed.rankings[0])


# ---------------------------------------------------------------- training seeds


def trained(entry: Entry, n_seeds: int, rng: np.random.Generator) -> Entry:
    """Return an entry as if it had been trained several times."""
    scores = entry.unit_scores["score"].to_numpy()
    each = [
        entry.unit_scores.assign(score=scores + rng.normal(0, 0.01) + rng.normal(0, 0.01, len(scores)))
        for _ in range(n_seeds)
    ]
    mean = entry.unit_scores.assign(score=np.mean([one["score"] for one in each], axis=0))
    return dataclasses.replace(entry, unit_scores=mean, repeats=tuple(each))


def test_training_noise_is_told_once_and_of_whom_it_is_true():
    rng = np.random.default_rng(0)
    several = [trained(make_entry(name, (np.array(RISING) + shift).tolist()), n, rng)
               for name, shift, n in (("a", 0.3, 3), ("b", 0.2, 5))]  # fmt: skip
    once = make_entry("once", RISING)
    mixed, all_ = board_of(*several, once), board_of(*several)
    assert levels_words(all_.rankings[0]) == "6 units; 3 to 5 training seeds"
    assert levels_words(mixed.rankings[0]) == "6 units; training noise not measured for some teams"
    output = io.StringIO()
    print_board(mixed, make_console(file=output, width=160))
    assert output.getvalue().count("raining noise not measured") == 2  # the heading, and by name below
    assert mixed.notes == (
        'Training noise not measured for "once": verdicts on it hold for this trained model.',
    )


# ---------------------------------------------------------------- many teams


@pytest.mark.drill
def test_above_300_teams_all_tables_of_a_suite_hold_leader_and_neighbours_and_the_export_all(tmp_path):
    board = Board(make_suite(6, 2, teams=301), Rules(n_draws=10, mean_rank=True))
    whole = json.loads(board.to_json())["rankings"][0]
    for pairs in (whole["pairs"], whole["on_these_tasks"], whole["mean_ranks"]["pairs"]):
        found = [(row["team_a"], row["team_c"]) for row in pairs]
        order = [found[0][0], *(c for a, c in found if a == found[0][0])]
        assert len(order) == 301
        assert set(found) == {(order[0], team) for team in order[1:]} | set(pairwise(order))
    export(board, "verdicts", tmp_path / "pairs.parquet")
    kept = pd.read_parquet(tmp_path / "pairs.parquet", columns=["kind"])["kind"].value_counts()
    n_pairs = 301 * 300 // 2
    assert kept.to_dict() == {
        "task": 6 * n_pairs,
        "overall": n_pairs,
        "on these tasks": n_pairs,
        "mean rank": n_pairs,
    }


@pytest.mark.drill
def test_the_page_says_how_many_pairs_of_a_second_table_it_leaves_out():
    board = Board(make_suite(6, 6, teams=12, shared=True), QUICK)
    assert (verdict_table(board)["kind"] == "on these tasks").sum() == 66
    assert "the first 60 of 66 shown" in render_report(board).split("On these tasks alone")[1][:300]
