from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from neuroarena.errors import InputError
from neuroarena.families.sleep.muse_sleep import MuseSleep, simulate, verify

pytest.importorskip("pybv")
pytest.importorskip("mne_bids")
SMALL = {"people": 2, "recordings": 2, "longest": 11, "seed": 3}
FIRST = "sub-001/ses-001/eeg/sub-001_ses-001_task-sleeponset"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("twin") / "muse_sleep"
    simulate(folder, **SMALL)
    return folder


@pytest.fixture
def copied(root: Path, tmp_path: Path) -> Path:
    shutil.copytree(root, tmp_path / "copy")
    return tmp_path / "copy"


def test_a_twin_has_the_real_layout(root: Path):
    for ending in ("eeg.vhdr", "eeg.vmrk", "eeg.eeg", "eeg.json", "events.tsv", "channels.tsv"):
        assert (root / f"{FIRST}_{ending}").is_file()
    data = MuseSleep(root)
    onset = data.onset_s("sub-001_ses-001")
    marker = (root / f"{FIRST}_eeg.vmrk").read_text(encoding="utf-8").splitlines()[-1]
    assert marker == f"Mk1=Stimulus,S  1,{round(onset * 128) + 1},1,0"
    size = (root / f"{FIRST}_eeg.eeg").stat().st_size
    assert size == data.open("sub-001_ses-001").n_samples * 16
    sessions = pd.read_csv(root / "sub-001" / "sub-001_sessions.tsv", sep="\t")
    assert (sessions["sample_count"] / 128 - 300 == sessions["n2_onset"]).all()
    people = pd.read_csv(root / "participants.tsv", sep="\t", keep_default_na=False)
    assert people["participant_id"].tolist() == ["sub-001", "sub-002"]
    assert people["recording_count"].tolist() == [2, 2]


def test_a_clean_twin_verifies_and_ends_exactly_300_seconds_after_n2_as_the_real_set_does(root: Path):
    assert verify(root) == []
    data = MuseSleep(root)
    assert data.simulated
    assert len(data.sessions) == 4
    assert {data.open(key).duration_s - data.onset_s(key) for key in data.sessions} == {300.0}


def test_the_bids_folder_is_readable_by_mne_bids_itself(root: Path):
    mne_bids = pytest.importorskip("mne_bids")
    path = mne_bids.BIDSPath("001", "001", "sleeponset", datatype="eeg", root=root)
    raw = mne_bids.read_raw_bids(path, verbose="error")
    assert raw.ch_names == ["TP9", "AF7", "AF8", "TP10"]
    assert raw.annotations.description.tolist() == ["n2_onset"]
    ours = MuseSleep(root).open("sub-001_ses-001").read(0, 1280)
    np.testing.assert_allclose(ours, 1e6 * raw.get_data(stop=1280), rtol=1e-5, atol=1e-3)


def test_a_length_leak_leaves_too_little_after_n2_to_hide_the_end(tmp_path: Path):
    simulate(tmp_path / "leak", **SMALL, plant_leak="length")
    data = MuseSleep(tmp_path / "leak")
    assert {data.open(key).duration_s - data.onset_s(key) for key in data.sessions} == {90.0}


def test_a_channel_leak_counts_down_and_an_order_leak_sorts(tmp_path: Path):
    simulate(tmp_path / "channel", people=1, recordings=1, longest=11, plant_leak="channel")
    data = MuseSleep(tmp_path / "channel")
    (key,) = data.sessions
    at = round(data.onset_s(key) * 128)
    leak = data.open(key).read(at - 2560, at + 1, ["TP10"])[0]
    assert leak[[0, -1]].tolist() == pytest.approx([1.0, 0.0], abs=0.05)
    simulate(tmp_path / "order", people=3, recordings=1, plant_leak="order")
    data = MuseSleep(tmp_path / "order")
    onsets = [data.onset_s(key) for key in data.sessions]
    assert onsets == sorted(set(onsets))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"people": 204}, "people must be a whole number from 1 to 203"),
        ({"recordings": 0}, "recordings must be a whole number from 1 to 5"),
        ({"longest": 10}, "longest must be a whole number from 11 to 35"),
        ({"plant_leak": "smell"}, "--plant-leak must be one of"),
    ],
)
def test_options_of_the_muse_twin_out_of_range_are_refused(tmp_path: Path, options: dict, words: str):
    with pytest.raises(InputError, match=words):
        simulate(tmp_path / "twin", **options)
    assert not (tmp_path / "twin").exists()


def _rewrite(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda at: (at / f"{FIRST}_events.tsv").unlink(), "has no events.tsv"),
        (lambda at: _rewrite(at / f"{FIRST}_events.tsv", "n2_onset", "n3_onset"), "has 0 events n2_onset"),
        (lambda at: _rewrite(at / f"{FIRST}_events.tsv", "\t0\tn2", "x\t0\tn2"), "events.tsv"),
        (lambda at: (at / f"{FIRST}_channels.tsv").unlink(), "has no channels.tsv"),
        (lambda at: (at / f"{FIRST}_eeg.eeg").write_bytes(b"123"), "_eeg.vhdr"),
        (lambda at: shutil.rmtree(at / "sub-002"), "is missing, although simulated.json lists it"),
    ],
)
def test_verify_names_what_is_damaged(copied: Path, damage: Callable[[Path], object], words: str):
    damage(copied)
    assert words in " ".join(map(str, verify(copied)))


def test_a_folder_without_recordings_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="holds no recording of the task sleeponset"):
        MuseSleep(tmp_path)
    assert "holds no recording" in str(verify(tmp_path)[0])


def test_brainvision_with_other_habits_is_read(tmp_path: Path):
    """Sixteen-bit, vectorised, another resolution, electrodes in another order, tables with a byte-order mark."""
    folder = tmp_path / "sub-007" / "ses-001" / "eeg"
    folder.mkdir(parents=True)
    stem = "sub-007_ses-001_task-sleeponset"
    names = ["AF7", "TP9", "TP10", "AF8"]
    counts = np.random.default_rng(0).integers(-500, 500, (4, 1280)).astype("<i2")
    counts.tofile(folder / f"{stem}_eeg.eeg")
    header = ["Brain Vision Data Exchange Header File Version 1.0", "[Common Infos]"]
    header += [f"DataFile={stem}_eeg.eeg", f"MarkerFile={stem}_eeg.vmrk", "DataFormat=BINARY"]
    header += [
        "DataOrientation=VECTORIZED",
        "NumberOfChannels=4",
        "SamplingInterval=7812.5",
        "DataPoints=1280",
    ]
    header += ["[Binary Infos]", "BinaryFormat=INT_16", "[Channel Infos]"]
    header += [f"Ch{number + 1}={name},,0.5,µV" for number, name in enumerate(names)]
    (folder / f"{stem}_eeg.vhdr").write_text("\r\n".join(header), encoding="utf-8")
    marker = [
        "Brain Vision Data Exchange Marker File, Version 1.0",
        "[Common Infos]",
        f"DataFile={stem}_eeg.eeg",
    ]
    (folder / f"{stem}_eeg.vmrk").write_text("\r\n".join([*marker, "[Marker Infos]"]), encoding="utf-8")
    rows = "".join(f"{name}\tEEG\tµV\r\n" for name in names)
    (folder / f"{stem}_channels.tsv").write_text(f"name\ttype\tunits\r\n{rows}", encoding="utf-8-sig")
    events = "onset\tduration\ttrial_type\n1.5\t0\tlights_off\n4.25\tn/a\tn2_onset\n"
    (folder / f"{stem}_events.tsv").write_text(events, encoding="utf-8-sig")
    data = MuseSleep(tmp_path)
    assert data.onset_s("sub-007_ses-001") == 4.25
    recording = data.open("sub-007_ses-001")
    assert recording.rate_hz == 128.0
    np.testing.assert_allclose(recording.read(0, 1280), 0.5 * counts[[1, 0, 3, 2]], rtol=1e-6)
