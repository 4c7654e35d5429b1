"""Boards over several tasks: overall, points, transfer, and sizing."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from scipy import stats

from entry_making import make_entry, make_manifest
from neuroarena.board import Board, Rules, points_board, size, size_text, transfer_board
from neuroarena.board.entries import Judge
from neuroarena.board.report import render_report
from neuroarena.board.selection import select
from neuroarena.board.sizing import resize
from neuroarena.board.terminal import overview_table, ranking_view
from neuroarena.board.training_seeds import seed_scores
from neuroarena.board.wording import verdict_words
from neuroarena.errors import InputError
from neuroarena.statistics import transfer_score

QUICK = Rules(n_draws=200)


def test_the_overall_score_of_a_unit_is_its_mean_over_the_tasks():
    board = Board(
        [
            make_entry("a", [0.5, 0.7], task="onset"),
            make_entry("a", [0.9, 0.9], task="pitch"),
            make_entry("b", [0.6, 0.6], task="onset"),
            make_entry("b", [0.6, 0.8], task="pitch"),
        ],
        QUICK,
    )
    [overall] = board.overall
    # a: u00 (0.5 + 0.9) / 2 = 0.7, u01 0.8, mean 0.75; b: 0.6 and 0.7, mean 0.65.
    assert overall.unit_scores["a"].tolist() == pytest.approx([0.7, 0.8])
    assert overall.unit_scores["b"].tolist() == pytest.approx([0.6, 0.7])
    assert overall.table["score"].tolist() == pytest.approx([0.75, 0.65])
    # The difference is 0.1 on both units, so in every draw; two units are too few for a verdict, whatever they say.
    assert overall.seed_pairs["ci95_low"].iloc[0] == pytest.approx(0.1)
    assert overall.table["seed_p_holm"].iloc[0] == 0
    assert overall.table["verdict_next"].iloc[0] == "none"
    assert pd.isna(overall.table["significant"].iloc[0])
    assert overall.benchmark == "toy@1"


def test_a_team_without_all_tasks_is_listed_with_the_missing_ones():
    board = Board(
        [
            make_entry("a", [0.5, 0.7], task="onset"),
            make_entry("a", [0.9, 0.9], task="pitch"),
            make_entry("b", [0.6, 0.6], task="onset"),
            make_entry("c", [0.6, 0.6], task="onset", reason="boom"),
            make_entry("c", [0.6, 0.6], task="pitch"),
        ],
        QUICK,
    )
    [overall] = board.overall
    assert overall.table["team"].tolist() == ["a"]
    assert dict(overall.unranked.itertuples(index=False)) == {
        "b": "not ranked on 1 of 2 tasks: pitch",
        "c": "not ranked on 1 of 2 tasks: onset",
    }


def test_tasks_that_cannot_be_averaged_have_no_overall_and_it_is_said():
    other = make_entry("a", [0.5] * 2, task="pitch", manifest=make_manifest("pitch", metric="macro_f1"))
    board = Board([make_entry("a", [0.5, 0.7]), other], QUICK)
    assert board.overall == ()
    assert "one metric" in board.notes[0]


def many_tasks(n_tasks: int, n_units: int, own: bool, seed: int = 0) -> list:
    """Make two teams on tasks that share their units, or have units of their own."""
    rng = np.random.default_rng(seed)
    entries = []
    for task in (f"task-{at}" for at in range(n_tasks)):
        hardness = rng.normal(0.6, 0.05, n_units)
        for team, gain in (("a", 0.08), ("b", 0.0)):
            made = make_entry(team, (hardness + gain + rng.normal(0, 0.02, n_units)).tolist(), task=task)
            if own:
                names = [f"{task} {unit}" for unit in made.unit_scores["unit"]]
                made.unit_scores["unit"] = made.unit_scores["cluster"] = names
            entries.append(made)
    return entries


SUITES = [
    (6, 8, False, "random: 6 tasks x 8 sessions", "random: 8 sessions; for these 6 tasks"),
    (6, 4, False, "random: 6 tasks; for these 4 sessions", "random: 4 sessions; for these 6 tasks"),
    (3, 8, False, "random: 8 sessions; for these 3 tasks", None),
    (6, 4, True, "random: 6 tasks", "random: 4 levels or more in each task; for these 6 tasks"),
    (3, 8, True, "random: 8 levels or more in each task; for these 3 tasks", None),
]


@pytest.mark.parametrize(("n_tasks", "n_units", "own", "scope", "fixed"), SUITES)
def test_a_suite_says_what_its_verdicts_are_about(n_tasks, n_units, own, scope, fixed):
    [overall] = Board(many_tasks(n_tasks, n_units, own), QUICK).overall
    assert overall.verdicts["scope"].tolist() == [scope]
    assert overall.verdicts["verdict"].tolist() == ["better"]
    assert overall.verdicts["delta"].iloc[0] == pytest.approx(overall.table["delta_leader"].iloc[1])
    bounds = overall.table[["ci95_low", "score", "ci95_high"]].to_numpy()
    assert (np.diff(bounds, axis=1) > 0).all()
    second = overall.on_these_tasks
    assert (None if second is None else second["scope"].iloc[0]) == fixed
    if fixed is not None:
        assert second["verdict"].tolist() == ["none" if "4" in fixed.partition(";")[0] else "better"]


@pytest.mark.parametrize(("own", "scope"), [(True, ""), (False, "; for these 8 sessions")])
def test_a_suite_is_judged_by_mean_rank_where_the_rules_ask_for_it(own, scope):
    entries = many_tasks(7, 8, own, seed=1)
    # c is better than a on one task and worst on the others.
    for task in range(7):
        first = next(one for one in entries if one.benchmark.endswith(f"task-{task}"))
        scores = first.unit_scores["score"].to_numpy() + (0.2 if task == 3 else -0.2)
        entries.append(replace(first, team="c", unit_scores=first.unit_scores.assign(score=scores)))
    assert Board(entries, QUICK).overall[0].mean_ranks is None
    rules = QUICK.model_copy(update={"mean_rank": True})
    board = Board(entries, rules)
    [overall] = board.overall
    ranks = np.array([[1, 2, 3]] * 3 + [[2, 3, 1]] + [[1, 2, 3]] * 3)
    found = overall.mean_ranks
    assert found.table["team"].tolist() == ["a", "b", "c"]
    assert found.table["mean_rank"].tolist() == pytest.approx(ranks.mean(axis=0))
    rows = found.verdicts.set_index(["a", "c"])
    assert set(rows["scope"]) == {f"random: 7 tasks{scope}"}
    assert rows.loc[("a", "c"), "delta"] == pytest.approx((ranks[:, 2] - ranks[:, 0]).mean())
    paired = stats.sem(ranks[:, 2] - ranks[:, 0])
    assert rows.loc[("a", "c"), "se"] == pytest.approx(paired)
    # One task ahead of b on every one: the same difference everywhere has p 2^-6 and is judged as such.
    assert rows.loc[("a", "b"), "p"] == pytest.approx(2.0**-6)
    for row in rows.itertuples():
        letters = found.table.set_index("team")["letters"]
        apart = not set(letters[row.Index[0]]) & set(letters[row.Index[1]])
        assert apart == (row.verdict == "better")
    [plain] = [one["mean_ranks"] for one in board.to_dict()["rankings"] if one["mean_ranks"]]
    assert plain["table"][0]["mean_rank"] == pytest.approx(8 / 7)
    assert "By mean rank over 7 tasks" in render(overall)
    if own:  # a page with all its plots takes seconds
        assert "By mean rank over 7 tasks" in render_report(board)
    assert Board(many_tasks(5, 8, own), rules).overall[0].mean_ranks is None


def render(ranking) -> str:
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(ranking_view(ranking, 120))
    return console.export_text()


def test_one_task_has_no_overall():
    assert Board([make_entry("a", [0.5, 0.7])], QUICK).overall == ()


def test_tasks_and_splits_stand_in_the_order_asked_for(suite_board):
    assert [ranking.split for ranking in suite_board.overall] == ["within", "cross"]
    assert [ranking.task for ranking in suite_board.rankings[:3]] == ["onset", "speech", "volume"]
    with pytest.raises(InputError, match="onset within"):
        suite_board.ranking("pitch", "within")


def three_tracks() -> list:
    """img: a > b > c; bci: b > a, without c; a floor stands first on img."""
    img = {"a": 0.9, "b": 0.8, "c": 0.7}
    entries = [make_entry(team, [score, score - 0.01], task="img") for team, score in img.items()]
    entries.append(make_entry("floor", [0.99, 0.99], task="img", role="classical"))
    entries += [make_entry(team, [score] * 2, task="bci") for team, score in {"a": 0.6, "b": 0.7}.items()]
    return entries


def test_points_by_hand():
    board = points_board(Board(three_tracks(), QUICK).rankings)
    rows = board.table.set_index("team")
    # img, N = 3: a 1, b 1/2, c 0. bci, N = 2: b 1, a 0. The floor has no points and moves nobody.
    assert rows.loc["a", ["img", "bci", "submitted", "all_tracks"]].tolist() == [1.0, 0.0, 0.5, 0.5]
    assert rows.loc["b", ["img", "bci", "submitted", "all_tracks"]].tolist() == [0.5, 1.0, 0.75, 0.75]
    assert rows.loc["c", ["submitted", "all_tracks", "n_tracks"]].tolist() == [0.0, 0.0, 1]
    assert np.isnan(rows.loc["c", "bci"])
    assert board.table["team"].tolist() == ["b", "a", "c"]
    assert board.table["rank"].tolist() == [1, 2, 3]
    assert "floor" not in rows.index


def test_transfer_by_hand():
    rankings = Board(three_tracks(), QUICK).rankings
    board = transfer_board(rankings)
    rows = board.table.set_index("team")
    # Among a and b: img ranks 1, 2; bci ranks 2, 1: mean rank 1.5 each, 100 (1 - 0.5 / 1) = 50.
    assert rows["mean_rank"].to_dict() == {"a": 1.5, "b": 1.5}
    assert rows["score"].to_dict() == {"a": 50.0, "b": 50.0}
    assert rows["rank"].to_dict() == {"a": 1, "b": 1}
    # The differences are the same on every unit: no draw turns them round.
    assert rows[["seed_ci95_low", "seed_ci95_high"]].to_numpy().tolist() == [[50.0, 50.0]] * 2
    # Two units a track: no verdict on any of them.
    assert board.table["against_leader"].tolist() == ["", "better on 0 of 2 tracks, worse on 0"]
    by_seed = transfer_board(Board(three_tracks(), Rules(n_draws=200, inference="seed")).rankings)
    assert by_seed.table[["ci95_low", "ci95_high"]].to_numpy().tolist() == [[50.0, 50.0]] * 2
    assert dict(board.unranked.itertuples(index=False)) == {"c": "not on bci"}
    assert "N = 2 encoders" in board.rule
    expected = transfer_score({one.task: one.draws for one in rankings})
    assert set(expected.left_out) == {"c", "floor"}


@pytest.mark.parametrize("make", [points_board, transfer_board])
def test_a_board_over_tracks_says_on_how_many_the_verdict_is_for_or_against_the_leader(make):
    board = Board(many_tasks(4, 8, own=True), QUICK)
    standings = make(board.rankings)
    assert standings.table["team"].tolist() == ["a", "b"]
    won = sum((one.verdicts["verdict"] == "better").sum() for one in board.rankings)
    assert won == 4
    assert standings.table["against_leader"].tolist() == ["", "better on 0 of 4 tracks, worse on 4"]
    if make is transfer_board:
        assert standings.table["p_top1"].iloc[0] > 0.9


@pytest.mark.parametrize("make", [points_board, transfer_board])
def test_a_board_over_no_tracks_or_twice_the_same_is_refused(make):
    ranking = Board([make_entry("a", [0.5, 0.7])], QUICK).rankings[0]
    with pytest.raises(InputError, match="at least one"):
        make([])
    with pytest.raises(InputError, match="twice"):
        make([ranking, ranking])


def test_sizing_by_hand():
    # 1.96 * 0.2 / sqrt(100) = 0.0392; (1.96 * 0.2 / 0.0196)^2 = 400; two scores: 0.0392 sqrt(2).
    found = size(0.2, 0.0196, 100)
    assert found.half_width == pytest.approx(0.0392)
    assert found.required_units == 400
    assert found.meets is False
    assert found.smallest_difference == pytest.approx(0.0392 * 2**0.5)
    assert any("400 units" in line and "fewer" in line for line in size_text(found))


def test_the_resolution_of_a_board_is_that_of_its_draws():
    entries = [make_entry(team, [0.2, 0.9, level] * 20) for team, level in (("a", 0.5), ("b", 0.4))]
    ranking = Board(entries, Rules(n_draws=4000)).rankings[0]
    found = ranking.resolution
    # With independent units the bootstrap error is sigma / sqrt(n), whatever the number of draws, nearly.
    expected = np.median([np.std(ranking.unit_scores[team]) for team in ("a", "b")])
    assert found.sigma == pytest.approx(expected, rel=0.05)
    assert found.half_width == pytest.approx(1.96 * expected / 60**0.5, rel=0.05)
    assert found.paired
    width = ranking.pairs["judged_high"] - ranking.pairs["judged_low"]
    assert found.smallest_difference == pytest.approx(width.iloc[0] / 2)


def test_the_resolution_counts_people_and_not_their_units_as_the_boards_interval_does():
    people = [f"p{number}" for number in range(8) for _ in range(6)]
    levels = [0.3 + 0.05 * number for number in range(8) for _ in range(6)]
    ranking = Board([make_entry("a", levels, clusters=people)], QUICK).rankings[0]
    row = ranking.table.iloc[0]
    assert ranking.resolution.half_width == pytest.approx((row["ci95_high"] - row["ci95_low"]) / 2)


def test_how_many_units_are_needed_is_read_off_the_intervals_that_the_board_shows():
    rng = np.random.default_rng(3)
    entries = [make_entry(team, rng.normal(0.5, 0.1, 12), manifest=make_manifest(nu=0.02)) for team in "abc"]
    found = Board(entries, QUICK).rankings[0].resolution
    assert found.df == 11
    assert found.width_at(12) == pytest.approx(found.half_width)
    assert found.sigma == pytest.approx(found.half_width * 12**0.5 / stats.t.ppf(0.975, 11))
    # The smallest number that is enough: one fewer is not.
    assert found.width_at(found.required_units) <= 0.02 < found.width_at(found.required_units - 1)
    assert found.width_at(48) == pytest.approx(stats.t.ppf(0.975, 47) * found.sigma / 48**0.5)
    # Asking for as many units as there are changes nothing; with those that are needed, the aim is met.
    assert resize(found, None, None, 12).half_width == pytest.approx(found.half_width)
    assert resize(found, None, None, found.required_units).meets is True
    assert resize(found, None, None, found.required_units - 1).meets is False


def test_a_wide_aim_needs_six_people_all_the_same():
    people = [f"p{number}" for number in range(8) for _ in range(6)]
    levels = [0.3 + 0.01 * number for number in range(8) for _ in range(6)]
    entry = make_entry("a", levels, clusters=people, manifest=make_manifest(nu=0.9))
    assert Board([entry], QUICK).rankings[0].resolution.required_units == 36


def test_below_six_people_no_half_width_is_claimed_where_no_interval_is_shown():
    people = [f"p{number}" for number in range(4) for _ in range(6)]
    scores = [0.3 + 0.01 * number for number in range(24)]
    entries = [make_entry(team, scores, clusters=people, manifest=make_manifest(nu=0.001)) for team in "ab"]
    ranking = Board(entries, QUICK).rankings[0]
    assert np.isnan(ranking.table["ci95_low"]).all()
    assert ranking.resolution.half_width is None
    assert not any("not the order" in warning for warning in ranking.warnings)


def test_a_board_without_letters_does_not_ask_to_read_them():
    rng = np.random.default_rng(0)
    said = {}
    for n_teams in (3, 301):
        entries = [
            make_entry(f"t{at}", rng.normal(0.5, 0.1, 8), manifest=make_manifest(nu=0.001))
            for at in range(n_teams)
        ]
        ranking = Board(entries, Rules(n_draws=10)).rankings[0]
        said[n_teams] = (ranking.table["letters"].notna().any(), " ".join(ranking.warnings))
    assert said[3][0]
    assert "read the letters, not the order" in said[3][1]
    assert not said[301][0]
    assert "read the range of ranks of each team, not the order" in said[301][1]


@pytest.mark.parametrize(
    ("rope", "words"), [(0.05, "better, by 0.05 or more"), (0.5, "better, by 0.5 at most")]
)
def test_a_real_difference_is_held_against_the_one_that_matters(rope, words):
    low = np.linspace(0.4, 0.6, 20)
    high = low + 0.1 + 0.01 * np.resize([-1, 1], 20)
    ranking = Board([make_entry("a", high), make_entry("b", low)], Rules(rope=rope, n_draws=200)).rankings[0]
    assert [verdict_words(row, ranking) for row in ranking.pairs.itertuples()] == [words]


def test_units_that_do_not_differ_have_no_resolution_to_speak_of():
    ranking = Board([make_entry("a", [0.5] * 40)], QUICK).rankings[0]
    assert ranking.resolution.half_width is None
    assert size_text(ranking.resolution)[0].startswith("The deviation of a unit score cannot be estimated")


def pooled(team: str, task: str, people: list[str], errors: list[float], family: str = "eeg2025"):
    """Make an entry whose metric pools people: nRMSE, over targets 0 and 2 for every person."""
    table = pd.DataFrame(
        {
            "unit": people,
            "fold": "0",
            "cluster": people,
            "n": 2,
            "score": errors,
            "sse": [2 * error**2 for error in errors],
            "sum_y": 2.0,
            "sum_y2": 4.0,
        }
    )
    rules = make_manifest(task, metric="nrmse", prediction="number", classes=(), chance=1.0)
    made = make_entry(team, [0.5], task=task, manifest=rules)
    return replace(made, benchmark=f"{family}@1/{task}", unit_scores=table)


PEOPLE = [f"p{at}" for at in range(12)]


def test_a_suite_with_weights_is_ranked_by_its_weighted_overall():
    levels = {"a": (0.9, 1.0), "b": (0.5, 1.1), "c": (0.5, 1.1)}
    entries = []
    for team, (first, second) in levels.items():
        entries.append(pooled(team, "response-time", PEOPLE, [first] * 12))
        # Two people have no factor, and two more have no response time.
        entries.append(pooled(team, "externalizing", [*PEOPLE[2:], "q0", "q1"], [second] * 12))
        entries.append(pooled(team, "p-factor", PEOPLE, [0.1] * 12))
    entries = [one for one in entries if (one.team, one.task) != ("c", "externalizing")]
    board = Board(entries, QUICK)
    [overall] = board.overall
    # The spread of the targets is 1, so an error is its nRMSE: 0.3 x 0.9 + 0.7 x 1.0, 0.3 x 0.5 + 0.7 x 1.1.
    assert overall.table.set_index("team")["score"].to_dict() == pytest.approx({"a": 0.97, "b": 0.92})
    assert overall.table["team"].tolist() == ["b", "a"]
    assert overall.manifest.question == "The weighted mean 0.3 x response-time + 0.7 x externalizing."
    assert overall.manifest.chance == pytest.approx(1.0)
    assert overall.n_units == overall.draws.n_units == 14
    assert overall.unit_scores["a"].dropna().tolist() == pytest.approx([0.97] * 10)
    assert dict(overall.unranked.itertuples(index=False)) == {
        "c": "not ranked on 1 of 2 tasks: externalizing"
    }


def test_a_weighted_overall_without_one_of_its_tasks_is_missing_and_the_task_is_named():
    entries = [pooled("a", task, PEOPLE, [0.9] * 12) for task in ("response-time", "p-factor")]
    board = Board(entries, QUICK)
    assert board.overall == ()
    assert board.notes == (
        "eeg2025, cross: no overall ranking, because there is no result on externalizing.",
    )


def test_two_suites_with_one_split_are_shown_with_their_own_overall():
    entries = [make_entry("a", [0.5, 0.7], task=task) for task in ("onset", "pitch")]
    entries += [pooled("a", task, PEOPLE, [0.9] * 12) for task in ("response-time", "externalizing")]
    board = Board(entries, QUICK)
    for whole in board.overall:
        tasks = [one for one in board.rankings if one.family == whole.family]
        shown = overview_table(board, tasks, 100)
        assert whole.metric_title in str(shown.title)


def test_training_seeds_of_a_pooled_score_are_on_the_scale_of_the_score_on_tasks_and_suites():
    errors = {"response-time": (0.8, 1.0), "externalizing": (0.9, 1.3)}
    tasks = {}
    for task, (low, high) in errors.items():
        seeds = [pooled("a", task, PEOPLE, [error] * 12).unit_scores for error in (low, high)]
        tasks[task] = replace(pooled("a", task, PEOPLE, [(low + high) / 2] * 12), repeats=tuple(seeds))
    judge = Judge()
    fields = {task: select([entry], QUICK, judge) for task, entry in tasks.items()}
    for task, field in fields.items():
        scores = seed_scores(field, tasks[task].manifest)["a"]
        assert scores.shape == (2, 12)
        assert scores.mean(axis=1).tolist() == pytest.approx([-error for error in errors[task]])
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("neuroarena.board.suites.rank_field", lambda field, *_: seen.append(field))
        Board(tasks.values(), QUICK)
    overall = seed_scores(seen[0], tasks["externalizing"].manifest)["a"]
    expected = [-(0.3 * first + 0.7 * second) for first, second in zip(*errors.values(), strict=True)]
    assert overall.mean(axis=1).tolist() == pytest.approx(expected)


def test_boards_add_training_noise_to_the_verdicts_of_teams_with_several_seeds():
    rng = np.random.default_rng(3)
    units = rng.normal(0.7, 0.05, 12)
    once, repeated = [], []
    for team, better in {"a": 0.02, "b": 0.0}.items():
        luck = rng.normal(0, 0.05, 3)[:, None] + rng.normal(0, 0.01, (3, 12))
        trained = units + better + luck - luck.mean()
        mean = make_entry(team, trained.mean(axis=0).tolist())
        once.append(mean)
        tables = tuple(make_entry(team, scores.tolist()).unit_scores for scores in trained)
        provenance = {**mean.provenance, "seeds": [0, 1, 2]}
        repeated.append(replace(mean, repeats=tables, provenance=provenance))
    alone, noisy = (Board(entries, QUICK).rankings[0] for entries in (once, repeated))
    assert alone.verdicts["delta"].tolist() == pytest.approx(noisy.verdicts["delta"].tolist())
    # The difference is the same on every unit, but luck in training is as large.
    assert alone.verdicts["verdict"].tolist() == ["better"]
    assert noisy.verdicts["verdict"].tolist() == ["undecided"]
    assert "3 and 3 training seeds" in noisy.verdicts["scope"].iloc[0]
    assert noisy.provenance["run_seeds"] == ["0", "1", "2"]
    for before, after in zip(alone.table.itertuples(), noisy.table.itertuples(), strict=True):
        assert after.ci95_low < before.ci95_low < before.ci95_high <= after.ci95_high
    # By hand: the spread of the three means, less what the cells explain, beside that of the units.
    trained = np.stack([table["score"].to_numpy() for table in repeated[0].repeats])
    by_seed, by_unit, mean = trained.mean(axis=1), trained.mean(axis=0), trained.mean()
    rest = trained - by_seed[:, None] - by_unit + mean
    seeds, cells = by_seed.var(ddof=1) / 3, (rest**2).sum() / (3 * 12 * 2 * 11)
    units = by_unit.var(ddof=1) / 12
    variance = units + seeds - cells
    half = stats.t(variance**2 / (units**2 / 11 + seeds**2 / 2)).ppf(0.975) * np.sqrt(variance)
    own, without = (ranking.table.set_index("team").loc["a"] for ranking in (noisy, alone))
    # What the skewness of the units widens stays wide.
    assert own["ci95_low"] == pytest.approx(min(mean - half, without["ci95_low"]))
    assert own["ci95_high"] == pytest.approx(max(mean + half, without["ci95_high"]))
    assert mean - half < without["ci95_low"]
