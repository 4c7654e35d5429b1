"""Reading HBN-EEG: layouts, tables, signals of our own and of other software, and what is refused."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

from hbn_twin import twin
from neuroarena.errors import InputError
from neuroarena.families.eeg2025.hbn import HBN, verify
from neuroarena.families.eeg2025.hbn.bdf_writer import write_bdf
from neuroarena.families.eeg2025.hbn.facts import (
    CHANNELS,
    EXCLUDED,
    OPENNEURO,
    PARTICIPANT_COLUMNS,
    RELEASES,
    TASKS,
    TRAINING,
    release_of_folder,
)


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """A copy of one release with two people, that may be damaged."""
    source = twin() / "R12_L100_bdf"
    target = tmp_path / "data" / "R12_L100_bdf"
    people = sorted(path.name for path in source.glob("sub-*"))[:2]
    target.mkdir(parents=True)
    for name in people:
        shutil.copytree(source / name, target / name)
    lines = (source / "participants.tsv").read_text().splitlines()
    kept = [lines[0], *(line for line in lines[1:] if line.split("\t")[0] in people)]
    (target / "participants.tsv").write_text("\n".join(kept) + "\n")
    return target


def some_file(folder: Path, ending: str, task: str = "RestingState") -> Path:
    return sorted(folder.glob(f"sub-*/eeg/*_task-{task}*{ending}"))[0]


def test_releases_tasks_and_the_nine_people_left_out_are_as_published():
    assert len(RELEASES) == 12
    assert len(OPENNEURO) == 11
    assert "ds005513" not in OPENNEURO.values()
    assert TRAINING == ("R1", "R2", "R3", "R4", "R6", "R7", "R8", "R9", "R10", "R11")
    assert len(TASKS) == 10
    assert len(EXCLUDED) == 9
    assert len(PARTICIPANT_COLUMNS) == 24
    assert len(CHANNELS) == 129
    assert CHANNELS[0] == "E1"
    assert CHANNELS[-1] == "Cz"


@pytest.mark.parametrize(
    ("name", "release"),
    [
        ("R1", "R1"), ("R5_L100", "R5"), ("R5_L100_bdf", "R5"), ("R11_mini_L100_bdf", "R11"), ("ds005505", "R1"),
        ("ds005516", "R11"), ("ds005513", None), ("R13", None), ("R0", None), ("R5_maxi_L100", None), ("sub-R1", None),
    ],
)  # fmt: skip
def test_a_folder_is_told_to_be_a_release_by_its_name(name, release):
    assert release_of_folder(name) == release


def test_a_folder_of_releases_lists_everything_in_it():
    data = HBN(twin())
    assert list(data.folders) == ["R1", "R5", "R12"]
    assert data.simulated
    assert set(data.recordings["task"]) == set(TASKS)
    assert set(data.recordings.loc[data.recordings["task"] == "contrastChangeDetection", "run"]) == {1, 2, 3}
    people = data.participants("R5")
    assert list(people.columns) == list(PARTICIPANT_COLUMNS)
    assert people["participant_id"].str.fullmatch(r"NDAR[A-Z0-9]{8}").all()
    assert people["age"].between(5, 22).all()
    assert (people["externalizing"].isna() == people["p_factor"].isna()).all()


def test_one_release_by_itself_is_read_whatever_its_folder_is_called(one: Path):
    assert list(HBN(one).folders) == ["R12"]
    renamed = one.with_name("my copy")
    one.rename(renamed)
    assert list(HBN(renamed).folders) == ["R12"]
    assert list(HBN(renamed.rename(renamed.with_name("ds005505"))).folders) == ["R1"]


def test_a_release_that_is_there_twice_must_be_named(one: Path):
    shutil.copytree(one, one.with_name("R12_mini_L100_bdf"))
    with pytest.raises(InputError, match="R12 occurs twice, as R12_L100_bdf and as R12_mini_L100_bdf"):
        HBN(one.parent)
    chosen = HBN(one.parent, ["R12_mini_L100_bdf"])
    assert chosen.folders["R12"].name == "R12_mini_L100_bdf"
    with pytest.raises(InputError, match="has no release R7"):
        HBN(one.parent, ["R7"])


def test_signals_are_what_mne_reads_and_only_the_reference_is_flat():
    mne = pytest.importorskip("mne")
    data = HBN(twin())
    key = data.recordings["key"][0]
    recording = data.recording(key)
    raw = mne.io.read_raw_bdf(data.path(key), verbose="error")
    expected = raw.get_data() * 1e6
    assert recording.channels["name"].tolist() == raw.ch_names == list(CHANNELS)
    assert recording.rate_hz == raw.info["sfreq"] == 100
    starts = [0, 3, 117, recording.n_samples - 50]
    for start, window in zip(starts, recording.windows(starts, 50), strict=True):
        np.testing.assert_allclose(window, expected[:, start : start + 50], rtol=0, atol=1e-4)
    whole = recording.read(0, recording.n_samples)
    assert np.flatnonzero(whole.std(axis=1) == 0).tolist() == [128]
    assert not whole[128].any()
    again = pickle.loads(pickle.dumps(recording))
    assert again.fingerprint() == recording.fingerprint()
    np.testing.assert_array_equal(again.read(10, 20, ["Cz", "E7"]), whole[[128, 6], 10:20])


def noise(seconds: int = 5) -> np.ndarray:
    samples = np.random.default_rng(3).normal(0, 20, (129, 100 * seconds)).astype(np.float32)
    samples[128] = 0
    return samples


def written_by_edfio(path: Path, samples: np.ndarray) -> None:
    edfio = pytest.importorskip("edfio")
    signals = [
        edfio.BdfSignal(
            row.astype(float), 100, label=name, physical_dimension="uV", physical_range=(-500, 500)
        )
        for name, row in zip(CHANNELS, samples, strict=True)
    ]
    annotations = [edfio.EdfAnnotation(1.0, None, "boundary")]
    edfio.Bdf(signals, annotations=annotations).write(path)


def written_by_mne(path: Path, samples: np.ndarray) -> None:
    mne = pytest.importorskip("mne")
    info = mne.create_info(list(CHANNELS), 100.0, "eeg")
    raw = mne.io.RawArray(samples.astype(float) * 1e-6, info, verbose="error")
    mne.export.export_raw(path, raw, fmt="bdf", physical_range=(-500, 500), verbose="error")


def written_by_eeglabio(path: Path, samples: np.ndarray) -> None:
    eeglabio = pytest.importorskip("eeglabio")
    eeglabio.raw.export_set(str(path), samples.astype(float) * 1e-6, 100.0, list(CHANNELS))


@pytest.mark.parametrize(
    ("writer", "suffix"),
    [(written_by_edfio, ".bdf"), (written_by_mne, ".bdf"), (written_by_eeglabio, ".set")],
    ids=["edfio", "mne", "eeglabio"],
)
def test_files_of_other_software_are_read(one: Path, writer, suffix: str):
    path = some_file(one, "_eeg.bdf")
    samples = noise()
    path.unlink()
    writer(path.with_suffix(suffix), samples)
    data = HBN(one)
    key = data.recordings.loc[data.recordings["path"] == str(path.with_suffix(suffix)), "key"].item()
    recording = data.recording(key)
    assert recording.channels["name"].tolist() == list(CHANNELS)
    np.testing.assert_allclose(recording.read(0, 500), samples, rtol=0, atol=1e-3)
    assert len(data.events(key))


def test_a_file_in_millivolts_or_with_more_channels_is_read_in_microvolts(one: Path):
    edfio = pytest.importorskip("edfio")
    path, samples = some_file(one, "_eeg.bdf"), noise()
    signals = [
        edfio.BdfSignal(row / 1e3, 100, label=name, physical_dimension="mV", physical_range=(-0.5, 0.5))
        for name, row in zip(CHANNELS[::-1], samples[::-1].astype(float), strict=True)
    ]
    signals.append(
        edfio.BdfSignal(np.zeros(50), 10, label="slow", physical_dimension="C", physical_range=(-1, 1))
    )
    path.unlink()
    edfio.Bdf(signals).write(path)
    data = HBN(one)
    key = data.recordings.loc[data.recordings["path"] == str(path), "key"].item()
    with pytest.warns(UserWarning, match="left out slow"):
        recording = data.recording(key)
    assert recording.channels["name"].tolist() == list(CHANNELS)
    np.testing.assert_allclose(recording.read(0, 500), samples, rtol=0, atol=1e-3)


def damaged_header(path: Path, place: int, text: bytes) -> None:
    with open(path, "r+b") as file:
        file.seek(place)
        file.write(text)


DAMAGES = {
    "cut short": (lambda path: path.write_bytes(path.read_bytes()[:-100]), "cut short"),
    "no header": (lambda path: path.write_bytes(b"nothing"), "cannot be read as BDF"),
    "record length": (lambda path: damaged_header(path, 244, b"never   "), "length of its records"),
    "a limit": (lambda path: damaged_header(path, 256 + 104 * 129, b"low     "), "not a number"),
    "an infinite limit": (lambda path: damaged_header(path, 256 + 104 * 129, b"inf     "), "not finite"),
    "digital limits": (lambda path: damaged_header(path, 256 + 128 * 129, b"-9000000"), "ascending order"),
    "a channel": (
        lambda path: write_bdf(path, CHANNELS[1:], noise()[1:], 100),
        "lacks 1 of the 129 channels",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES, ids=list(DAMAGES))
def test_a_damaged_signal_file_is_refused_by_name_and_found_by_verify(one: Path, damage: str):
    path = some_file(one, "_eeg.bdf")
    change, message = DAMAGES[damage]
    change(path)
    data = HBN(one)
    key = data.recordings.loc[data.recordings["path"] == str(path), "key"].item()
    with pytest.raises(InputError, match=message):
        data.recording(key)
    assert [str(problem) for problem in verify(one) if path.name in str(problem)]


def replace_in(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


TABLES = {
    "a missing column": ("ehq_total", "ehq", 'the column "ehq_total" is missing'),
    "another release": ("\tR12\t", "\tR3\t", "line 2: release_number is R3, expected R12"),
    "a word for availability": ("\tavailable", "\tperhaps", 'line 2: RestingState is "perhaps"'),
    "a number": ("\tYes\tYes\t", "\tYes\tYes\tx", 'line 2: p_factor is "x'),
}


@pytest.mark.parametrize("case", TABLES, ids=list(TABLES))
def test_a_damaged_participants_table_is_refused_with_its_line(one: Path, case: str):
    old, new, message = TABLES[case]
    replace_in(one / "participants.tsv", old, new)
    with pytest.raises(InputError, match=message):
        HBN(one).participants("R12")
    assert any(message.split(":")[-1].strip() in str(problem) for problem in verify(one))


def test_verify_finds_nothing_wrong_in_a_twin_and_names_what_is_missing(one: Path):
    assert verify(one) == []
    gone = some_file(one, "_eeg.bdf")
    gone.unlink()
    (one / "sub-NDARXX000XXX" / "eeg").mkdir(parents=True)
    shutil.copy(
        some_file(one, "_eeg.bdf"), one / "sub-NDARXX000XXX/eeg/sub-NDARXX000XXX_task-RestingState_eeg.bdf"
    )
    said = "\n".join(map(str, verify(one)))
    assert "RestingState is available, but there is no recording of it" in said
    assert "has no line for NDARXX000XXX, who has recordings" in said
    assert "has no events.tsv" in said


def test_a_recording_of_an_unknown_task_or_name_is_refused(one: Path):
    path = some_file(one, "_eeg.bdf")
    path.rename(path.with_name(path.name.replace("RestingState", "Sleeping")))
    with pytest.raises(InputError, match="does not follow the naming of HBN-EEG recordings"):
        _ = HBN(one).recordings


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), lambda path: None], ids=["empty", "absent"])
def test_a_folder_without_releases_is_refused_with_the_way_to_make_one(tmp_path: Path, make):
    make(tmp_path / "nothing")
    with pytest.raises(InputError, match="Expected"):
        HBN(tmp_path / "nothing")
