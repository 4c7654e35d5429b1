"""Real EEGLAB, BrainVision, GDF and FIF files, and BIDS folders, against independent readings."""

from __future__ import annotations

import re
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import h5py
import mne
import numpy as np
import pandas as pd
import pytest

from neuroarena.datasets.dataset import find_problems
from neuroarena.errors import InputError, MissingDependency
from neuroarena.families.emg.emg2qwerty import DATASET as EMG2QWERTY
from neuroarena.recordings import annotations, open_file
from neuroarena.recordings.bids import bids_events, bids_recordings, open_bids

Find = Callable[[str], Path]
VISUAL = "ieeg/ieeg_visual"


@pytest.fixture
def matlab_73(real: Find, tmp_path: Path) -> Path:
    """A real .set of MATLAB 7.3; its samples are those of the EEGLAB sample, under another name."""
    shutil.copyfile(
        real("mne_testing_files/mne-testing/EEGLAB/test_raw_h5.set"), tmp_path / "test_raw_h5.set"
    )
    (tmp_path / "test_raw.fdt").symlink_to(real("eeglab_sample/eeglab_data.fdt"))
    return tmp_path / "test_raw_h5.set"


def test_a_set_of_matlab_73_is_read(matlab_73: Path) -> None:
    recording = open_file(matlab_73)
    whole = np.fromfile(matlab_73.with_name("test_raw.fdt"), "<f4").reshape(-1, 32).T
    np.testing.assert_allclose(recording.read(0, 30504), whole, rtol=1e-6)
    with h5py.File(matlab_73) as file:
        eeg = file["EEG"]
        assert recording.rate_hz == eeg["srate"][0, 0]
        latencies = [file[ref][0, 0] for ref in eeg["event"]["latency"][:].ravel()]
        kinds = [_text(file, ref) for ref in eeg["event"]["type"][:].ravel()]
        assert len(recording.channels) == eeg["nbchan"][0, 0]
    events = annotations(matlab_73)
    assert events["description"].tolist() == kinds
    # EEGLAB counts samples from one.
    np.testing.assert_allclose(events["onset_s"] * 128, np.array(latencies) - 1, atol=1e-3)


def _text(file: h5py.File, reference: h5py.Reference) -> str:
    return "".join(chr(code) for code in file[reference][:].ravel())


def test_without_its_library_a_set_of_matlab_73_names_the_extra(
    matlab_73: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match=r'MATLAB 7\.3, needs pymatreader.*"neuroarena\[eeg\]"'):
        open_file(matlab_73)


@pytest.mark.parametrize("name", ["test_raw_2021.set", "test_raw_event_duration.set"])
def test_a_set_that_holds_its_samples_is_what_scipy_loads(real: Find, name: str) -> None:
    from scipy.io import loadmat

    path = real(f"mne_testing_files/mne-testing/EEGLAB/{name}")
    content = loadmat(path, squeeze_me=True, struct_as_record=False)
    eeg = content.get("EEG")
    samples = np.atleast_2d(content["data"] if eeg is None else eeg.data)
    recording = open_file(path)
    np.testing.assert_allclose(recording.read(0, recording.n_samples), samples, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mne-testing/EEGLAB/test_epochs.set", "holds epochs"),
        ("mne-testing/EEGLAB/test_raw.set", r"test_raw\.fdt"),
        ("mne-testing/Brainvision/Analyzer_nV_Export.vhdr", "fewer than its header promises"),
    ],
)
def test_a_real_file_that_is_not_a_whole_recording_is_refused_by_name(
    real: Find, name: str, said: str
) -> None:
    path = real(f"mne_testing_files/{name}")
    with pytest.raises(InputError, match=rf"{re.escape(path.name)}.*{said}"):
        open_file(path)


def test_brainvision_samples_are_those_of_the_binary_file(real: Find) -> None:
    path = real("mne_testing_files/mne-testing/Brainvision/test_NO.vhdr")
    header = path.read_text("latin-1")
    channels = re.findall(r"^Ch\d+=([^,]*),[^,]*,([^,\r\n]*)", header, flags=re.MULTILINE)
    stored = np.fromfile(path.with_suffix(".eeg"), "<i2" if "INT_16" in header else "<f4")
    recording = open_file(path)
    assert recording.channels["name"].tolist() == [name for name, _ in channels]
    expected = stored.reshape(-1, len(channels)).T * np.array([[float(step or 1)] for _, step in channels])
    np.testing.assert_allclose(recording.read(0, recording.n_samples), expected, rtol=1e-5)


def test_a_gdf_file_is_read_as_mne_reads_it_with_all_its_events(real: Find) -> None:
    (path,) = real("ssvep_exo/gdf_example").glob("*.gdf")
    raw = mne.io.read_raw_gdf(path, preload=True, verbose="error")
    recording = open_file(path)
    assert recording.channels["name"].tolist() == raw.ch_names
    np.testing.assert_allclose(recording.read(0, recording.n_samples), raw.get_data() * 1e6, rtol=1e-6)
    events = annotations(path)
    # MNE drops the one event after the last sample.
    assert len(events) == len(raw.annotations) + 1
    np.testing.assert_allclose(events["onset_s"][:-1], raw.annotations.onset)
    assert events["description"][:-1].tolist() == raw.annotations.description.tolist()
    content = path.read_bytes()
    count = struct.unpack("<I", content[-6 * len(events) - 4 : -6 * len(events)])[0]
    assert count == len(events)


def test_a_bids_folder_of_ecog_in_gdf_that_mne_cannot_read_is_opened(real: Find) -> None:
    root = real(VISUAL)
    listed = bids_recordings(root, "ieeg", subjects=["01"])
    (path,) = [Path(name) for name in listed["path"] if name.endswith(".gdf")]
    with pytest.raises(OverflowError, match="date value out of range"):
        mne.io.read_raw_gdf(path, verbose="error")
    recording = open_bids(path)
    table = pd.read_csv(path.with_name(path.name.replace("_ieeg.gdf", "_channels.tsv")), sep="\t", dtype=str)
    assert recording.channels["name"].tolist() == table["name"].tolist()
    assert set(recording.channels["kind"]) == {"ecog"}
    assert (recording.n_samples, recording.rate_hz) == (3000, 3052.0)
    stored = np.frombuffer(path.read_bytes(), "<f8", offset=256 * 119).reshape(3000, 118).T
    np.testing.assert_array_equal(recording.read(0, 3000), stored.astype(np.float32))
    assert (
        len(bids_events(path))
        == len(path.with_name(path.name.replace("_ieeg.gdf", "_events.tsv")).read_text("utf-8").splitlines())
        - 1
    )


def test_a_bids_folder_of_ecog_in_brainvision_takes_kinds_and_units_from_its_table(real: Find) -> None:
    for path in bids_recordings(real(VISUAL), "ieeg", subjects=["02"])["path"]:
        recording = open_bids(path, kinds=["ieeg"])
        stored = np.fromfile(Path(path).with_suffix(".eeg"), "<f4")
        np.testing.assert_allclose(recording.read(0, 1)[:, 0], stored)
        assert set(recording.channels["kind"]) == {"ecog"}


def test_fif_of_ecog_keeps_kinds_and_positions(real: Find) -> None:
    path = real("ieeg/mne-misc/ecog/sample_ecog_ieeg.fif")
    raw = mne.io.read_raw_fif(path, preload=True, verbose="error")
    recording = open_file(path)
    assert recording.channels["kind"].tolist() == raw.get_channel_types()
    np.testing.assert_allclose(recording.read(0, recording.n_samples), raw.get_data() * 1e6, rtol=1e-6)
    assert recording.channels[["x", "y", "z"]].notna().all(axis=None)
    with pytest.raises(InputError, match=r"sample_ecog-head\.fif"):
        open_file(real("ieeg/mne-misc/ecog/sample_ecog-head.fif"))


def test_texts_of_emg2qwerty_are_read_from_a_clone_without_signals(real: Find) -> None:
    root = real("emg2qwerty_labels/nm000104")
    data = EMG2QWERTY.open(root)
    assert len(data.sessions) == 6
    for session in data.sessions[::3]:
        lines = data.file(session).with_name(data.file(session).name.replace("_emg.bdf", "_events.tsv"))
        rows = [line.split("\t") for line in lines.read_text("utf-8-sig").splitlines()[1:]]
        keys = [row[3].removeprefix("keystroke_") for row in rows if row[3].startswith("keystroke_")]
        letters = [key for key in keys if len(key) == 1]
        # Keys of one letter are themselves; the others become one sign each, or none.
        assert [sign for sign in data.text(session) if sign.isascii() and sign not in " \n"] == letters
        # Each session begins with this prompt; people correct themselves, so no text equals it.
        assert "quick brown fox" in data.text(session)[:60]


def test_signals_that_were_not_fetched_are_one_problem_with_their_number(real: Find) -> None:
    root = real("emg2qwerty_labels/nm000104")
    (problem,) = find_problems(EMG2QWERTY, root)
    assert problem.what.startswith("content not fetched: 6 files")
    assert "datalad get" in problem.what
    data = EMG2QWERTY.open(root)
    with pytest.raises(
        InputError, match=r"content not fetched from git-annex, nor that of 5 other \.bdf files.*datalad get"
    ):
        data.recording(data.sessions[0])
