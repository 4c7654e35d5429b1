"""The page of a map: every picture explained, what is significant, what could not be placed, and nothing to execute."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from neuroarena.maps import MapGrid, simulate_grid
from neuroarena.maps.assembly import GridPart, make_grid
from neuroarena.maps.conventions import Conventions
from neuroarena.maps.page import Section, Table, write_map_page
from neuroarena.maps.page.findings import electrode_findings
from neuroarena.maps.page.places import describe_places, find_places
from neuroarena.maps.page.writing import describe_doubts
from neuroarena.maps.windows import window_bins

SPACES = ["subject", "flat", "", "subject"]


def own_grid(draws: int = 39, simulated: bool = False) -> MapGrid:
    """Make a grid whose electrodes are in a person's own space, on a picture, or nowhere; A1 has an effect."""
    rng = np.random.default_rng(0)
    bins = window_bins(0.0, 0.75, 0.25, 0.125)
    electrodes = pd.DataFrame(
        {
            "name": ["A1", "<B2>", "C3", "A4"],
            "subject": "sub-01",
            "x": [10.0, 20.0, np.nan, 5.0],
            "y": [0.0, 5.0, np.nan, -5.0],
            "z": [30.0, 0.0, np.nan, 20.0],
            "space": SPACES,
        }
    )
    noise = rng.normal(0.5, 0.01, (draws + 1, 2, 4, len(bins)))
    noise[0, :, 0] += 0.1 * np.array([0.0, 0.5, 1.0, 0.5, 0.0])
    part = GridPart("up & down", "1", "sub-01", noise[0], noise[1:], n_test=200)
    return make_grid(
        [part],
        electrodes,
        bins,
        split="blocks",
        simulated=simulated,
        provenance={"recording": "a.edf"},
        notes=["labels are slow"],
    )


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    extra = Section("more", "More", ("<b>said</b>",), tables=(Table("numbers", ("a", "b"), [("1", "2")]),))
    return write_map_page(own_grid(), folder, extras=[extra]).read_text(encoding="utf-8")


def test_the_page_names_what_is_significant_and_where(page: str):
    assert "1 of 4" in page
    assert "A1 of sub-01: AUROC" in page
    assert "p = 0.0250" in page  # with 39 draws the smallest
    assert "When and where: a.edf" in page


def test_one_task_has_a_peak_and_no_order(page: str):
    assert "The dot is the peak of the time course" in page
    assert "Order of tasks" not in page
    assert "comes before the column" not in page


def test_what_could_not_be_placed_is_said_and_nothing_is_in_a_template(page: str):
    assert "1 of 4 electrodes could not be placed and are in the tables only: sub-01/C3" in page
    assert "No position was guessed" in page
    assert "2 electrodes of sub-01 are in the person" in page
    assert "positions on a picture" in page
    assert "brain.html" not in page


def test_a_page_says_what_to_doubt(page: str):
    assert "labels are slow" in page
    assert "39 draws, so that no p value is below 0.025" in page
    assert "simulated" not in page
    assert describe_doubts(own_grid(draws=0)) == [
        "This map has no null: nothing on this page was tested. Compute it with --null 1000."
    ]


def test_captions_say_what_is_significant_and_against_which_null(page: str):
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", page, re.S)
    meant = "significant (p at most 0.05 against 39 circular shifts of the labels, corrected over electrodes"
    assert sum(meant in caption for caption in captions) == 2  # the person's own space, and the flat one
    assert all("significant" not in caption or meant in caption for caption in captions)


def test_a_map_without_a_null_calls_nothing_significant(tmp_path: Path):
    text = write_map_page(own_grid(draws=0), tmp_path).read_text(encoding="utf-8")
    captions = re.findall(r"<(?:figcaption|caption)>(.*?)</", text, re.S)
    assert len(captions) >= 4
    assert [each for each in captions if "significant" in each or "black ring" in each] == []


def test_pictures_are_shown_at_one_size_of_letters(page: str):
    shown = [(int(width), name) for width, name in re.findall(r'width="(\d+)" src="figures/([^"]+)"', page)]
    assert len(shown) == page.count("<figure")
    assert {name: width for width, name in shown}["coverage.png"] < 0.5 * max(shown)[0]


def test_names_are_shown_as_they_are_and_nothing_is_executed(page: str):
    assert "up &amp; down" in page
    assert "&lt;b&gt;said&lt;/b&gt;" in page
    assert "<script" not in page
    assert re.search(r'Content-Security-Policy" content="default-src \'none\'', page.replace("&#39;", "'"))


def test_every_picture_has_its_file_its_text_and_a_caption(tmp_path: Path):
    text = write_map_page(own_grid(simulated=True), tmp_path).read_text(encoding="utf-8")
    pictures = re.findall(r'src="(figures/[^"]+)" alt="([^"]+)"', text)
    assert {name for name, _ in pictures} == {
        f"figures/{path.name}" for path in (tmp_path / "figures").iterdir()
    }
    assert all(len(words) > 60 for _, words in pictures)
    assert text.count("Simulated.") == len(pictures)
    for name in re.findall(r'href="(tables/[^"]+)"', text):
        assert len(pd.read_csv(tmp_path / name))
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_second_page_replaces_the_first_and_leaves_the_map_alone(tmp_path: Path):
    (tmp_path / "grid.nc").write_bytes(b"kept")
    write_map_page(own_grid(), tmp_path)
    first = (tmp_path / "index.html").read_bytes()
    write_map_page(own_grid(), tmp_path)
    assert (tmp_path / "index.html").read_bytes() == first
    assert (tmp_path / "grid.nc").read_bytes() == b"kept"


def test_a_published_choice_is_said_above_all_figures_and_in_their_captions(tmp_path: Path):
    theirs = Conventions(
        "Choices of a paper", same_data=True, label_starts=True, caption="Chosen on the same data."
    )
    text = write_map_page(own_grid(), tmp_path, conventions=theirs).read_text(encoding="utf-8")
    assert "Choices of a paper. Chosen on the same data." in text
    assert text.count("Chosen on the same data.") >= 3
    assert "Times are starts of windows" in text


def test_the_most_certain_window_is_the_highest_of_those_with_the_same_p():
    found = electrode_findings(own_grid(), "up & down", Conventions())
    assert found["name"].tolist()[0] == "A1"
    assert found["best_centre_s"][0] == pytest.approx(
        0.375
    )  # the third of windows that begin at 0, 0.125, ...
    assert found["significant"].tolist() == [True, False, False, False]


def test_template_positions_are_brought_to_both_templates():
    grid = simulate_grid(0, permutations=19)
    places = find_places(grid)
    assert places.in_template.all()
    assert 0.5 < np.abs(places.mni305 - places.mni152).max() < 5
    assert describe_places(grid, places)[0].startswith("120 of 120 electrodes are in a template")


@pytest.mark.drill
def test_the_whole_page_works_from_a_disk_and_under_a_strict_policy(tmp_path: Path):
    """In Chromium, wide and narrow: no error, no text beyond the edge, and a brain that draws its electrodes."""
    from playwright.sync_api import sync_playwright

    index = write_map_page(simulate_grid(1, permutations=39), tmp_path)
    with sync_playwright() as run:
        browser = run.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--enable-unsafe-swiftshader"]
        )
        for width in (1280, 390):
            view = browser.new_page(viewport={"width": width, "height": 800})
            complaints: list[str] = []
            view.on("console", lambda said, kept=complaints: said.type == "error" and kept.append(said.text))
            view.on("pageerror", lambda error, kept=complaints: kept.append(str(error)))
            view.goto(index.as_uri())
            assert view.evaluate("document.documentElement.scrollWidth") <= width
            assert view.evaluate("getComputedStyle(document.querySelector('main')).maxWidth") == "1200px"
            loaded = "Promise.all([...document.images].map(i => {i.loading = 'eager'; return i.decode()}))"
            assert len(view.evaluate(loaded)) == 24
            view.goto((tmp_path / "brain.html").as_uri())
            view.wait_for_selector("#plot[data-drawn='120']", timeout=300_000)
            assert view.evaluate("document.documentElement.scrollWidth") <= width
            view.select_option("#task", label="face")
            assert "0.5" in str(view.text_content("#when"))
            assert complaints == []
        browser.close()
    data = re.search(r'application/json">(.*?)</script>', (tmp_path / "brain.html").read_text(), re.S)
    assert data is not None
    assert len(json.loads(data[1])["tasks"]) == 4
