"""Maps of one's own recordings: folds in time with an embargo, any kind of target, and refusals that say the cure."""

from __future__ import annotations

import json

import mne
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from command_line import neuroarena_in
from neuroarena.errors import InputError
from neuroarena.maps import MapSettings, compute_map, read_grid
from neuroarena.maps.filtered import high_passed
from neuroarena.maps.own import OwnQuestion, contiguous_folds, own_benchmark
from neuroarena.recordings import from_array

RATE, GAP_S = 100.0, 1.0
NAMES = ["Cz", "Pz", "HEOG"]


def _write(folder, values, gap_s=GAP_S):
    """Write a recording whose Pz rises 0.3 s after events of the last value, or by its size, and the events."""
    rng = np.random.default_rng(0)
    onsets = 2.0 + gap_s * np.arange(len(values))
    signals = rng.standard_normal((3, round(RATE * (onsets[-1] + 4.0)))) * 1e-5
    highest = sorted(set(values))[-1]
    for onset, value in zip(onsets, values, strict=True):
        start = round((onset + 0.3) * RATE)
        size = value / highest if isinstance(value, float) else float(value == highest)
        signals[1, start : start + 20] += 4e-5 * size
    raw = mne.io.RawArray(signals, mne.create_info(NAMES, RATE, "eeg"), verbose="error")
    raw.save(folder / "own_raw.fif", fmt="double", overwrite=True, verbose="error")
    table = pd.DataFrame({"onset": onsets, "duration": 0.5, "kind": values})
    table.to_csv(folder / "events.tsv", sep="\t", index=False)


def _ask(folder, tmin=-0.2, tmax=0.8, **question):
    return own_benchmark(
        folder / "own_raw.fif",
        folder / "events.tsv",
        OwnQuestion("kind", **question),
        MapSettings(first_s=tmin, last_s=tmax),
    )


def test_the_command_maps_a_file_with_a_table_of_events(tmp_path):
    _write(tmp_path, np.random.default_rng(3).permutation(["standard", "target"] * 30).tolist())
    told = ["--events", "events.tsv", "--target", "kind", "--tmin", "-0.2", "--tmax", "0.8", "--null", "19"]
    words = ["map", "--recording", "own_raw.fif", *told, "--out", "map"]
    labelled = neuroarena_in(tmp_path, *words, "--shard", "1/1", "--label", "Pz")
    assert (labelled.returncode, "--label cannot be used with --shard" in labelled.stderr) == (2, True)
    share = neuroarena_in(tmp_path, *words, "--shard", "1/1")
    assert "its 1 of 1 pieces of the map are in the cache" in share.stdout, share.stderr
    assert not (tmp_path / "map").exists()
    done = neuroarena_in(tmp_path, *words, "--json")
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)["tasks"][0]
    assert (tmp_path / "map" / "index.html").read_text(encoding="utf-8").count("19 draws")
    assert (shown["task"], shown["electrode"], shown["significant"]) == ("kind", "1/Pz", 1)
    assert "When and where: kind in own_raw.fif" in (tmp_path / "map" / "index.html").read_text(
        encoding="utf-8"
    )
    grid = read_grid(tmp_path / "map")
    assert grid.electrodes["name"].tolist() == ["Cz", "Pz"]
    assert set(grid.electrodes["space"]) == {"scalp"}
    assert grid.data.sizes["fold"] == 5
    assert grid.provenance["features"] == "voltage"
    notes = " ".join(grid.notes)
    assert "not on the map: HEOG" in notes
    assert "below 0.5 Hz were removed" in notes
    assert "19 draws" in notes


def test_few_trials_make_fewer_folds_and_too_few_are_refused_with_their_number(tmp_path):
    _write(tmp_path, ["a", "b"] * 12, gap_s=2.5)
    benchmark, _ = _ask(tmp_path)
    folds = benchmark.split("contiguous-folds").folds
    assert len(folds) == 5
    rare = {
        0,
        8,
        9,
        10,
        16,
        20,
        22,
        24,
        28,
        30,
        32,
        36,
        38,
    }  # one in the first fifth, three in the first quarter
    _write(tmp_path, ["b" if place in rare else "a" for place in range(40)], gap_s=2.5)
    benchmark, _ = _ask(tmp_path)
    assert len(benchmark.split("contiguous-folds").folds) == 4
    assert "is cut into 4 folds in place of 5" in " ".join(benchmark.notes)
    _write(tmp_path, ["a", "b"] * 9, gap_s=2.5)
    with pytest.raises(
        InputError, match=r"too few trials for a map: 9 of a, 9 of b\. Every fold needs 2 .*--classes"
    ):
        _ask(tmp_path)


def test_more_values_are_classes_against_the_rest_and_many_numbers_are_halved(tmp_path):
    _write(tmp_path, ["a", "b", "c"] * 20)
    assert _ask(tmp_path)[0].manifest.classes == ("a", "b", "c")
    benchmark, _ = _ask(tmp_path, classes=("a", "c"))
    assert len(benchmark.examples) == 40
    loudness = np.random.default_rng(1).uniform(1.0, 9.0, 80).tolist()
    _write(tmp_path, loudness)
    benchmark, _ = _ask(tmp_path)
    assert benchmark.manifest.classes == ()
    judged = [each for fold in benchmark.split("contiguous-folds").folds for each in fold.test]
    assert len(judged) == 40
    assert "highest quarter against its lowest" in " ".join(benchmark.notes)
    grid = compute_map([benchmark], settings=MapSettings(draws=0), cache=tmp_path / "cache")
    assert float(grid.data["n_test"].item()) == 40  # and not the quarters of the quarters


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--target", "colour"], 'have no column "colour"'),
        ([], "--target COLUMN"),
        (["--target", "kind", "--folds", "1"], "--folds is 2 or more"),
        (["--target", "kind", "--null", "5"], "Take 19 or more"),
        (["--target", "kind", "--split", "within-session"], "--split cannot be used with --recording"),
        (["--target", "kind", "--as-published"], "--as-published cannot be used with --recording"),
        (["--target", "kind", "--with", "films"], "--with cannot be used with --recording"),
        (["--target", "kind", "--classes", "a"], "Choose another column as the target, or more classes"),
        (["--target", "kind", "--classes", "a,z"], 'no event has the kind "z"'),
        (["--target", "kind", "--high-pass", "60"], "--high-pass 60 Hz is not between 0 and half"),
        (["--target", "kind", "neuroprobe/onset"], "one of them"),
    ],
)
def test_what_cannot_be_asked_is_refused_and_nothing_is_written(tmp_path, words, message):
    _write(tmp_path, ["a", "b"] * 20)
    told = ["--recording", "own_raw.fif", "--events", "events.tsv", "--out", "map"]
    done = neuroarena_in(tmp_path, "map", *told, *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "map").exists()


def test_a_recording_without_events_is_refused_with_the_option_that_names_them(tmp_path):
    _write(tmp_path, ["a", "b"] * 20)
    with pytest.raises(InputError, match=r"own_raw\.fif: there are no events in it.*--events events\.tsv"):
        own_benchmark(tmp_path / "own_raw.fif", None, OwnQuestion("kind"), MapSettings(draws=0))


@settings(max_examples=30, deadline=None)
@given(
    starts=st.lists(st.integers(0, 2000), min_size=6, max_size=60),
    n_folds=st.integers(2, 5),
    n_recordings=st.integers(1, 3),
)
def test_a_window_lies_between_what_trains_and_what_is_judged(starts, n_folds, n_recordings):
    table = pd.DataFrame(
        {"recording": [str(place % n_recordings) for place in range(len(starts))], "start": starts}
    )
    table = table.assign(stop=table["start"] + 50).sort_values(["recording", "start"], ignore_index=True)
    judged = np.zeros(len(table), dtype=int)
    for train, test in contiguous_folds(table, n_folds):
        judged += test
        assert np.diff(np.flatnonzero(test)).max(initial=1) == 1
        for here in table[train].itertuples():
            for there in table[test].itertuples():
                apart = max(there.start - here.stop, here.start - there.stop)
                assert here.recording != there.recording or apart >= 50
    assert (judged == 1).all()


def test_a_sample_is_filtered_alike_however_it_is_asked_for():
    rng = np.random.default_rng(2)
    signals = rng.standard_normal((2, 20_000)).cumsum(axis=1)
    recording = high_passed(from_array(signals, rate_hz=100.0, channels=["a", "b"]), 0.5)
    whole = recording.read(0, 20_000)
    parts = recording.windows([5900, 0, 19_000], 1000, ["b"])
    assert np.array_equal(parts[:, 0], np.stack([whole[1, s : s + 1000] for s in (5900, 0, 19_000)]))
    spectrum = np.abs(np.fft.rfft(whole[0] * np.hanning(20_000)))
    before = np.abs(np.fft.rfft(signals[0] * np.hanning(20_000)))
    hertz = np.fft.rfftfreq(20_000, 0.01)
    assert (spectrum[(hertz > 0.02) & (hertz < 0.05)] < 0.1 * before[(hertz > 0.02) & (hertz < 0.05)]).all()
    kept = (hertz > 0.7) & (hertz < 5)
    assert np.median(spectrum[kept] / before[kept]) == pytest.approx(1, abs=0.02)
