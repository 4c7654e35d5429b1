"""The whole suite: six models on all ten benchmarks, kept, ranked, and carried up the tree to one page."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
from suite_models import HAXBY, IMAGES, run_suite

from neuroarena.board import Board, entries_from_results, render_report
from neuroarena.evaluation import find_results, load_result
from neuroarena.families.brainscore.definitions import QUESTIONS

pytestmark = [
    pytest.mark.drill,
    pytest.mark.skipif(find_spec("torchvision") is None, reason="the extra [models] is not installed"),
    pytest.mark.skipif(
        not (HAXBY.is_dir() and IMAGES.is_dir()), reason="the real recordings are not beside the project"
    ),
]


def test_six_models_on_ten_benchmarks_make_a_tree(tmp_path):
    run_suite(tmp_path / "results")
    results = [load_result(folder) for folder in find_results([tmp_path / "results"])]
    assert len(results) == 60
    board = Board(entries_from_results(results))
    assert {ranking.task for ranking in board.rankings} == set(QUESTIONS)
    (tree,) = board.trees
    assert len(tree.teams) == 6
    assert tree.teams[0] == "oracle"
    row = tree.table.set_index(["node", "team"]).loc[("overall", "oracle")]
    regions = tree.table.set_index(["node", "team"])["score"]
    by_hand = np.mean([regions[region, "oracle"] for region in ("V1", "V2", "V4", "IT")])
    assert row["score"] == pytest.approx(by_hand)
    assert row["ci95_low"] < row["score"] < row["ci95_high"]
    for team in tree.teams[1:]:
        # A network without time has no solution times, so no score of IT and none overall.
        assert np.isnan(regions["overall", team])
        assert "Kar2019-ost" in tree.table.set_index(["node", "team"]).loc[("overall", team), "missing"]
        assert np.isfinite(regions["V4", team])
    failed = [result for result in results if not result.complete]
    assert failed
    assert all(result.record.failed_cells[0].error for result in failed)
    page = render_report(board)
    assert all(node.name in page for node in tree.nodes)
