"""Networks that ship: small, labelled, and better than guessing on the twin they were made for."""

from __future__ import annotations

import importlib
import json

import pytest
from safetensors import safe_open

from neuroarena import evaluate, load_benchmark, load_dataset
from neuroarena.decoders import load_decoder

TRACKS = ("img", "bci", "sleep", "emg")
MOST_BYTES = 2_000_000


@pytest.mark.parametrize("track", TRACKS)
def test_a_shipped_network_is_small_and_says_that_it_learned_from_simulated_data(track):
    path = importlib.import_module(f"neuroarena.families.{track}.shipped").WEIGHTS
    assert path.stat().st_size < MOST_BYTES
    with safe_open(path, framework="pt") as file:
        said = json.dumps(dict(file.metadata()))
    assert "simulated" in said


@pytest.mark.parametrize("track", TRACKS)
def test_a_shipped_network_is_a_decoder_by_name(track):
    assert load_decoder(f"shipped-{track}") is not None


@pytest.mark.drill
def test_the_shipped_network_of_commands_knows_them_without_learning(tmp_path):
    load_dataset("bci_commands").simulate(tmp_path / "twin")
    benchmark = load_benchmark("bci/commands", str(tmp_path / "twin"))
    assert evaluate("shipped-bci", benchmark).score > 0.45


@pytest.mark.drill
@pytest.mark.parametrize(
    ("dataset", "benchmark", "floor", "track"),
    [
        ("things_eeg2", "img/things-eeg2", "dummy", "img"),
        ("sleep_edf", "sleep/sleep-edf", "sleep-median", "sleep"),
        ("emg2qwerty", "emg/emg2qwerty", "most-frequent-key", "emg"),
    ],
)
def test_a_shipped_network_beats_the_floor_of_its_track(dataset, benchmark, floor, track, tmp_path):
    load_dataset(dataset).simulate(tmp_path / "twin")
    loaded = load_benchmark(benchmark, str(tmp_path / "twin"))
    shipped, dummy = (evaluate(name, loaded) for name in (f"shipped-{track}", floor))
    better = shipped.score > dummy.score
    assert better if loaded.manifest.direction == "higher" else shipped.score < dummy.score
