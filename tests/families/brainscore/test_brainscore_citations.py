"""Every benchmark that ships says how its recordings are cited, and the pages of a site show it beside the version."""

from __future__ import annotations

import json

from entry_making import suite
from neuroarena.board import Board, Rules
from neuroarena.board.site import Sources, build_site
from neuroarena.board.site.publications import find_publication
from neuroarena.families.brainscore.citations import cite_benchmark
from neuroarena.families.brainscore.definitions import BENCHMARK_FACTORIES
from neuroarena.scoring import Overall


def test_every_benchmark_that_ships_is_cited():
    cited = {name: find_publication(cite_benchmark(name)) for name in BENCHMARK_FACTORIES}
    assert all(found is not None and found["title"] for found in cited.values())
    assert cite_benchmark("Kar2019-ost").startswith("@article{kar2019evidence,")
    assert cite_benchmark("Mine2026.IT-pls") is None


def test_a_site_shows_version_and_bibtex_of_a_benchmark_and_its_tree_leads_there(tmp_path, monkeypatch):
    tasks = {"onset": "V1", "speech": "V1"}
    tree = Overall(kind="tree", parents={**tasks, "V1": "average"})
    for module in ("suites", "trees"):
        monkeypatch.setattr(f"neuroarena.board.{module}.overall_of", lambda family: tree)
    monkeypatch.setattr(
        "neuroarena.board.site.board_pages.face_of",
        lambda family, name: (lambda task: cite_benchmark("Kar2019-ost")) if name == "citation" else None,
    )
    entries = suite()
    board = Board(entries, Rules(n_draws=200))
    build_site(board, Sources(tuple(entries), (), "ab" * 32, {"results": 1}), tmp_path / "site")
    page = next(
        row["page"]
        for row in json.loads((tmp_path / "site/index.json").read_text())["boards"]
        if row["kind"] == "task"
    )
    assert "kar2019evidence" in (tmp_path / "site" / page).read_text()
    assert json.loads((tmp_path / "site" / page).with_suffix(".json").read_text())["bibtex"].startswith(
        "@article{kar"
    )
    index = (tmp_path / "site/index.html").read_text()
    assert f'href="{page}">onset</a> <span class="soft small">version 1</span>' in index
