"""The report in a real browser: it shows, at the width of a desk and of a phone, and asks nobody for anything."""

from __future__ import annotations

import http.server
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
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)


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
