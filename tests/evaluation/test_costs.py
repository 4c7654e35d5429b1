"""What a run will take is estimated from what its cells took."""

from __future__ import annotations

import json

import pytest

from command_line import neuroarena_in
from neuroarena.evaluation import evaluate
from neuroarena.evaluation.cache_care import prune_cache, verify_cache
from neuroarena.evaluation.costs import (
    Cost,
    estimate_costs,
    estimate_wall_s,
    find_what_does_not_fit,
    measure_memory,
    measure_unknown,
)
from neuroarena.evaluation.feature_costs import FeatureCost, estimate_features
from neuroarena.evaluation.origins import read_origins
from neuroarena.evaluation.plan import plan_runs
from neuroarena.features import FeatureChain
from neuroarena.sealed import SealedFolder, reporting_to
from toy import Mean, toy_benchmark, toy_linear
from track_twins import twin


def test_every_cell_has_a_note_on_where_it_was_computed(tmp_path):
    evaluate(Mean(), toy_benchmark(), "within", cache=tmp_path)
    notes = list(read_origins(tmp_path))
    assert len(notes) == 8
    assert {note.decoder for note in notes} == {"toy.Mean of laplacian"}
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


def test_kinds_are_told_apart_by_features_and_by_parameters_that_are_words():
    raw, quick = Mean(features=FeatureChain()), Mean(features=FeatureChain(), log="quick")
    benchmark, named = toy_benchmark(), [("a", Mean()), ("b", raw), ("c", quick), ("d", Mean(channel=2))]
    kinds = [plan.cells[0].decoder_type for plan in plan_runs(named, [benchmark], ["within"])]
    assert kinds == ["toy.Mean of laplacian", "toy.Mean", "toy.Mean(quick)", "toy.Mean of laplacian"]
    shares = plan_runs([("a", Mean())], [benchmark], ["within"], train_fractions=(0.5, 1.0))
    assert [plan.cells[0].kind[1] for plan in shares] == ["within-train-0.5", "within"]


def test_features_that_are_missing_are_counted_in_room_and_time(tmp_path):
    plans = plan_runs([("linear", toy_linear()), ("mean", Mean())], [toy_benchmark()], ["within"])
    unknown, known = (estimate_features(plans, tmp_path, measure) for measure in (False, True))
    # 4 sessions of 60 windows, of 4 electrodes and 50 samples each.
    assert unknown.bytes == known.bytes == 4 * 60 * 4 * 50 * 4
    assert unknown.seconds is None
    assert 0 < known.longest_s < known.seconds
    assert not (tmp_path / "features").exists()
    assert not any((tmp_path / "unfinished").iterdir())
    evaluate(Mean(), toy_benchmark(), "within", cache=tmp_path)
    assert estimate_features(plans, tmp_path) == FeatureCost(0, 0.0)


def test_the_time_by_the_clock_ends_with_the_longest_piece():
    features = FeatureCost(1, seconds=40.0, longest_s=10.0)
    costs = [
        Cost("b", "s", "quick", 10, 0, 2.0, 1.0, 3),
        Cost("b", "s", "slow", 1, 0, 30.0, 1.0, 3),
        Cost("b", "s", "unknown", 5, 0, None, None, 0),
    ]
    assert estimate_wall_s(costs, features, 1) == 40 + 50
    assert estimate_wall_s(costs, features, 2) == 20 + 30
    assert estimate_wall_s(costs, features, 100) == 10 + 30
    assert estimate_wall_s(costs[2:], FeatureCost(1, None), 2) == 0


def test_a_decoder_that_draws_nothing_is_planned_to_be_trained_once(tmp_path):
    plans = plan_runs([("mean", Mean())], [toy_benchmark()], ["within"], repeats=3)
    assert estimate_costs(plans, tmp_path)[0].cells == 24
    plans[0].cells[0].run(tmp_path)
    assert estimate_costs(plans, tmp_path)[0].cells == 8


def test_a_cell_that_fails_while_it_is_measured_is_named_and_the_plan_goes_on(tmp_path):
    words = ("plan", "trouble:toy", "-d", "trouble:killer", "-d", "trouble:mean", "--json")
    (tmp_path / "trouble.py").write_text(TROUBLE)
    done = neuroarena_in(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    (reason,) = told["does_not_fit"]
    assert (
        "trouble:killer on toy@1/blip could not be measured: the worker process was ended by SIGKILL"
        in reason
    )
    assert [run["seconds"] is None for run in told["runs"]] == [True, False]
    assert told["feature_seconds"] > 0
    said = neuroarena_in(tmp_path, *words[:-1], "--no-measure").stdout
    assert "nothing is known of their time: 1 of 2 runs and the features. Leave out --no-measure" in said


TROUBLE = """
from toy import Fragile, Mean, toy_benchmark
toy = toy_benchmark()
killer, mean = Fragile(session="1_0", how="die"), Mean()
"""


@pytest.mark.parametrize(
    ("peak_mb", "workers", "sentence"),
    [
        (
            3e3,
            4,
            "takes 3.0 GB per worker: of 4 workers 2 fit into the 8.0 GB of this machine. Use --workers 2.",
        ),
        (
            5e3,
            4,
            "takes 5.0 GB per worker: of 4 workers 1 fits into the 8.0 GB of this machine. Use --workers 1.",
        ),
        (
            9e3,
            4,
            "takes 9.0 GB per worker: not even one fits into the 8.0 GB of this machine. Run it on a larger",
        ),
        (9e3, 1, "takes 9.0 GB per worker: not even one fits"),
        (3e3, 2, None),
        (None, 4, None),
    ],
)
def test_memory_that_is_not_enough_is_named(tmp_path, monkeypatch, peak_mb, workers, sentence):
    monkeypatch.setattr("neuroarena.evaluation.costs.measure_memory", lambda: 8e9)
    cost = Cost("b", "s", "huge", 10, 0, 1.0, peak_mb, 3)
    said = find_what_does_not_fit([cost], 0, tmp_path, workers)
    assert len(said) == (sentence is not None)
    assert sentence is None or f"huge on b {sentence}" in said[0]


def test_features_that_the_disk_has_no_room_for_are_named(tmp_path):
    (disk,) = find_what_does_not_fit([], 10**18, tmp_path, 4)
    assert "GB left" in disk


def test_the_memory_of_a_container_counts_where_it_is_less_than_the_machines(tmp_path):
    whole = measure_memory(tmp_path)
    (tmp_path / "memory.max").write_text("max\n")
    assert measure_memory(tmp_path) == whole > 1e6
    (tmp_path / "memory.max").write_text("1000000\n")
    assert measure_memory(tmp_path) == 1e6


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
