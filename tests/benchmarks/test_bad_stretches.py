"""Stretches that annotations mark as bad: the same windows are left out as by MNE-Python, and counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mne
import numpy as np
import pandas as pd
import pytest

from command_line import neuroarena_in
from neuroarena import Benchmark, evaluate
from neuroarena.errors import InputError
from own_recordings import N_EVENTS, RATE, raw_of

BLINK = [2.9], [0.2], ["BAD_blink"]
RULES: dict[str, Any] = {"window_s": (0.0, 1.0), "split": "blocked-2-folds"}


def marked(*stretches: tuple[list[float], list[float], list[str]], seed: int = 0) -> Any:
    """Return a run with annotations besides its events."""
    raw = raw_of(seed)
    for onsets, durations, names in stretches:
        raw.annotations.append(onsets, durations, names)
    return raw


def kept_by_mne(raw: Any, window_s: tuple[float, float]) -> list[int]:
    events, numbers = mne.events_from_annotations(raw, verbose="error")
    begin, end = window_s
    epochs = mne.Epochs(raw, events, numbers, begin, end - 1 / RATE, baseline=None, verbose="error")
    return (epochs.drop_bad(verbose="error").events[:, 0] - raw.first_samp).tolist()


def kept_by_us(raw: Any, window_s: tuple[float, float], **changes: Any) -> list[int]:
    benchmark = Benchmark.from_events(raw, **{**RULES, "window_s": window_s, **changes})
    return [int(name.rpartition("/")[2]) for name in benchmark.examples["id"]]


@pytest.mark.parametrize("seed", range(6))
def test_the_same_windows_are_left_out_as_by_mne(seed: int):
    rng = np.random.default_rng(seed)
    # On the grid of samples, so that stretches also end exactly where a window begins; some last no time at all.
    onsets = np.sort(rng.integers(0, 3000, 9)) / RATE
    durations = rng.integers(0, 60, 9) / RATE * (np.arange(9) % 3 > 0)
    names = rng.choice(["BAD_blink", "bad", "Bad channel", "EDGE boundary", "edge"], 9)
    raw = marked((list(onsets), list(durations), list(names)))
    # What was cut off before the first sample shifts everything that MNE counts.
    raw.crop(rng.integers(0, 300) / RATE, None)
    window_s = (rng.integers(-30, 10) / RATE, rng.integers(40, 150) / RATE)
    ours, theirs = kept_by_us(raw, window_s), kept_by_mne(raw, window_s)
    assert ours == theirs
    assert len(ours) < N_EVENTS
    assert len(kept_by_us(raw, window_s, reject_by_annotation=False)) > len(ours)


def test_what_was_left_out_is_counted_in_the_record(tmp_path: Path):
    benchmark = Benchmark.from_events(marked(BLINK, ([5.0, 9.0], [0.1, 0.1], ["bad muscle"] * 2)), **RULES)
    said = (
        "3 of 16 events were left out because their windows overlap stretches that are annotated as bad: "
        "bad muscle (2), BAD_blink (1). reject_by_annotation = false keeps them."
    )
    assert said in evaluate("chance", benchmark, cache=tmp_path).record.benchmark.notes
    # A mark is no event, and no class either.
    assert benchmark.manifest.classes == ("left", "right")


def test_padding_may_be_bad_but_a_window_may_not():
    raw = marked(([2.2], [0.5], ["BAD_blink"]))
    assert 300 in kept_by_us(raw, (0, 1), pad_s=0.5)
    assert 300 not in kept_by_us(raw, (-0.5, 1))


def test_events_from_elsewhere_are_held_to_the_annotations_too():
    table = pd.DataFrame({"onset_s": np.arange(1.0, 33.0, 2.0), "value": ["a", "b"] * 8})
    assert 300 not in kept_by_us(marked(BLINK), (0, 1), events=table)
    assert 300 not in kept_by_us(marked(BLINK), (0, 1), stim_channel="STI", target="value")
    # A table of one's own is taken as it is: here "bad" is an answer.
    assert 300 in kept_by_us(raw_of(0), (0, 1), events=table.assign(value=["good", "bad"] * 8))


def test_a_class_that_is_called_bad_is_decoded_where_it_is_named():
    raw = raw_of(0)
    raw.annotations.rename({"left": "bad feedback", "right": "good feedback"})
    benchmark = Benchmark.from_events(raw, **RULES, classes=["bad feedback", "good feedback"])
    assert benchmark.examples["target"].value_counts().to_dict() == {"bad feedback": 8, "good feedback": 8}


def test_events_that_pass_for_marks_are_named_where_they_are_missed():
    raw = raw_of(0)
    raw.annotations.rename({"left": "bad feedback", "right": "good feedback"})
    hint = "Events called bad feedback mark stretches; to decode them, list them in the key classes"
    with pytest.raises(InputError, match=f"say which column of the events is decoded.* {hint}"):
        Benchmark.from_events(raw, **RULES)
    with pytest.raises(InputError, match=f"one class, good feedback.* {hint}"):
        Benchmark.from_events(raw, **RULES, target="description")
    raw.annotations.rename({"good feedback": "edge feedback"})
    with pytest.raises(InputError, match=r"there are no events\..* list them in the key classes"):
        Benchmark.from_events(raw, **RULES)


def test_refusals_say_what_to_do():
    with pytest.raises(
        InputError, match=r"every window overlaps .* BAD_day \(16\)\. Keep them with reject_by"
    ):
        Benchmark.from_events(marked(([0.0], [34.0], ["BAD_day"])), **RULES)
    windows, table = np.zeros((4, 2, 9)), pd.DataFrame({"label": list("abab"), "run": list("1122")})
    rules: dict[str, Any] = {"metadata": table, "rate_hz": 100.0, "target": "label"}
    with pytest.raises(InputError, match="reject_by_annotation is for recordings"):
        Benchmark.from_epochs(windows, **rules, split="leave-one-run-out", reject_by_annotation=True)


def test_a_file_is_described_checked_and_run_with_its_bad_stretches(tmp_path: Path):
    marked(BLINK).save(tmp_path / "lab_raw.fif", verbose="error")
    described = neuroarena_in(tmp_path, "data", "describe", "lab_raw.fif")
    assert (
        "annotated as bad: BAD_blink (1), 0.2 s in all; windows that overlap them are left out"
        in described.stdout
    )
    assert "events by description: left (8), right (8)" in described.stdout
    found = json.loads(neuroarena_in(tmp_path, "data", "describe", "lab_raw.fif", "--json").stdout)
    assert found["recordings"][0]["bad_stretches"] == {"BAD_blink": {"count": 1, "seconds": 0.2}}
    assert "BAD" not in found["suggestion"]
    (tmp_path / "my.toml").write_text('data = "lab_raw.fif"\nwindow_s = [0, 1]\nsplit = "blocked-2-folds"\n')
    checked = neuroarena_in(tmp_path, "check", "benchmark", "my.toml")
    assert checked.returncode == 0, checked.stderr
    assert "note: 1 of 16 events was left out because its window overlaps a stretch" in checked.stderr
    with (tmp_path / "my.toml").open("a") as file:
        file.write("reject_by_annotation = false\n")
    assert "left out" not in neuroarena_in(tmp_path, "check", "benchmark", "my.toml").stderr


def test_a_bids_folder_marks_bad_stretches_among_its_events(tmp_path: Path):
    folder = tmp_path / "sub-01" / "eeg"
    folder.mkdir(parents=True)
    raw = raw_of(0)
    events = raw.annotations.to_data_frame(time_format=None)
    raw.set_annotations(None)
    mne.export.export_raw(folder / "sub-01_task-cue_eeg.edf", raw, verbose="error")
    listed = pd.DataFrame({"name": raw.ch_names, "type": ["EEG", "EEG", "EEG", "EOG", "TRIG"], "units": "V"})
    listed.to_csv(folder / "sub-01_task-cue_channels.tsv", sep="\t", index=False)
    table = pd.DataFrame(
        {"onset": events["onset"], "duration": events["duration"], "trial_type": events["description"]}
    )
    table.loc[len(table)] = [2.9, 0.2, "BAD_blink"]
    table.to_csv(folder / "sub-01_task-cue_events.tsv", sep="\t", index=False)
    benchmark = Benchmark.from_events(tmp_path, **RULES)
    assert benchmark.manifest.classes == ("left", "right")
    assert len(benchmark.examples) == N_EVENTS - 1
    # One file of it, named by itself, is read with the same tables.
    file = folder / "sub-01_task-cue_eeg.edf"
    alone = Benchmark.from_events(file, **RULES)
    assert alone.examples.equals(benchmark.examples)
    (key,) = alone.examples["recording"].unique()
    assert alone.open_recording(key).channels.equals(benchmark.open_recording(key).channels)  # EEG alone
    by_stem = pd.DataFrame({"recording": file.stem, "onset_s": range(1, 9), "value": ["left", "right"] * 4})
    assert len(Benchmark.from_events(file, events=by_stem, **RULES).examples) == 6  # two overlap BAD_blink
    (folder / "sub-01_task-cue_channels.tsv").unlink()
    assert len(Benchmark.from_events(file, **RULES).examples) == N_EVENTS - 1
