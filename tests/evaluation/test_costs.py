"""What a run will take is estimated from what its cells took."""

from __future__ import annotations

import json

from command_line import neuroarena_in
from neuroarena.evaluation import evaluate
from neuroarena.evaluation.cache_care import prune_cache, verify_cache
from neuroarena.evaluation.costs import Cost, estimate_costs, find_what_does_not_fit, measure_unknown
from neuroarena.evaluation.origins import read_origins
from neuroarena.evaluation.plan import plan_runs
from neuroarena.sealed import SealedFolder, reporting_to
from toy import Mean, toy_benchmark
from track_twins import twin


def test_every_cell_has_a_note_on_where_it_was_computed(tmp_path):
    evaluate(Mean(), toy_benchmark(), "within", cache=tmp_path)
    notes = list(read_origins(tmp_path))
    assert len(notes) == 8
    assert {note.decoder for note in notes} == {"toy.Mean"}
    assert all(note.seconds > 0 and note.peak_mb > 0 and len(note.digest) == 64 for note in notes)


def test_costs_are_unknown_until_a_cell_was_computed(tmp_path):
    plans = plan_runs([("mean", Mean())], [toy_benchmark()], ["within"])
    (cost,) = estimate_costs(plans, tmp_path)
    assert (cost.cells, cost.cached, cost.seconds, cost.pack) == (8, 0, None, None)
    measure_unknown(plans, tmp_path)
    (cost,) = estimate_costs(plans, tmp_path)
    # The first cell imports what it needs, so that the quicker of two is what the others will take.
    assert (cost.cells, cost.cached, cost.measured) == (8, 2, 2)
    assert cost.seconds_a_cell == min(each.seconds for each in read_origins(tmp_path))
    assert cost.seconds == 6 * cost.seconds_a_cell
    assert cost.pack == int(600 / max(cost.seconds_a_cell, 1e-3))


def test_too_many_workers_and_too_many_features_are_named(tmp_path):
    cost = Cost("b", "s", "huge", 10, 0, 1.0, 1e9, 3)
    memory, disk = find_what_does_not_fit([cost], 10**18, tmp_path, 4)[::-1]
    assert "of 4 workers 1 fit" in memory
    assert "has" in disk
    assert "GB left" in disk
    assert find_what_does_not_fit([], 0, tmp_path, 2) == []


def test_a_plan_is_printed_and_computes_no_more_than_two_cells(tmp_path):
    words = ("plan", "bci/commands", "--data", str(twin("bci_commands")), "-d", "chance", "-d", "csp-lda")
    done = neuroarena_in(tmp_path, *words, "--json", "--workers", "2")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert all(run["cached"] in (1, 2) for run in told["runs"])
    assert told["workers"] == 2
    assert "cells are left" in neuroarena_in(tmp_path, *words).stdout


def test_notes_are_not_verified_and_go_with_their_cells(tmp_path):
    evaluate(Mean(), toy_benchmark(), "within", cache=tmp_path)
    checked, damaged = verify_cache(tmp_path)
    assert damaged == []
    assert checked > 8
    prune_cache(tmp_path, unused_days=0)
    assert list(read_origins(tmp_path)) == []


def test_two_writers_that_disagree_are_reported_and_the_first_stays(tmp_path):
    folder, said = SealedFolder(tmp_path), []
    folder.write("entry", b"one")
    with reporting_to(said.append):
        folder.write("entry", b"one")
        folder.write("entry", b"two")
    assert bytes(folder.read("entry")) == b"one"
    assert len(said) == 1
    assert "different content" in said[0]


def test_a_profile_beside_the_runs_names_every_step_and_the_cells_that_were_computed(tmp_path):
    words = (
        "run",
        "bci/commands",
        "--data",
        str(twin("bci_commands")),
        "-d",
        "chance",
        "--profile",
        "--out",
        "out",
    )
    assert neuroarena_in(tmp_path, *words).returncode == 0
    (written,) = (tmp_path / "out").glob("profile-*.json")
    profile = json.loads(written.read_text())
    steps = [step["name"] for step in profile["steps"]]
    assert steps == ["plan", "read the cache", "features", "cells", "assemble", "save"]
    assert all(step["seconds"] >= 0 and step["peak_mb"] > 0 for step in profile["steps"])
    assert profile["cells"]["computed"] > 0
    assert profile["cells"]["peak_mb"] > 0
    assert profile["cells"]["slowest"][0]["seconds"] >= profile["cells"]["median_seconds"]
    written.unlink()
    assert neuroarena_in(tmp_path, *words).returncode == 0
    (again,) = (tmp_path / "out").glob("profile-*.json")
    assert json.loads(again.read_text())["cells"]["computed"] == 0
    ranked = neuroarena_in(tmp_path, "board", "out")
    assert ranked.returncode == 0, ranked.stderr
