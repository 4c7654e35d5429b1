"""Columns besides the score: tie-breaks, additional metrics, and what a family adds, wherever a board is shown."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

from entry_making import EVIL, make_entry, make_manifest
from neuroarena.benchmarks import FAMILIES
from neuroarena.board import Board, Entry, Rules, export, print_board, render_report
from neuroarena.board.exports import latex
from neuroarena.board.terminal import make_console
from neuroarena.errors import NeuroarenaError
from neuroarena.scoring import METRICS, reported_value

QUICK = Rules(n_draws=100)
RULES = make_manifest(
    metric="nrmse",
    prediction="number",
    classes=(),
    chance=1.0,
    tie_break="mae",
    additional_metrics=("r2", "rmse"),
)


def entry(team: str, sse: tuple[float, float], **columns: object) -> Entry:
    """Make an entry on two people with five answers each, whose targets have the sum 0 and the squares 10."""
    table = pd.DataFrame(
        {
            "unit": ["p1", "p2"],
            "fold": "0",
            "cluster": ["p1", "p2"],
            "n": 5,
            "score": [0.5, 0.6],
            "tie_break": [0.25, 0.75],
            "r2": [0.1, 0.2],
            "rmse": [0.3, 0.4],
            "sse": sse,
            "sum_y": 0.0,
            "sum_y2": 10.0,
            **{f"{metric}.{name}": value for metric in ("r2", "rmse") for name, value in _sums(sse).items()},
            **columns,
        }
    )
    return replace(make_entry(team, [0.5], manifest=RULES), unit_scores=table)


def _sums(sse: tuple[float, float]) -> dict[str, object]:
    return {"sse": sse, "sum_y": 0.0, "sum_y2": 10.0}


@pytest.fixture
def toy_family(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A family called toy that adds two columns; registered for one test only."""
    columns = {
        "network": lambda one: f"net {one.team}",
        "size_mb": lambda one: 3 if one.team == "a" else None,
        "secret": lambda one: None,
    }
    family = SimpleNamespace(name="toy", title="Toy", definitions=("1",), columns=columns)
    monkeypatch.setitem(FAMILIES._registered, "toy", family)
    return family


def test_additional_metrics_are_combined_as_their_metric_says_not_averaged():
    ranking = Board([entry("a", (2.0, 4.0)), entry("b", (8.0, 4.0))], QUICK).rankings[0]
    assert ranking.extra_columns == ("r2", "rmse")
    rows = ranking.table.set_index("team")
    # Ten answers, squares 20: r2 = 1 - 6 / 20, rmse = sqrt(6 / 10); the mean of the two people would be another number.
    assert rows.loc["a", "r2"] == pytest.approx(0.7)
    assert rows.loc["a", "rmse"] == pytest.approx(0.6**0.5)
    assert rows.loc["b", "r2"] == pytest.approx(0.4)
    assert rows.loc["a", "tie_break"] == 0.5


def test_what_cannot_be_known_is_blank_and_moves_nobody():
    without = entry("b", (8.0, 4.0))
    without = replace(without, unit_scores=without.unit_scores.drop(columns=["r2", "r2.sse"]))
    damaged = entry("c", (2.0, 2.0), r2=[float("nan"), 0.2])
    ranking = Board([entry("a", (2.0, 4.0)), without, damaged], QUICK).rankings[0]
    rows = ranking.table.set_index("team")
    assert rows["r2"].isna().to_dict() == {"a": False, "b": True, "c": True}
    assert rows["rank"].to_dict() == {"c": 1, "a": 2, "b": 3}


def test_every_form_of_a_board_shows_them(tmp_path, toy_family):
    board = Board([entry("a", (2.0, 4.0)), entry("b", (8.0, 4.0))], QUICK)
    names = ["r2", "rmse", "network", "size_mb"]
    assert list(board.rankings[0].extra_columns) == names
    for kind in ("csv", "parquet", "json"):
        export(board, kind, tmp_path / f"board.{kind}")
    said = json.loads((tmp_path / "board.json").read_text())["rankings"][0]
    assert said["extra_columns"] == names
    assert (said["table"][0]["network"], said["table"][0]["size_mb"]) == ("net a", 3.0)
    for table in (pd.read_csv(tmp_path / "board.csv"), pd.read_parquet(tmp_path / "board.parquet")):
        assert table["r2"].tolist() == pytest.approx([0.7, 0.4])
        assert table["network"].tolist() == ["net a", "net b"]
        assert table["size_mb"].isna().tolist() == [False, True]
    for width in (60, 100, 200):
        output = io.StringIO()
        print_board(board, make_console(file=output, width=width))
        for text in ("0.700", "0.400", "0.775", "net a", "0.500"):
            assert text in output.getvalue(), (width, text)
        assert max(map(len, output.getvalue().splitlines())) <= width
    page, tables = render_report(board), latex(board)
    for text in ("0.700", "0.775", "net a", "size mb"):
        assert text in page
        assert text in tables
    # Seven usual columns, the tie-break and four more: as many heads and cells as the table declares.
    assert r"\begin{tabular}{rlcrcrrrrrrr}" in tables
    rows = [line for line in tables.splitlines() if line.endswith(r"\\")]
    assert [line.count(" & ") for line in rows] == [11, 11, 11]


def test_a_strangers_text_in_a_column_steers_no_page(toy_family):
    toy_family.columns["network"] = lambda one: f"{EVIL}\x1b[2J"
    board = Board([entry("a", (2.0, 4.0))], QUICK)
    assert EVIL not in render_report(board)
    output = io.StringIO()
    print_board(board, make_console(file=output, width=200))
    assert "\x1b" not in output.getvalue()


def test_a_family_cannot_take_the_name_of_a_column(toy_family):
    toy_family.columns["score"] = lambda one: 1.0
    with pytest.raises(NeuroarenaError, match='adds the column "score"'):
        Board([entry("a", (2.0, 4.0))], QUICK)


def test_overalls_have_no_extra_columns(toy_family):
    board = Board([make_entry("a", [0.5, 0.7], task=task) for task in ("onset", "pitch")], QUICK)
    assert board.overall[0].extra_columns == ()
    assert board.rankings[0].extra_columns == ("network", "size_mb")
    assert board.frame()["network"].tolist() == ["", "net a", "net a"]


def test_the_board_and_the_scores_agree_on_every_additional_metric():
    one = entry("a", (2.0, 4.0))
    ranking = Board([one], QUICK).rankings[0]
    for name in RULES.additional_metrics:
        assert ranking.table[name].iloc[0] == reported_value(one.unit_scores, METRICS.get(name))
