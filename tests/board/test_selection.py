"""Which entry counts, who cannot rank and why, and what is never mixed."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest

from entry_making import BEGIN, make_entry, make_manifest
from neuroarena.board import Board, Entry, Rules, entries_from_results
from neuroarena.errors import InputError
from neuroarena.evaluation import evaluate
from toy import Fragile, Mean, toy_benchmark


def score_of(board: Board, team: str) -> float:
    return board.rankings[0].table.set_index("team").loc[team, "score"]


def four_tries() -> list[Entry]:
    """Scores 0.9, 0.5, 0.7, 0.6 at hours 0 to 3, and a rival."""
    tries = [make_entry("a", [score] * 3, hours=hour) for hour, score in enumerate((0.9, 0.5, 0.7, 0.6))]
    return [*tries, make_entry("b", [0.65] * 3)]


@pytest.mark.parametrize(
    ("rule", "hours", "score"),
    [
        ("best-ever", None, 0.9),
        ("latest", None, 0.6),
        ("best-of-last-1", None, 0.6),
        ("best-of-last-2", None, 0.7),
        ("best-of-last-3", None, 0.7),
        ("best-of-last-9", None, 0.9),
        ("latest", 2, 0.7),
        ("latest", 1.5, 0.5),
        ("best-of-last-2", 1, 0.9),
        ("best-ever", 0, 0.9),
    ],
)
def test_the_rule_and_the_time_say_which_entry_counts(rule, hours, score):
    as_of = None if hours is None else BEGIN + datetime.timedelta(hours=hours)
    board = Board(four_tries(), Rules(rule=rule, as_of=as_of, n_draws=50))
    assert score_of(board, "a") == pytest.approx(score)
    assert score_of(board, "b") == pytest.approx(0.65)


@pytest.mark.parametrize(("rule", "error"), [("best-ever", 0.2), ("best-of-last-2", 0.4), ("latest", 0.8)])
def test_the_best_of_several_errors_is_the_smallest(rule, error):
    manifest = make_manifest(metric="mae", prediction="number", classes=(), chance=None)
    errors = (0.6, 0.2, 0.4, 0.8)
    tries = [make_entry("a", [each] * 3, hours=at, manifest=manifest) for at, each in enumerate(errors)]
    assert score_of(Board(tries, Rules(rule=rule, n_draws=50)), "a") == pytest.approx(error)


def test_of_equal_tries_the_one_with_the_smaller_tie_breaking_error_counts():
    manifest = make_manifest(
        metric="mae", tie_break="median_absolute_error", prediction="number", classes=(), chance=None
    )
    tries = [
        make_entry("a", [0.5] * 3, hours=at, manifest=manifest, columns={"tie_break": [error] * 3})
        for at, error in enumerate((0.3, 0.1, 0.2))
    ]
    ranking = Board(tries, Rules(rule="best-ever", n_draws=50)).rankings[0]
    assert ranking.table["tie_break"].tolist() == pytest.approx([0.1])


def test_entries_are_counted_up_to_the_time():
    board = Board(four_tries(), Rules(as_of=BEGIN + datetime.timedelta(hours=2), n_draws=50))
    assert board.rankings[0].table.set_index("team")["n_entries"].to_dict() == {"a": 3, "b": 1}


def test_a_failed_entry_costs_no_place_among_the_last():
    tries = [
        make_entry("a", [0.7] * 3),
        make_entry("a", [0.6] * 3, hours=1),
        make_entry("a", [0.9] * 3, hours=2, reason="it crashed"),
    ]
    ranking = Board(tries, Rules(rule="best-of-last-2", n_draws=50)).rankings[0]
    assert ranking.table["score"].tolist() == pytest.approx([0.7])
    assert ranking.table["n_entries"].tolist() == [3]
    [(team, reason)] = ranking.unranked.itertuples(index=False)
    assert team == "a"
    assert "it crashed" in reason
    assert "an earlier one is ranked" in reason


def with_column(name: str, value: object) -> Entry:
    entry = make_entry("odd", [0.5, 0.6, 0.7])
    table = entry.unit_scores.astype({name: object}) if name in entry.unit_scores else entry.unit_scores
    table.loc[1, name] = value
    object.__setattr__(entry, "unit_scores", table)
    return entry


def doubled() -> Entry:
    entry = make_entry("odd", [0.5, 0.6, 0.7])
    object.__setattr__(entry, "unit_scores", pd.concat([entry.unit_scores, entry.unit_scores.iloc[:1]]))
    return entry


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (with_column("score", np.nan), 'unit "u01": score is nan'),
        (with_column("score", np.inf), 'unit "u01": score is inf'),
        (with_column("score", "high"), 'unit "u01": score is high'),
        (doubled(), 'unit "u00" has two rows for one fold'),
        (make_entry("odd", []), "it has no unit scores"),
        (make_entry("odd", [0.1], reason="3 of 4 cells failed"), "3 of 4 cells failed"),
        (
            make_entry("odd", [0.1] * 3, manifest=make_manifest(tie_break="macro_f1")),
            'its unit scores lack the column "tie_break"',
        ),
    ],
    ids=["NaN", "infinity", "text", "twice", "empty", "failed", "no tie-break"],
)
def test_what_cannot_rank_is_listed_below_with_its_reason(entry, words):
    ranking = Board([make_entry("fine", [0.5, 0.6, 0.7]), entry], Rules(n_draws=50)).rankings[0]
    assert ranking.table["team"].tolist() == ["fine"]
    assert ranking.unranked["team"].tolist() == ["odd"]
    assert words in ranking.unranked["reason"].iloc[0]


def test_a_board_of_failures_ranks_nobody_and_says_so():
    board = Board([make_entry("a", [0.5], reason="boom")], Rules(n_draws=50))
    assert board.rankings[0].table.empty
    assert board.rankings[0].unranked["reason"].tolist() == ["boom"]
    assert board.frame()["status"].tolist() == ["unranked"]


MIXED = {
    "definition": (make_entry("b", [0.5] * 3, manifest=make_manifest(definition="2")), "by definition 2"),
    "manifest": (make_entry("b", [0.5] * 3, manifest=make_manifest(chance=0.25)), "by manifest"),
    "split hash": (make_entry("b", [0.5] * 3, split_hash="b" * 64), "hash bbbbbbbbbbbb"),
    "data": (make_entry("b", [0.5] * 3, simulated=True), "simulated data"),
    "units": (make_entry("b", [0.5] * 4), 'it also has "u03"'),
    "clusters": (make_entry("b", [0.5] * 3, clusters=["x", "x", "x"]), "other clusters"),
}


@pytest.mark.parametrize("what", MIXED)
def test_entries_that_are_not_comparable_are_refused_by_name(what):
    other, words = MIXED[what]
    with pytest.raises(InputError) as caught:
        Board([make_entry("a", [0.5] * 3), other], Rules(n_draws=50))
    message = str(caught.value)
    assert words in message
    assert '"a"' in message
    assert '"b"' in message
    assert "--allow-mixed" in message
    assert "neuroarena results remove" in message


@pytest.mark.parametrize("what", ["definition", "manifest", "split hash", "data"])
def test_mixing_on_request_is_marked(what):
    board = Board([make_entry("a", [0.6] * 3), MIXED[what][0]], Rules(n_draws=50), allow_mixed=True)
    ranking = board.rankings[0]
    assert ranking.table["team"].tolist() == ["a", "b"]
    assert any("different" in warning and what in warning for warning in ranking.warnings)
    if what == "definition":
        assert ranking.table["notes"].tolist() == ["definition 1", "definition 2"]
        assert ranking.definition == "1+2"


def test_other_units_cannot_be_paired_even_on_request():
    board = Board(
        [make_entry("a", [0.6] * 3), make_entry("c", [0.6] * 3), MIXED["units"][0]],
        Rules(n_draws=50),
        allow_mixed=True,
    )
    assert board.rankings[0].unranked["team"].tolist() == ["b"]
    assert "not judged on the same units" in board.rankings[0].unranked["reason"].iloc[0]


def test_another_metric_is_refused_even_on_request():
    other = make_entry("b", [0.5] * 3, manifest=make_manifest(metric="balanced_accuracy"))
    with pytest.raises(InputError, match="balanced_accuracy"):
        Board([make_entry("a", [0.5] * 3), other], Rules(n_draws=50), allow_mixed=True)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"rule": "best-of-last-0"}, "best-of-last-N"),
        ({"rule": "best"}, "best-of-last-N"),
        ({"as_of": "2026-01-01T00:00:00"}, "with its zone"),
        ({"alpha": 1.5}, "alpha"),
        ({"pairs": "some"}, "neighbours"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_wrong_rules_are_refused_by_name(values, words):
    with pytest.raises(InputError, match=words):
        Rules.of(**values)


def test_wrong_rules_of_a_file_name_the_file(tmp_path):
    (tmp_path / "mine.toml").write_text('name = "mine"')
    with pytest.raises(InputError, match=r'mine\.toml: .*"name"'):
        Rules.from_toml(tmp_path / "mine.toml")


def test_a_rope_is_refused_where_nothing_is_called_equivalent():
    assert Rules.of(rope=0.1).rope == 0.1
    with pytest.raises(InputError, match="never calls teams equivalent"):
        Rules.of(rope=0.1, inference="seed")


def test_rules_leave_out_what_is_not_given():
    assert Rules.of(rule=None, seed=3) == Rules(seed=3)
    assert Rules.of(as_of="2026-01-01T02:00:00+02:00").as_of == BEGIN


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"time": datetime.datetime(2026, 1, 1)}, "no time zone"),
        ({"role": "winner"}, 'no role "winner"'),
        ({"benchmark": "toy/onset"}, "family@definition/task"),
        ({"team": ""}, "name of its team"),
    ],
)
def test_an_entry_that_no_board_could_use_is_refused(changes, words):
    values = {
        "team": "a",
        "benchmark": "toy@1/onset",
        "split": "cross",
        "manifest": make_manifest(),
        "unit_scores": None,
        "time": BEGIN,
    }
    with pytest.raises(InputError, match=words):
        Entry(**{**values, **changes})


def test_no_entries_are_refused_and_so_is_a_time_before_all():
    with pytest.raises(InputError, match="no entry to rank"):
        Board([])
    with pytest.raises(InputError, match="as of 2020-01-01"):
        Board(four_tries(), Rules(as_of=datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)))


def test_runs_become_entries_and_a_failed_run_says_how_many_cells_and_why():
    benchmark = toy_benchmark()
    results = [
        evaluate(Mean(), benchmark, "cross", name="mean"),
        evaluate(Fragile(), benchmark, "cross", name="fragile"),
    ]
    entries = entries_from_results(results)
    assert [entry.team for entry in entries] == ["mean", "fragile"]
    assert entries[0].reason is None
    assert entries[0].simulated
    assert entries[1].reason.startswith("1 of 4 cells failed; the first, fold 2_0:")
    assert "the electrode fell off" in entries[1].reason
    ranking = Board(entries, Rules(n_draws=50)).rankings[0]
    assert ranking.table["team"].tolist() == ["mean"]
    assert ranking.table["score"].tolist() == pytest.approx([results[0].score])
    assert ranking.unranked["team"].tolist() == ["fragile"]
    assert ranking.simulated
