"""Rankings worked out by hand, and what must hold for every ranking."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entry_making import crowd, make_entry, make_manifest
from neuroarena.board import Board, Rules
from neuroarena.board.wording import levels_words, verdict
from neuroarena.statistics import compare, rank_stability, tie_groups

QUICK = Rules(n_draws=400)
SEED = Rules(n_draws=400, inference="seed")


def hand_board(rules: Rules = QUICK) -> Board:
    """Four units. c: 3/4; b, d: 2/4 with tie-break 0.7; a: 2/4 with tie-break 0.6."""
    manifest = make_manifest(tie_break="macro_f1")

    def entry(team, scores, tie_break, **fields):
        return make_entry(team, scores, manifest=manifest, columns={"tie_break": [tie_break] * 4}, **fields)

    return Board(
        [
            entry("a", [1.0, 1.0, 0.0, 0.0], 0.6),
            entry("b", [0.0, 0.0, 1.0, 1.0], 0.7),
            entry("c", [1.0, 1.0, 1.0, 0.0], 0.1),
            entry("d", [0.0, 0.0, 1.0, 1.0], 0.7),
        ],
        rules,
    )


@pytest.mark.parametrize("rules", [QUICK, SEED])
def test_equal_scores_are_ordered_by_the_tie_break_and_equals_in_both_share_the_rank(rules):
    table = hand_board(rules).rankings[0].table
    assert table["team"].tolist() == ["c", "b", "d", "a"]
    assert table["rank"].tolist() == [1, 2, 2, 4]
    assert table["score"].tolist() == [0.75, 0.5, 0.5, 0.5]
    assert table["tie_break"].tolist() == pytest.approx([0.1, 0.7, 0.7, 0.6])
    assert table["delta_leader"].tolist() == [0.0, 0.25, 0.25, 0.25]
    assert table["delta_next"].tolist()[:3] == [0.25, 0.0, 0.0]
    assert np.isnan(table["delta_next"].iloc[3])
    assert table["prize"].tolist() == [1, 2, 2, 4]
    # The same units: b minus d is 0 in every draw, so they cannot be told apart and p is 1.
    assert table["seed_p_holm"].iloc[1] == 1.0
    assert not table["seed_significant"].iloc[1]


def test_an_interval_that_can_be_counted_is_counted_right():
    # Two units 0 and 1: a draw is 0, 1/2 or 1 with probability 1/4, 1/2, 1/4; the tails reach 0 and 1.
    table = Board([make_entry("a", [0.0, 1.0])], SEED).rankings[0].table
    assert table[["score", "ci95_low", "ci95_high"]].to_numpy().tolist() == [[0.5, 0.0, 1.0]]


def test_the_table_of_the_seeds_rule_says_what_its_statistics_say():
    ranking = Board(crowd(), SEED).rankings[0]
    table, draws = ranking.table.set_index("team"), ranking.draws
    stable = rank_stability(draws).loc[table.index]
    for ours, theirs in (("p_top1", "top1"), ("p_top3", "top3"), ("p_top5", "top5")):
        assert np.array_equal(table[ours], stable[theirs])
    for name in ("rank_low", "rank_high"):
        assert np.allclose(table[name].astype(float), stable[name], atol=1e-12)
    assert table["seed_tie_group"].to_dict() == tie_groups(draws).to_dict()
    bounds = draws.interval().set_index("team").loc[table.index]
    assert np.array_equal(table["ci95_low"], bounds["low"])
    assert np.array_equal(table["ci95_high"], bounds["high"])
    leader = compare(draws, "leader").set_index("team_c")
    for team in table.index[1:]:
        assert table.loc[team, "delta_leader_low"] == leader.loc[team, "ci95_low"]
        assert table.loc[team, "delta_leader"] == leader.loc[team, "delta_point"]


def test_the_score_is_the_mean_over_units_of_the_mean_over_folds():
    # Unit x: folds 0 and 1 -> 0.5; unit y: one fold -> 1. The mean of units is 0.75, of rows 0.667.
    entry = make_entry("a", [0.0, 1.0, 1.0])
    entry.unit_scores["unit"] = ["x", "x", "y"]
    entry.unit_scores["fold"] = ["0", "1", "0"]
    entry.unit_scores["cluster"] = "one"
    assert Board([entry], QUICK).rankings[0].table["score"].tolist() == [0.75]


def test_lower_is_better_is_shown_in_its_own_direction_and_ranked_right(error_rate):
    def entry(team, errors):
        rates = [error / 10 for error in errors]
        return make_entry(team, rates, manifest=error_rate, columns={"errors": errors})

    worse, better = [2.0, 4.0, 3.0, 3.0], [1.0, 1.0, 0.0, 2.0]
    ranking = Board([entry("worse", worse), entry("better", better)], SEED).rankings[0]
    table = ranking.table
    assert table["team"].tolist() == ["better", "worse"]
    assert table["score"].tolist() == pytest.approx([4 / 40, 12 / 40])
    assert (table["ci95_low"] <= table["score"]).all()
    assert (table["score"] <= table["ci95_high"]).all()
    assert table["delta_leader"].tolist() == pytest.approx([0.0, 8 / 40])
    assert table["delta_next"].iloc[0] == pytest.approx(8 / 40)
    assert ranking.unit_scores["better"].tolist() == pytest.approx([0.1, 0.1, 0.0, 0.2])
    assert ranking.metric_title == "Error rate (%)"


def test_a_ratio_is_combined_from_sums_and_not_averaged(error_rate):
    # 1 of 10 and 30 of 100: 31/110, where the mean of rates would be 0.2.
    entry = make_entry("a", [0.1, 0.3], manifest=error_rate, columns={"errors": [1.0, 30.0], "n": [10, 100]})
    assert Board([entry], QUICK).rankings[0].table["score"].tolist() == pytest.approx([31 / 110])


def test_floors_and_organisers_stand_where_they_are_and_take_no_prize(crowd_board):
    table = crowd_board.rankings[0].table.set_index("team")
    assert table.loc["hosts", "rank"] == 1
    for team in ("hosts", "guess", "logistic"):
        assert table["prize"].isna()[team]
    # alpha and its copy share rank 2 on the board and prize 1.
    assert table.loc["alpha", "rank"] == 2 == table.loc["alpha again", "rank"]
    assert table.loc["alpha", "prize"] == 1 == table.loc["alpha again", "prize"]
    assert sorted(table["prize"].dropna().tolist()) == [1, 1, 3, 4, 5]
    assert table.loc["hosts", "notes"] == "after the deadline"


def test_two_teams_with_a_floor_between_them_are_compared_all_the_same(crowd_board):
    pairs = crowd_board.rankings[0].seed_pairs
    compared = set(zip(pairs["team_a"], pairs["team_c"], strict=True))
    order = crowd_board.rankings[0].table["team"].tolist()
    between = order[order.index("logistic") - 1], order[order.index("logistic") + 1]
    assert between in compared


@pytest.mark.parametrize(
    ("teams", "words"),
    [
        (("a", "b"), "a and b share the lead: Accuracy 0.560 [0.535, 0.585]; identical on every unit."),
        (("a", "b", "c", "d"), "a, b and 2 more share the lead: "),
    ],
)
def test_identical_leaders_share_the_lead_in_words(teams, words):
    scores = np.linspace(0.5, 0.62, 12)
    ranking = Board([make_entry(team, scores) for team in teams], Rules(n_draws=200)).rankings[0]
    assert verdict(ranking).startswith(words)
    with_another = [make_entry(team, scores) for team in teams] + [make_entry("zz", scores - 0.1)]
    assert verdict(Board(with_another, Rules(n_draws=200)).rankings[0]).endswith(
        "identical on every unit; better than 1 of 1."
    )


def test_a_rule_that_judges_neighbours_alone_counts_only_whom_it_compared():
    scores = np.linspace(0.5, 0.62, 40)
    board = Board([make_entry(team, scores - 0.05 * at) for at, team in enumerate("abc")], SEED)
    assert verdict(board.rankings[0]).endswith("; better than 1 of 1 compared.")


def test_one_person_is_one_level_in_words():
    manifest = make_manifest(cluster="person")
    entries = [make_entry(team, [0.5, 0.6], manifest=manifest, clusters=["p", "p"]) for team in "ab"]
    assert levels_words(Board(entries, QUICK).rankings[0]) == "2 units of one independent level"


def test_leaders_of_equal_scores_on_different_units_are_undecided():
    one = np.linspace(0.5, 0.62, 12)
    ranking = Board([make_entry("a", one), make_entry("b", one[::-1])], Rules(n_draws=200)).rankings[0]
    assert verdict(ranking).endswith("better than 0 of 1; undecided: b.")


def test_a_copy_is_never_told_apart_from_the_original(crowd_board):
    ranking = crowd_board.rankings[0]
    pairs = ranking.seed_pairs
    row = pairs[(pairs["team_a"] == "alpha") & (pairs["team_c"] == "alpha again")].iloc[0]
    assert (row["delta"], row["ci95_low"], row["ci95_high"], row["p_boot"]) == (0.0, 0.0, 0.0, 1.0)
    own = ranking.verdict_of("alpha again", "alpha").iloc[0]
    assert (own["delta"], own["p"], own["judged"], own["verdict"]) == (0.0, 1.0, (0.0, 0.0), "equivalent")
    assert np.array_equal(
        ranking.draws.scores[:, ranking.draws.position("alpha")],
        ranking.draws.scores[:, ranking.draws.position("alpha again")],
    )


@pytest.mark.parametrize("pairs", ["neighbours", "leader", "all"])
def test_holm_is_made_over_the_pairs_of_the_seeds_rules(pairs):
    ranking = Board(crowd(), Rules(n_draws=400, pairs=pairs, inference="seed")).rankings[0]
    n = len(ranking.table)
    expected = {"leader": n - 1, "all": n * (n - 1) // 2}
    if pairs in expected:
        assert len(ranking.pairs) == expected[pairs]
    column = "p_holm_leader" if pairs == "leader" else "p_holm"
    assert ranking.table[column].notna().sum() == n - 1
    if pairs == "all":
        assert ranking.table["p_holm_leader"].notna().sum() == n - 1


@given(st.permutations(range(len(crowd()))))
def test_the_order_of_the_entries_changes_nothing(order):
    entries = crowd()
    straight = Board(entries, Rules(n_draws=60)).to_json()
    assert Board([entries[at] for at in order], Rules(n_draws=60)).to_json() == straight


def test_rows_in_another_order_give_the_same_board():
    entries, mixed = crowd(), crowd()
    for entry in mixed:
        shuffled = entry.unit_scores.sample(frac=1, random_state=1).reset_index(drop=True)
        object.__setattr__(entry, "unit_scores", shuffled)
    assert Board(entries, QUICK).to_json() == Board(mixed, QUICK).to_json()


def test_clusters_are_drawn_where_the_manifest_names_them_and_only_there():
    clusters = ["p", "p", "q", "q"]
    named = make_entry("a", [0.1, 0.2, 0.8, 0.9], manifest=make_manifest(cluster="person"), clusters=clusters)
    unnamed = make_entry("a", [0.1, 0.2, 0.8, 0.9], clusters=clusters)
    assert Board([named], QUICK).rankings[0].draws.recipe["n_clusters"] == 2
    assert Board([unnamed], QUICK).rankings[0].draws.recipe["n_clusters"] is None
    off = Rules(n_draws=400, cluster=False)
    assert Board([named], off).rankings[0].draws.recipe["n_clusters"] is None


@pytest.mark.parametrize("rules", [QUICK, SEED])
def test_one_team_on_one_unit_has_a_score_and_no_interval(rules):
    ranking = Board([make_entry("a", [0.7])], rules).rankings[0]
    row = ranking.table.iloc[0]
    assert (row["rank"], row["score"]) == (1, 0.7)
    assert pd.isna(row["ci95_low"])
    assert pd.isna(row["p_top1"])
    assert any("only one" in warning for warning in ranking.warnings)


def test_one_unit_proves_nothing_between_two_teams():
    ranking = Board([make_entry("a", [0.7]), make_entry("b", [0.2])], QUICK).rankings[0]
    assert ranking.table["team"].tolist() == ["a", "b"]
    assert ranking.table["delta_next"].iloc[0] == pytest.approx(0.5)
    assert ranking.table["p_holm"].isna().all()
    assert ranking.table["significant"].isna().all()
    assert ranking.seed_pairs.empty
    assert ranking.pairs["verdict"].tolist() == ["none"]
    assert ranking.pairs["p"].isna().all()


FEW = [
    (SEED, [0.5, 0.6] * 10, {}, "fewer than 30"),
    (SEED, [0.5, 0.6], {}, "very few"),
    (SEED, [0.5, 0.6] * 20, {"cluster": "person"}, "belong to 1 cluster (person)"),
    (QUICK, [0.2, 0.9] * 20, {"nu": 0.001}, "above the 0.001 aimed at"),
    (QUICK, [0.5, 0.6, 0.7, 0.5], {}, "4 independent sessions: no interval, 6 needed."),
    (
        QUICK,
        [0.5, 0.6] * 20,
        {"cluster": "person"},
        "only one independent level: no verdict, 6 people needed.",
    ),
]


@pytest.mark.parametrize(("rules", "scores", "manifest", "words"), FEW)
def test_a_board_warns_of_what_it_cannot_tell(rules, scores, manifest, words):
    clusters = ["p"] * len(scores) if "cluster" in manifest else None
    entry = make_entry("a", scores, manifest=make_manifest(**manifest), clusters=clusters)
    assert any(words in warning for warning in Board([entry], rules).rankings[0].warnings)


def test_a_large_board_without_flaws_warns_of_nothing():
    entry = make_entry("a", [0.5, 0.6] * 20, manifest=make_manifest(nu=0.1))
    ranking = Board([entry], QUICK).rankings[0]
    assert ranking.warnings == ()
    assert ranking.resolution.meets is True


def test_tracks_do_not_share_their_randomness():
    board = Board([make_entry("a", [0.0, 1.0] * 4, task=task) for task in ("onset", "pitch")], QUICK)
    first, second = (ranking.draws.scores for ranking in board.rankings)
    assert not np.array_equal(first, second)
