"""A site in a real browser, from the disk: its policy allows its own style and script, and nothing leaves a phone."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from entry_making import crowd
from neuroarena.board import Board, Rules
from neuroarena.board.site import Sources, build_site

MEASURE = """
<script>
const shown = [...document.querySelectorAll("main *")].filter(
  each => each.getClientRects().length && !each.closest(".scroll, .unseen, pre"));
parent.document.body.dataset.measured = JSON.stringify({
  width: window.innerWidth,
  page: document.documentElement.scrollWidth - window.innerWidth,
  right: Math.max(...shown.map(each => each.getBoundingClientRect().right)) - window.innerWidth,
  paper: getComputedStyle(document.body).backgroundColor,
  ticks: [...document.querySelectorAll(".ticks text")].map(each => each.getBoundingClientRect().height)
    .filter(each => each),
});
</script>
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    entries = crowd(simulated=True)
    out = tmp_path_factory.mktemp("browser") / "site"
    sources = Sources(tuple(entries), (), "cd" * 32, {"results": len(entries)})
    build_site(Board(entries, Rules(n_draws=400)), sources, out)
    return out


def browse(chromium: str, page: Path, folder: Path, *words: str) -> str:
    quiet = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
    ]
    quiet += ["--disable-component-update", "--disable-sync", f"--user-data-dir={folder / 'profile'}"]
    ran = subprocess.run(
        [chromium, *quiet, *words, page.as_uri()], capture_output=True, text=True, check=True, timeout=600
    )
    assert "Content Security Policy" not in ran.stderr
    return ran.stdout


def test_style_and_script_of_a_page_work_from_the_disk(chromium, site, tmp_path):
    page = next(site.glob("boards/*.html"))
    words = ("--dump-dom", "--enable-logging=stderr", "--v=0")
    dumped = browse(chromium, page, tmp_path, *words)
    assert 'type="search"' in dumped
    assert 'class="sort"' in dumped
    said = re.search(r'<output class="said">([^<]+ stands above [^<]+)</output>', dumped)[1]
    # One pair, one interval: the sentence about the first two says what the answer at the top says.
    ahead = re.search(r'<span class="soft">([\d.]+ \[[^\]]+\]) ahead of', dumped)[1]
    assert f"by {ahead}, corrected p" in said


def test_a_phase_that_ended_after_the_site_was_made_is_over_for_whoever_reads_it(chromium, site, tmp_path):
    """A site on a disk knows its last update alone; the reader's clock knows better."""
    folder = tmp_path / "archived"
    shutil.copytree(site, folder)
    page = folder / "index.html"
    begun, state = 'data-from="2020-01-01T00:00:00Z"', '<span class="state">open at the last update</span>'
    stretches = "".join(
        f'<li class="open" {begun} data-until="{year}-02-01T00:00:00Z">{state}</li>' for year in (2020, 9000)
    )
    page.write_text(page.read_text().replace("</main>", f'<ol class="timeline">{stretches}</ol></main>'))
    dumped = browse(chromium, page, tmp_path, "--dump-dom")
    assert re.findall(r'<span class="state">([^<]+)</span>', dumped) == ["over", "open"]


@pytest.mark.drill
@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("which", ["index.html", "boards", "entries", "method.html"])
def test_nothing_leaves_the_page_of_a_phone_or_a_desktop(chromium, site, tmp_path, width, which):
    page = site / which if which.endswith(".html") else next(site.glob(f"{which}/*.html"))
    text = re.sub(r"<meta http-equiv[^>]+>", "", page.read_text())
    text = text.replace("<details", "<details open").replace(
        'href="assets/', f'href="{site.as_uri()}/assets/'
    )
    text = text.replace('href="../assets/', f'href="{site.as_uri()}/assets/').replace(
        "</body>", f"{MEASURE}</body>"
    )
    framed = tmp_path / "framed.html"
    framed.write_text(
        f'<body><iframe style="width:{width}px; height:900px; border:0" srcdoc="{html.escape(text)}"></iframe></body>'
    )
    words = ("--dump-dom", "--window-size=1600,1000", "--force-device-scale-factor=1")
    dumped = browse(chromium, framed, tmp_path, *words)
    measured = json.loads(html.unescape(re.search(r'data-measured="([^"]*)"', dumped)[1]))
    assert measured["width"] == width
    assert measured["paper"] == "rgb(251, 250, 247)"
    assert measured["page"] <= 0
    assert measured["right"] <= 0
    assert all(height >= 12 for height in measured["ticks"])  # pixels: the numbers of an axis can be read
    assert bool(measured["ticks"]) == ((width, which) == (1440, "boards"))
