"""The demo: what a newcomer sees first has something to decide, and something to leave undecided."""

from __future__ import annotations

import pytest

from neuroarena.demo import find_demo, run_demo
from neuroarena.statistics import MINIMUM_LEVELS


def test_the_demo_simulates_as_many_people_as_a_verdict_needs():
    plan = find_demo()
    assert plan.twin["subjects"] >= MINIMUM_LEVELS
    assert plan.size == "4 decoders x 3 tasks x 1 split"


@pytest.mark.drill
def test_the_board_of_the_demo_has_verdicts_and_a_tie(tmp_path):
    made = run_demo(find_demo(), tmp_path / "out", tmp_path / "data", workers=2, cache=tmp_path / "cache")
    [overall] = made.board.overall
    rows = overall.verdicts.set_index(["a", "c"])["verdict"]
    letters = overall.table.set_index("team")["letters"]
    assert (rows == "better").any()
    assert (rows == "undecided").any()
    for (above, below), verdict in rows.items():
        assert (verdict == "better") != bool(set(letters[above]) & set(letters[below]))
    assert all(value > overall.table["score"].max() for value in made.ideal.values())
    assert "simulated" in made.report.read_text()
    assert "simulated" in (made.site / "index.html").read_text()
