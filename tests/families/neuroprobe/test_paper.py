"""The paper's figure and tables, from runs and submissions side by side."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from neuroprobe_runs import make_run, make_runs
from typer.testing import CliRunner

from neuroarena.board import Rules
from neuroarena.cli.app import app
from neuroarena.errors import InputError
from neuroarena.evaluation import Result, save_result
from neuroarena.families.neuroprobe import aggregate
from neuroarena.families.neuroprobe.paper import Paper, paper_html, paper_latex, read_paper, write_paper
from neuroarena.families.neuroprobe.paper_figure import (
    figure_caption,
    figure_text,
    paper_figure,
    shown_models,
)
from neuroarena.families.neuroprobe.submission_export import export_submission
from neuroarena.families.neuroprobe.tasks import TASKS
from shared_data import SHARED

REAL = SHARED / "data" / "neuroprobe" / "submissions"
QUICK = Rules(n_draws=100)
EVIL = "<script>alert(1)</script> & $x_1$ 100 %"
FEW = ("onset", "speech", "volume")
needs_submissions = pytest.mark.skipif(
    not REAL.is_dir(), reason="the public submissions are not beside the project"
)


def saved(runs: list[Result], folder: Path) -> Path:
    for run in runs:
        save_result(run, folder)
    return folder


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three decoders on three tasks and two splits, one of them guessing, one evil."""
    folder = tmp_path_factory.mktemp("results")
    runs = []
    for name, quality, about in (("linear", 0.75, {}), (EVIL, 0.65, {}), ("chance", 0.5, {"role": "chance"})):
        runs += make_runs(name, ("within-session", "cross-subject"), FEW, quality=quality, **about)
    return saved(runs, folder)


@pytest.fixture(scope="module")
def paper(results: Path) -> Paper:
    return read_paper([results], rules=QUICK)


def test_means_and_standard_errors_are_those_of_the_published_formula(tmp_path: Path):
    runs = make_runs(splits=["within-session"])
    folder = export_submission(runs, tmp_path, author="Ada Example")
    published = aggregate(folder, "within-session")
    for paths in ([saved(runs, tmp_path / "results")], [folder]):
        table = read_paper(paths, rules=QUICK).table.set_index("task")
        assert list(table.index) == [*TASKS, "overall"]
        assert table["mean"].to_numpy() == pytest.approx(published["mean"].to_numpy(), abs=1e-12)
        assert table["sem"].to_numpy() == pytest.approx(published["sem"].to_numpy(), abs=1e-12)


@needs_submissions
def test_the_real_submissions_give_the_published_overall_scores():
    made = read_paper([REAL], split="Within-Session", rules=QUICK)
    assert made.definition == "2025.09"
    whole = made.table[made.table["task"] == "overall"].set_index("team")
    linear = "Linear (Laplacian re-referencing + spectrogram) (Andrii Zahorodnii)"
    assert round(whole.loc[linear, "mean"], 3) == 0.660
    assert made.teams[0] == linear
    assert "1 fold instead of 2" in whole.loc["PopulationTransformer (Chau et al. 2024)", "notes"]
    assert any("one fold where two are expected" in note for note in made.notes)


def test_intervals_ranks_and_letters_are_the_boards(paper: Paper):
    for ranking in paper.board.everything:
        task = "overall" if ranking.kind == "overall" else ranking.task
        own = paper.table[(paper.table["split"] == ranking.split) & (paper.table["task"] == task)]
        board = ranking.table.set_index("team").loc[own["team"]]
        for column in ("rank", "letters"):
            assert own[column].fillna("").tolist() == board[column].fillna("").tolist()
        for column in ("ci95_low", "ci95_high"):
            np.testing.assert_array_equal(own[column], board[column])
        assert own["mean"].to_numpy() == pytest.approx(board["score"].to_numpy(), abs=1e-12)


def test_runs_and_submissions_stand_side_by_side(tmp_path: Path):
    runs = make_runs("linear", ["cross-session"])
    folder = export_submission(runs, tmp_path / "out", author="Ada Example")
    other = saved(make_runs("cnn", ["cross-session"], quality=0.8), tmp_path / "results")
    made = read_paper([other, tmp_path / "out"], rules=QUICK)
    assert made.teams == ("cnn", "linear (Ada Example)")
    # A submission that bears the name of a decoder is a column of its own, not the better of two.
    metadata = folder / "metadata.json"
    metadata.write_text(json.dumps({**json.loads(metadata.read_text()), "model_name": "cnn", "author": "-"}))
    assert read_paper([other, folder], rules=QUICK).teams == ("cnn", f"cnn [{folder.name}]")


def test_a_board_ranks_runs_and_submissions_side_by_side(tmp_path: Path):
    folder = export_submission(make_runs("linear", ["cross-session"]), tmp_path / "out", author="Ada Example")
    own = saved(make_runs("linear (Ada Example)", ["cross-session"], FEW, quality=0.8), tmp_path / "results")
    words = ["board", str(own), str(folder), "--draws", "100", "--json"]
    ran = CliRunner().invoke(app, words, catch_exceptions=False)
    assert f"{folder} read as --from neuroprobe" in ran.stderr
    rankings = {each["task"]: each["table"] for each in json.loads(ran.stdout)["rankings"]}
    # One name from two readers is two entries, not two attempts of one.
    names = ["linear (Ada Example)", "linear (Ada Example) (neuroprobe)"]
    assert [row["team"] for row in rankings["onset"]] == names


def test_definitions_are_mixed_only_on_request_and_then_marked(tmp_path: Path):
    new = saved(make_runs("linear", ["cross-session"], FEW), tmp_path / "new")
    old = saved(make_runs("cnn", ["cross-session"], FEW, definition="2025.09"), tmp_path / "old")
    with pytest.raises(
        InputError, match=r"definition 2025.09.*definition 2025.10.*--allow-mixed.*results remove"
    ):
        read_paper([new, old], rules=QUICK)
    made = read_paper([new, old], allow_mixed=True, rules=QUICK)
    assert made.definition == "2025.09+2025.10"
    marks = made.table.set_index("team")["notes"]
    assert set(marks["cnn"]) == {"definition 2025.09"}
    assert "2025.09+2025.10" in paper_latex(made)


@needs_submissions
def test_a_run_of_today_and_a_submission_of_2025_are_not_mixed(tmp_path: Path):
    new = saved(make_runs("linear", ["cross-session"], FEW), tmp_path / "new")
    with pytest.raises(InputError, match="by definition"):
        read_paper([new, next(REAL.glob("Linear_raw*"))], rules=QUICK)


def test_what_is_missing_is_a_dash_and_a_note(tmp_path: Path):
    runs = [*make_runs("linear", ["cross-session"], FEW), *make_runs("cnn", ["cross-session"], FEW[:2])]
    runs.append(make_run("volume", "cross-session", "cnn", status="failed"))
    made = read_paper([saved(runs, tmp_path)], rules=QUICK)
    assert any("cnn is not shown on volume cross-session" in note and "boom" in note for note in made.notes)
    page = paper_html(made)
    assert "–" in page
    row = next(line for line in paper_latex(made).splitlines() if line.startswith("Volume"))
    assert row.count("--") == 1


def test_several_runs_of_one_decoder_are_said(tmp_path: Path):
    runs = [
        *make_runs("linear", ["cross-session"], FEW),
        make_run("onset", "cross-session", seed=1, quality=0.9),
    ]
    made = read_paper([saved(runs, tmp_path)], rules=QUICK)
    assert any("linear: of several runs of a task, the best counts" in note for note in made.notes)


def test_runs_of_single_electrodes_are_left_out_and_said(tmp_path: Path):
    runs = make_runs("linear", ["cross-session"], FEW)
    runs.append(make_run("onset", "cross-session", "single", options={"level": "electrode"}))
    made = read_paper([saved(runs, tmp_path)], rules=QUICK)
    assert made.teams == ("linear",)
    assert made.notes[0] == "Left out, of other benchmarks or of single electrodes: 1 of 4 runs."


@pytest.mark.parametrize("kind", ["nothing", "empty", "foreign"])
def test_paths_that_hold_neither_runs_nor_submissions_are_refused(tmp_path: Path, kind: str):
    path = tmp_path / "here"
    if kind != "nothing":
        path.mkdir()
    if kind == "foreign":
        (path / "metadata.json").write_text("{}")
    with pytest.raises(InputError, match="does not exist" if kind == "nothing" else "neither results"):
        read_paper([path])


def test_a_split_that_nobody_has_is_refused(results: Path):
    with pytest.raises(InputError, match='nothing of Neuroprobe to show of the split "cross-session"'):
        read_paper([results], split="cross-session")


def test_the_figure_has_a_panel_a_split_and_bars_on_chance_with_whiskers(paper: Paper):
    figure = paper_figure(paper)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["Within-Session", "Cross-Subject"]
    assert shown_models(paper) == ["linear", EVIL]
    assert "Left out, for room or because they only guess: 1 of 3 models." in figure_caption(paper)
    for axes, split in zip(figure.axes, paper.splits, strict=True):
        bars: Any = axes.patches
        heights = {round(bar.get_y() + bar.get_height(), 9) for bar in bars if round(bar.get_y(), 9) == 0.5}
        own = paper.of_split(split)
        means = own.loc[own["role"] != "chance", "mean"]
        assert {round(mean, 9) for mean in means} <= heights
        low, high = axes.get_ylim()
        assert low < 0.5
        assert high > (own["mean"] + own["sem"]).max()
    assert [text.get_text() for text in figure.axes[-1].get_xticklabels()][-1] == "Overall"
    # The same scale in both panels: inches a tenth of AUROC.
    scales = [
        axes.get_position().height * figure.get_size_inches()[1] / np.ptp(axes.get_ylim())
        for axes in figure.axes
    ]
    assert scales[0] == pytest.approx(scales[1], rel=0.15)


def test_many_models_are_told_apart_by_more_than_colour(tmp_path: Path):
    runs: list[Result] = []
    for number in range(10):
        runs += make_runs(f"model {number}", ["cross-session"], FEW[:2], quality=0.5 + 0.02 * number)
    made = read_paper([saved(runs, tmp_path)], rules=QUICK)
    figure = paper_figure(made)
    looks = {(mark.get_facecolor(), mark.get_hatch()) for mark in figure.legends[0].get_patches()}
    assert len(looks) == 10
    assert paper_latex(made).count(r"\begin{tabular}") == 2


def test_strange_names_break_neither_page_nor_tables(paper: Paper):
    page = paper_html(paper)
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    ET.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])
    tables = paper_latex(paper)
    assert r"\textless{}script\textgreater{}alert(1)" in tables
    assert r"\& \$x\_1\$ 100 \%" in tables
    for line in tables.splitlines():
        if line.endswith(r"\\") and "&" in line:
            assert len(re.findall(r"(?<!\\)&", line)) == 3
    assert r"\textbf{" in tables
    assert "linear" in figure_text(paper)


def test_simulated_results_are_labelled_everywhere(tmp_path: Path):
    folder = saved(make_runs(splits=["cross-session"], tasks=FEW, simulated=True), tmp_path)
    made = read_paper([folder], rules=QUICK)
    assert "simulated" in {text.get_text() for text in paper_figure(made).texts}
    assert "Simulated data." in paper_latex(made)
    assert 'class="banner"' in paper_html(made)
    assert made.table["simulated"].all()


def test_the_command_writes_the_files_and_says_which(results: Path, tmp_path: Path):
    words = ["export", "paper", str(results), "--out", str(tmp_path / "paper"), "--draws", "100", "--json"]
    ran = CliRunner().invoke(app, words)
    assert ran.exit_code == 0, ran.output
    said = json.loads(ran.stdout)
    assert [Path(name).name for name in said["files"]] == [
        "figure.png", "figure.svg", "tables.tex", "tables.csv", "tables.json", "paper.html",
    ]  # fmt: skip
    assert all(Path(name).stat().st_size > 500 for name in said["files"])
    assert (tmp_path / "paper" / "figure.png").read_bytes().startswith(b"\x89PNG")
    ET.parse(tmp_path / "paper" / "figure.svg")
    table = pd.read_csv(tmp_path / "paper" / "tables.csv")
    assert len(table) == len(said["rows"]) == 2 * 4 * 3
    assert said["definition"] == "2025.10"


def test_the_same_results_give_the_same_files(paper: Paper, tmp_path: Path):
    first = {path.name: path.read_bytes() for path in write_paper(paper, tmp_path / "a")}
    again = {path.name: path.read_bytes() for path in write_paper(paper, tmp_path / "b")}
    assert first == again
