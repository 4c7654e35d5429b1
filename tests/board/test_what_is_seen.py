"""Boards as people see them: terminal, files, plots and the page."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from entry_making import EVIL, crowd, make_entry, suite
from neuroarena.board import Board, Rules, export, points_board, print_board, print_standings, save_plots
from neuroarena.board.exports import latex
from neuroarena.board.figures import svg_text
from neuroarena.board.plots import PLOTS, alt_text, possible_plots
from neuroarena.board.report import render_report
from neuroarena.board.terminal import make_console
from neuroarena.errors import InputError

QUICK = Rules(n_draws=400)
VOID = {"meta", "br", "link", "img", "hr", "input", "use", "path", "rect"}


class Page(HTMLParser):
    """Reads a page: balanced tags, texts, and what the elements carry."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.texts)


def printed(board: Board, width: int = 100, **options) -> str:
    output = io.StringIO()
    print_board(board, make_console(file=output, width=width), **options)
    return output.getvalue()


# ---------------------------------------------------------------- terminal


@pytest.mark.parametrize("width", [80, 100])
def test_the_terminal_table_fits_and_names_everybody(crowd_board, width):
    text = printed(crowd_board, width)
    assert max(len(line) for line in text.splitlines()) <= width
    flat = "".join(text.split())
    for team in crowd_board.teams:
        assert "".join(team.split()) in flat or team[:10] in text
    assert "floor: chance" in " ".join(text.split())
    assert "not ranked  broken: 2 of 8 cells failed" in text
    row = crowd_board.rankings[0].table.iloc[0]
    assert f"{row['score']:.3f} [{row['ci95_low']:.3f}, {row['ci95_high']:.3f}]" in text


def test_a_p_of_zero_is_never_printed(crowd_board):
    seed = Board(crowd(), Rules(n_draws=400, inference="seed"))
    assert (seed.rankings[0].pairs["p"] == 0).any()
    # 400 draws tell p down to 0.0025; adjusted over the pairs, that many times as much.
    adjusted = f"< {0.0025 * len(seed.rankings[0].pairs):.2g}"
    assert adjusted in printed(seed)
    for board in (seed, crowd_board):
        assert "0.000 *" not in printed(board)
    assert "< 0.0001" in Page(render_report(crowd_board)).text


def test_a_suite_is_shown_as_an_overview_labelled_simulated(suite_board):
    text = printed(suite_board)
    for word in ("onset", "speech", "volume", "overall", "within", "cross", "simulated", "fancy"):
        assert word in text
    assert text.count("Onset ·") == 0
    assert printed(suite_board, details=True).count("Onset ·") == 2


def test_output_to_a_file_has_no_escapes_and_a_name_cannot_bring_any():
    board = Board([make_entry("a\x1b[31mb\x07", [0.5, 0.6]), make_entry("[bold]c[/bold]", [0.1, 0.2])], QUICK)
    text = printed(board)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "[bold]c[/bold]" in text


def test_standings_are_printed_with_their_rule(suite_board):
    output = io.StringIO()
    print_standings(points_board(suite_board.rankings[:3]), make_console(file=output, width=100))
    assert "fancy" in output.getvalue()
    assert "a track not entered counting 0" in " ".join(output.getvalue().split())
    assert "simulated" in output.getvalue()


# ---------------------------------------------------------------- files


def test_csv_and_parquet_hold_the_table(crowd_board, tmp_path):
    frame = crowd_board.frame()
    export(crowd_board, "parquet", tmp_path / "b.parquet")
    export(crowd_board, "csv", tmp_path / "b.csv")
    back = pd.read_parquet(tmp_path / "b.parquet")
    with open(tmp_path / "b.csv", newline="", encoding="utf-8") as file:
        text = pd.DataFrame(list(csv.DictReader(file)))
    assert list(back.columns) == list(frame.columns) == list(text.columns)
    pd.testing.assert_frame_equal(back.astype(object), frame.astype(object), check_dtype=False)
    for name in frame.columns:
        numeric = frame[name].dtype == np.float64
        for value, written in zip(frame[name], text[name], strict=True):
            if pd.isna(value):
                assert written == ""
            else:
                assert (float(written) if numeric else written) == (value if numeric else str(value)), name


def test_json_holds_the_table_and_no_nan(crowd_board, tmp_path):
    export(crowd_board, "json", tmp_path / "b.json")
    text = (tmp_path / "b.json").read_text()
    assert "NaN" not in text
    board = json.loads(text)
    assert board["schema_version"] == 1
    [ranking] = board["rankings"]
    table = crowd_board.rankings[0].table
    assert [row["team"] for row in ranking["table"]] == table["team"].tolist()
    assert [row["score"] for row in ranking["table"]] == table["score"].tolist()
    assert ranking["unranked"][0]["team"] == "broken"
    assert [row["team"] for row in crowd_board.rows() if row["status"] == "ranked"] == table["team"].tolist()


def test_latex_is_escaped_and_balanced(crowd_board):
    text = latex(crowd_board)
    assert r"\$x\$ \& 100 \% \{co\}\_1" in text
    assert r"\textless{}script\textgreater{}" in text
    assert "<script>" not in text
    body = text.replace(r"\{", "").replace(r"\}", "")
    assert body.count("{") == body.count("}")
    assert text.count(r"\begin{") == text.count(r"\end{")
    for line in text.splitlines():
        if line.endswith(r"\\") and "multicolumn" not in line:
            assert line.replace(r"\&", "").count("&") == 6


def test_an_unknown_export_is_refused_and_a_failed_one_leaves_the_file_alone(
    crowd_board, tmp_path, monkeypatch
):
    path = tmp_path / "b.csv"
    path.write_text("old")
    with pytest.raises(InputError, match="csv, json, parquet, latex, html, verdicts"):
        export(crowd_board, "excel", path)
    monkeypatch.setattr(Board, "frame", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        export(crowd_board, "csv", path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["b.csv"]


# ---------------------------------------------------------------- plots


def test_every_plot_is_drawn_with_alternative_text_and_the_same_each_time(crowd_board):
    ranking = crowd_board.rankings[0]
    assert possible_plots(ranking) == list(PLOTS)
    for kind, draw in PLOTS.items():
        words = alt_text(kind, ranking)
        first, second = (svg_text(draw(ranking), "p", words) for _ in range(2))
        assert first == second
        root = ET.fromstring(first)
        assert root.get("aria-label") == words
        assert "<script" not in first
        if kind != "half-width":
            assert "&lt;script&gt;" in first


def test_plots_do_not_touch_the_settings_of_the_user(crowd_board):
    import matplotlib

    matplotlib.rcParams["font.size"] = 17.0
    try:
        PLOTS["forest"](crowd_board.rankings[0])
        assert matplotlib.rcParams["font.size"] == 17.0
    finally:
        matplotlib.rcdefaults()


def test_plots_are_saved_as_files(tmp_path):
    board = Board(suite(), QUICK)
    paths = save_plots(board, tmp_path, formats=("svg",))
    # Four sessions of two people allow no verdict: there are no ranks, pairs or widths to draw.
    assert len(paths) == len(set(paths)) == 1 + 8
    paths += save_plots(Board(crowd(), QUICK), tmp_path, formats=("svg", "png"))
    assert {path.suffix for path in paths} == {".svg", ".png"}
    assert all(path.stat().st_size > 1000 for path in paths)
    assert any(path.name == "toy--suite.svg" for path in paths)
    suite_plots = save_plots(board, tmp_path / "classical", formats=("svg",), classical=True)
    assert sum("critical-difference" in path.name for path in suite_plots) == 2
    with pytest.raises(InputError, match="svg, png, pdf"):
        save_plots(board, tmp_path, formats=("gif",))


# ---------------------------------------------------------------- page


def test_the_page_parses_and_holds_what_it_must(crowd_board):
    text = render_report(crowd_board)
    page = Page(text)
    for team in crowd_board.teams:
        assert team in page.text
    assert "broken" in page.text
    assert "floor: chance" in page.text
    tables = page.tags.count("table")
    assert tables == page.tags.count("caption") >= 4
    figures = page.tags.count("figure")
    # The forest plot is there twice: once for desktops, once for phones.
    assert figures == page.tags.count("figcaption") == page.tags.count("svg") - 1 == 6
    assert all(attributes.get("aria-label") for tag, attributes in page.attributes if tag == "svg")
    assert all(attributes.get("scope") for tag, attributes in page.attributes if tag == "th")
    ids = [attributes["id"] for _, attributes in page.attributes if attributes.get("id")]
    assert len(ids) == len(set(ids))


def test_the_page_needs_no_network_and_no_script(crowd_board):
    page = Page(render_report(crowd_board))
    assert "script" not in page.tags
    assert "link" not in page.tags
    for tag, attributes in page.attributes:
        for name in ("src", "href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith("#"), (tag, attributes)
        assert not any(name.startswith("on") for name in attributes)


@pytest.fixture(scope="module")
def suite_page(suite_board) -> str:
    """The page of the suite, drawn once: its thirty figures take seconds."""
    return render_report(suite_board)


def test_simulated_is_said_wherever_a_simulated_board_is_shown(suite_page):
    page = Page(suite_page)
    # Banner, each figure, each ranking.
    assert page.text.count("simulated") >= 1 + 8 + page.tags.count("svg")
    assert "simulated" not in Page(render_report(Board(crowd(), QUICK))).text


def test_two_renderings_are_identical(suite_page):
    assert suite_page == render_report(Board(reversed(suite()), QUICK, order=["within"]))


def test_an_evil_name_is_escaped_in_every_format(tmp_path):
    board = Board([make_entry(EVIL, [0.5, 0.7]), make_entry('"><b onload=x>', [0.4, 0.7])], QUICK)
    page = render_report(board, title=EVIL)
    assert "<script" not in page
    assert "<b onload" not in page
    assert EVIL in Page(page).text
    for path in save_plots(board, tmp_path, formats=("svg",)):
        assert "<script" not in path.read_text()
    assert "<script" not in latex(board)


@pytest.mark.parametrize("scores", [[0.7], [0.7, 0.8], [0.5, 0.5, 0.5]])
def test_one_team_on_few_units_can_be_shown_in_every_way(scores, tmp_path):
    board = Board([make_entry("alone", scores)], QUICK)
    assert "alone" in printed(board)
    assert "alone" in Page(render_report(board)).text
    for kind in ("csv", "json", "parquet", "latex", "html"):
        export(board, kind, tmp_path / kind)
        assert (tmp_path / kind).stat().st_size > 100


def test_a_board_of_failures_can_be_shown_in_every_way(tmp_path):
    board = Board([make_entry("sad", [0.7], reason="boom")], QUICK)
    assert "not ranked  sad: boom" in printed(board)
    assert "boom" in Page(render_report(board)).text
    for kind in ("csv", "json", "parquet", "latex", "html"):
        export(board, kind, tmp_path / kind)


def test_a_crowd_of_teams_is_cut_and_the_page_says_so():
    rng = np.random.default_rng(0)
    entries = [make_entry(f"t{at:03d}", rng.normal(0.6, 0.1, 6).tolist()) for at in range(230)]
    page = Page(render_report(Board(entries, Rules(n_draws=50))))
    assert "The best 40 of 230 teams." in page.text
    assert "The best 20 of 230 teams." in page.text
    assert "the best 200 of 230 teams" in page.text


def test_a_lower_is_better_board_says_so(error_rate):
    entry = make_entry("a", [0.1, 0.2], manifest=error_rate, columns={"errors": [1.0, 2.0]})
    board = Board([entry], QUICK)
    assert "Error rate (%), lower is better" in printed(board)
    assert "lower is better" in Page(render_report(board)).text


def test_importing_the_board_loads_nothing_that_draws():
    heavy = ("matplotlib", "jinja2", "torch", "sklearn", "mne", "h5py")
    code = f"import sys, neuroarena.board; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
