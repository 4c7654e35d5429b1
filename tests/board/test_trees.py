"""The tree of a suite: means of means, intervals carried up, and nothing where a task is missing."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

from entry_making import make_entry, make_manifest
from neuroarena.board import Board, Rules, print_tree, render_report
from neuroarena.scoring import Overall
from neuroarena.statistics.trees import SharedLevels, carry_interval, correlate_shared, fix_shared_tasks

PARENTS = {"edges": "early", "colour": "early", "faces": "late", "early": "whole", "late": "whole"}
TASKS = ("edges", "colour", "faces")
QUICK = Rules(n_draws=200)


@pytest.fixture(autouse=True)
def _a_suite_that_is_a_tree(monkeypatch):
    tree = Overall(kind="tree", parents=PARENTS)
    for module in ("suites", "trees"):
        monkeypatch.setattr(f"neuroarena.board.{module}.overall_of", lambda family: tree)


def entries(without=(), n_units=12, seed=0, **gains):
    """Three tasks with units of their own; a team is better by its gain on each."""
    rng = np.random.default_rng(seed)
    made = []
    for task in TASKS:
        for team, gain in (gains or {"a": 0.2, "b": 0.1, "c": 0.0}).items():
            if (team, task) not in without:
                scores = (0.5 + gain + rng.normal(0, 0.05, n_units)).tolist()
                made.append(make_entry(team, scores, task=task))
    return made


def grown(*arguments, **options):
    (tree,) = Board(entries(*arguments, **options), QUICK).trees
    return tree


def shown(tree, width=100):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    print_tree(tree, console)
    return console.file.getvalue()


def test_a_node_is_the_mean_of_its_children_and_its_variance_the_sum_of_theirs_over_k_squared():
    board = Board(entries(), QUICK)
    (tree,) = board.trees
    row = {one.node: one for one in tree.table[tree.table["team"] == "a"].itertuples()}
    own = {one.task: one.table.set_index("team").loc["a"] for one in board.rankings}
    assert row["early"].score == pytest.approx((own["edges"]["score"] + own["colour"]["score"]) / 2)
    assert row["whole"].score == pytest.approx((row["early"].score + own["faces"]["score"]) / 2)
    for end in ("ci95_low", "ci95_high"):
        distance = {task: abs(each[end] - each["score"]) for task, each in own.items()}
        early = np.hypot(distance["edges"], distance["colour"]) / 2
        assert abs(getattr(row["early"], end) - row["early"].score) == pytest.approx(early)
        whole = np.hypot(early, distance["faces"]) / 2
        assert abs(getattr(row["whole"], end) - row["whole"].score) == pytest.approx(whole)
    assert row["faces"].ci95_low == own["faces"]["ci95_low"]
    assert tree.node("whole")["team"].tolist() == ["a", "b", "c"]
    assert tree.node("whole")["letters"].tolist() == ["a", "b", "c"]
    assert board.overall == ()
    assert set(tree.verdicts["whole"]["scope"]) == {
        "random: 12 levels or more in each task; for these 3 tasks"
    }


def test_a_missing_task_leaves_no_number_above_it_and_is_named():
    tree = grown(without={("b", "colour")})
    row = tree.table.set_index(["node", "team"])
    for node in ("whole", "early", "colour"):
        assert np.isnan(row.loc[(node, "b"), "score"])
        assert row.loc[(node, "b"), "missing"] == "colour"
    assert row.loc[("late", "b"), "rank"] == 2
    assert row.loc[("whole", "c"), "rank"] == 2
    text = shown(tree)
    assert "not ranked  b: no result on colour" in text
    assert tree.teams == ["a", "c", "b"]


def test_a_task_that_nobody_has_is_named_once():
    tree = grown(without={(team, "faces") for team in "abc"})
    assert tree.notes == ("There is no result on faces, so the nodes above have no score.",)
    assert tree.node("whole")["score"].isna().all()
    assert tree.node("early")["score"].notna().all()


def test_tasks_with_too_few_levels_give_scores_without_intervals_or_letters():
    tree = grown(n_units=4)
    whole = tree.node("whole")
    assert whole["score"].notna().all()
    assert whole[["ci95_low", "ci95_high", "letters"]].isna().all(axis=None)
    assert "edges, colour, faces has no interval" in " ".join(tree.notes).replace(
        "colour, edges", "edges, colour"
    )


def test_a_node_with_one_task_says_what_the_task_says():
    board = Board(entries(), QUICK)
    (tree,) = board.trees
    faces = next(one for one in board.rankings if one.task == "faces")
    assert tree.verdicts["late"] is faces.judgements
    letters = dict(zip(faces.table["team"], faces.table["letters"], strict=True))
    assert dict(zip(tree.node("late")["team"], tree.node("late")["letters"], strict=True)) == letters


def test_equally_good_teams_share_a_letter_at_the_root():
    tree = grown(seed=3, a=0.0, b=0.0)
    assert tree.node("whole")["letters"].tolist() == ["a", "a"]
    assert tree.verdicts["whole"]["verdict"].tolist() == ["undecided"]


def test_tasks_in_different_directions_have_no_tree_and_it_is_said():
    wrong = make_manifest("faces", metric="nrmse", prediction="number", classes=())
    lower = make_entry("a", [0.5] * 8, task="faces", manifest=wrong)
    board = Board([*(one for one in entries() if one.task != "faces"), lower], QUICK)
    assert board.trees == ()
    assert any("higher is better on some tasks" in note for note in board.notes)


def test_the_terminal_shows_every_node_whatever_the_width_and_the_page_and_json_the_same_numbers():
    board = Board(entries(), QUICK)
    (tree,) = board.trees
    score = f"{tree.node('whole')['score'].iloc[0]:.3f}"
    for width in (60, 100, 200):
        text = shown(tree, width)
        assert all(node.name in text for node in tree.nodes)
        assert score in text
        assert max(map(len, text.splitlines())) <= width
    assert score in render_report(board)
    nodes = {each["name"]: each for each in board.to_dict()["trees"][0]["nodes"]}
    assert f"{nodes['whole']['table'][0]['score']:.3f}" == score
    assert nodes["early"]["tasks"] == {"edges": 0.5, "colour": 0.5}
    assert len(nodes["whole"]["pairs"]) == 3


def test_shared_levels_widen_the_interval_of_the_mean():
    weights, score = np.full(2, 0.5), np.array([0.4, 0.6])
    low, high = score - 0.2, score + 0.2
    assert carry_interval(weights, score, low, high) == pytest.approx(
        (0.5 - 0.1 * 2**0.5, 0.5 + 0.1 * 2**0.5)
    )
    assert carry_interval(weights, score, low, high, np.ones((2, 2))) == pytest.approx((0.3, 0.7))
    opposite = np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert carry_interval(weights, score, low, high, opposite) == pytest.approx((0.5, 0.5))


def test_tasks_on_the_same_images_vary_together():
    """Simulate two tasks that share images; the error of their mean is what it is over new images."""
    rng = np.random.default_rng(0)
    n_images, n_tasks = 40, 2
    errors, carried, independent = [], [], []
    for _ in range(300):
        images = rng.normal(0, 1, n_images)
        cells = images[:, None] + rng.normal(0, 0.5, (n_images, n_tasks))
        errors.append(cells.mean())
        counts = rng.multinomial(n_images, np.full(n_images, 1 / n_images), 400) / n_images
        se = cells.std(axis=0, ddof=1) / np.sqrt(n_images)
        shared = [SharedLevels("images", ("a",), counts @ cells[:, [at]], se[[at]]) for at in range(n_tasks)]
        bounds = (cells.mean(axis=0) - se, cells.mean(axis=0) + se)
        halves = np.full(2, 0.5), cells.mean(axis=0), *bounds
        low, high = carry_interval(*halves, correlate_shared(shared, "a"))
        carried.append((high - low) / 2)
        low, high = carry_interval(*halves)
        independent.append((high - low) / 2)
    assert np.mean(carried) == pytest.approx(np.std(errors), rel=0.1)
    assert np.mean(independent) < 0.85 * np.std(errors)


def test_the_difference_of_two_teams_on_shared_images_is_judged_with_what_the_images_share():
    rng = np.random.default_rng(1)
    board = Board(entries(), QUICK)
    moments = {one.task: one.moments for one in board.rankings if one.task != "faces"}
    teams = moments["edges"].teams
    drawn = rng.normal(size=(500, 3)) * 0.01
    shared = {task: SharedLevels("images", teams, drawn, np.full(3, 0.02)) for task in moments}
    weights = {"edges": 0.5, "colour": 0.5}
    alone = fix_shared_tasks(moments, {}, weights)
    both = fix_shared_tasks(moments, shared, weights)
    first, second = both.above[0], both.below[0]
    place = [teams.index(both.teams[at]) for at in (first, second)]
    together = np.var(drawn[:, place[0]] - drawn[:, place[1]], ddof=1)
    assert both.se[0] ** 2 == pytest.approx(alone.se[0] ** 2 + 0.5 * together)
