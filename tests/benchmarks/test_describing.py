"""``neuroarena data describe``: what there is, and a file that runs."""

from __future__ import annotations

import json
from pathlib import Path

import mne
import pytest

from command_line import neuroarena_in
from own_recordings import N_EVENTS, raw_of, write_files
from shared_data import SHARED

IMAGERY = SHARED / "data" / "real" / "eegmmidb_p300" / "eegmmidb"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab")
    (folder / "recordings").mkdir()
    write_files(folder / "recordings")
    return folder


def test_a_folder_is_described_and_the_suggested_file_runs(lab: Path):
    said = neuroarena_in(lab, "data", "describe", "recordings")
    assert said.returncode == 0, said.stderr
    assert "recordings: 4 recordings (files)" in said.stdout
    assert f"events by description: left ({2 * N_EVENTS}), right ({2 * N_EVENTS})" in said.stdout
    found = json.loads(neuroarena_in(lab, "data", "describe", "recordings", "--json").stdout)
    first = found["recordings"][0]
    assert first["entities"] == {"subject": "1", "run": "1"}
    assert first["channels"] == {"eeg": 3, "eog": 1, "stim": 1}
    assert (first["rate_hz"], first["seconds"], first["n_events"]) == (100.0, 34.0, N_EVENTS)
    (lab / "my.toml").write_text(neuroarena_in(lab, "data", "describe", "recordings", "--toml").stdout)
    assert 'split = "leave-one-subject-out"' in (lab / "my.toml").read_text()
    ran = neuroarena_in(lab, "check", "benchmark", "my.toml")
    assert (ran.returncode, "FAIL" in ran.stdout) == (0, False), ran.stderr


def test_events_of_a_marker_channel_are_counted(lab: Path):
    file = "recordings/P1R1.fif"
    found = json.loads(neuroarena_in(lab, "data", "describe", file, "--stim-channel", "STI", "--json").stdout)
    assert found["events"] == {"value": {"1": N_EVENTS // 2, "2": N_EVENTS // 2}}
    assert 'stim_channel = "STI"' in found["suggestion"]


def test_a_folder_without_recordings_is_refused(tmp_path: Path):
    ran = neuroarena_in(tmp_path, "data", "describe", ".")
    assert (ran.returncode, "holds no recording" in ran.stderr) == (2, True)


@pytest.mark.skipif(not IMAGERY.is_dir(), reason="the real data beside the project are absent")
def test_a_damaged_file_does_not_hide_the_others(tmp_path: Path):
    ran = neuroarena_in(tmp_path, "data", "describe", str(IMAGERY), "--json")
    found = json.loads(ran.stdout)
    assert [row.get("key") for row in found["recordings"]] == ["S001R04", "S001R06", "S001R08", None] or [
        row.get("key") for row in found["recordings"]
    ] == [None, "S001R04", "S001R06", "S001R08"]
    assert found["events"]["description"] == {"T0": 45, "T1": 23, "T2": 22}
    assert "S001R03.edf: is longer than its header says" in ran.stderr
    assert "S001R03" not in found["suggestion"]


def test_recordings_that_were_never_fetched_are_named_and_not_left_out(tmp_path: Path):
    folder = tmp_path / "lab"
    folder.mkdir()
    key = "MD5E-s12--d41d8cd98f00b204e9800998ecf8427e.edf"
    for name in ("s1.edf", "s2.edf"):
        (folder / name).symlink_to(f"../.git/annex/objects/aa/bb/{key}/{key}")
    ran = neuroarena_in(tmp_path, "data", "describe", "lab")
    assert ran.returncode == 2
    assert "none of its 2 recordings can be read" in ran.stderr
    assert "content not fetched" in ran.stderr
    assert "datalad get s1.edf" in ran.stderr
    ran = neuroarena_in(tmp_path, "data", "describe", "lab/s2.edf")
    assert "content not fetched" in ran.stderr
    assert "none of its" not in ran.stderr


def test_channels_that_a_reader_left_out_are_said_in_a_sentence(tmp_path: Path):
    real = SHARED / "data" / "real" / "mne_testing_files" / "mne-testing" / "EDF" / "test_reduced.edf"
    if not real.is_file():
        pytest.skip("the real data mne_testing_files are not beside this clone")
    ran = neuroarena_in(tmp_path, "data", "describe", str(real))
    assert ran.stderr.startswith("note: test_reduced.edf: left out A1, A2")
    assert "UserWarning" not in ran.stderr


def test_recordings_and_epochs_of_one_folder_are_told_apart(tmp_path: Path):
    raw_of(0).save(tmp_path / "P1_raw.fif")
    epochs = mne.Epochs(raw_of(1), tmin=0, tmax=1, baseline=None, preload=True)
    for name in ("P1", "P2"):
        epochs.save(tmp_path / f"{name}-epo.fif")
    said = neuroarena_in(tmp_path, "data", "describe", ".")
    for words in ("P1_raw", "P1-epo", "P2-epo", "recordings and epochs are two benchmarks"):
        assert words in said.stdout
    refused = neuroarena_in(tmp_path, "data", "describe", ".", "--toml")
    assert refused.returncode == 2
    assert "recordings and epochs are two benchmarks" in refused.stderr
