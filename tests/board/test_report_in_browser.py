"""The report in a real browser: it shows, at the width of a desk and of a phone, and asks nobody for anything."""

from __future__ import annotations

import html
import http.server
import json
import re
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

from neuroarena.board import Board, Rules, entries_from_results, write_report
from neuroarena.evaluation import evaluate
from toy import Mean, toy_benchmark, toy_linear


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    benchmark = toy_benchmark()
    results = [
        evaluate(decoder, benchmark, split, name=name, cache=folder / "cache")
        for name, decoder in (("mean", Mean()), ("linear", toy_linear()))
        for split in ("within", "cross")
    ]
    write_report(Board(entries_from_results(results), Rules(n_draws=500)), folder / "report.html")
    return folder / "report.html"


def browse(chromium: str, address: str, folder: Path, *words: str) -> subprocess.CompletedProcess:
    quiet = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
    ]
    quiet += ["--disable-component-update", "--disable-sync", f"--user-data-dir={folder / 'profile'}"]
    command = [chromium, *quiet, *words, address]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)


@pytest.mark.parametrize("width", [1200, 420])
def test_the_report_shows_something_at_any_width(chromium, report, tmp_path, width):
    from matplotlib.image import imread

    picture = tmp_path / "report.png"
    browse(chromium, report.as_uri(), tmp_path, f"--screenshot={picture}", f"--window-size={width},1600")
    pixels = imread(picture)[..., :3]
    assert pixels.shape[:2] == (1600, width)
    # Text and plots everywhere: every third of the page has dark and light parts.
    for third in np.array_split(pixels, 3):
        assert third.min() < 0.4
        assert third.max() > 0.9


def test_the_report_asks_nobody_for_anything(chromium, report, tmp_path):
    asked: list[str] = []

    class Listener(http.server.SimpleHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            super().do_GET()

        def log_message(self, *words):
            pass

    def serve(*words):
        return Listener(*words, directory=str(report.parent))

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = browse(
            chromium, f"http://127.0.0.1:{server.server_port}/report.html", tmp_path, "--dump-dom"
        ).stdout
        server.shutdown()
    assert set(asked) <= {"/report.html", "/favicon.ico"}
    assert "simulated" in page
    assert page.count("<svg") >= 4


MEASURE = """
<script>
const wide = [...document.querySelectorAll("p, li, dd, h1, h2, h3, summary, caption, figcaption")];
const seen = wide.filter(each => each.getClientRects().length);
const texts = [...document.querySelectorAll("section#rankings svg text")].filter(each => each.getClientRects().length);
parent.document.body.dataset.measured = JSON.stringify({
  width: window.innerWidth,
  page: document.documentElement.scrollWidth - window.innerWidth,
  right: Math.max(...seen.map(each => each.getBoundingClientRect().right)) - window.innerWidth,
  smallest: Math.min(...texts.map(each => each.getBoundingClientRect().height)),
  main: document.querySelector("main").getBoundingClientRect().width / window.innerWidth,
  boxes: [...document.querySelectorAll("table.rows")].every(
    each => getComputedStyle(each.parentElement).overflowX == "auto"),
});
</script>
"""


@pytest.mark.parametrize("width", [390, 1440])
def test_nothing_leaves_the_page_of_a_phone_or_a_desktop_and_labels_can_be_read(
    chromium, report, tmp_path, width
):
    opened = report.read_text().replace("<details", "<details open").replace("</body>", f"{MEASURE}</body>")
    page = tmp_path / "measured.html"
    # In a frame: a window without a head is never narrower than 500 points.
    frame = (
        f'<iframe style="width:{width}px; height:900px; border:0" srcdoc="{html.escape(opened)}"></iframe>'
    )
    page.write_text(f"<body>{frame}</body>")
    words = ("--dump-dom", "--window-size=1600,1000", "--force-device-scale-factor=1")
    dumped = browse(chromium, page.as_uri(), tmp_path, *words).stdout
    measured = json.loads(html.unescape(re.search(r'data-measured="([^"]*)"', dumped)[1]))
    assert measured["width"] == width
    assert measured["page"] <= 0
    assert measured["right"] <= 0
    assert measured["smallest"] >= 9
    assert measured["main"] > 0.95
    assert measured["boxes"]
