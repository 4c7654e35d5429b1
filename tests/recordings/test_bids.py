"""BIDS datasets written by other software: mne-bids, edfio, pybv, eeglabio."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import edfio
import mne
import mne_bids
import numpy as np
import pandas as pd
import pytest

from neuroarena.errors import InputError
from neuroarena.recordings.bids import bids_events, bids_recordings, open_bids, participants

NAMES = ["C3", "Cz", "C4", "marker"]


def raw_of(rng: np.random.Generator, rate_hz: float = 200.0) -> mne.io.RawArray:
    volts = rng.standard_normal((4, 2000)) * 2e-5
    raw = mne.io.RawArray(
        volts, mne.create_info(NAMES, rate_hz, ["eeg", "eeg", "eeg", "misc"]), verbose="error"
    )
    raw.info["line_freq"] = 50
    raw.set_annotations(mne.Annotations([1.0, 4.5], [2.0, 2.0], ["mi", "word"]))
    return raw


@pytest.fixture(scope="module", params=["BrainVision", "EDF", "BDF", "EEGLAB"])
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of two people, two runs each, written by mne-bids through the format's own exporter."""
    root = tmp_path_factory.mktemp("bids") / request.param
    rng = np.random.default_rng(5)
    for subject in ("01", "02"):
        for run in ("1", "2"):
            path = mne_bids.BIDSPath(
                subject=subject, session="1", task="Graz", run=run, root=root, datatype="eeg"
            )
            mne_bids.write_raw_bids(
                raw_of(rng), path, format=request.param, allow_preload=True, verbose="error", overwrite=True
            )
    return root


def test_a_dataset_of_mne_bids_is_listed_and_opens_as_mne_bids_reads_it(written: Path) -> None:
    listed = bids_recordings(written)
    assert listed[["subject", "session", "task", "run"]].to_numpy().tolist() == [
        ["01", "1", "Graz", "1"],
        ["01", "1", "Graz", "2"],
        ["02", "1", "Graz", "1"],
        ["02", "1", "Graz", "2"],
    ]
    for path in listed["path"]:
        oracle = mne_bids.read_raw_bids(mne_bids.get_bids_path_from_fname(path), verbose="error").load_data()
        recording = open_bids(path)
        assert recording.channels["name"].tolist() == oracle.ch_names
        assert recording.channels["kind"].tolist() == oracle.get_channel_types()
        assert recording.rate_hz == oracle.info["sfreq"]
        eeg = open_bids(path, kinds=["eeg"])
        np.testing.assert_allclose(
            eeg.read(0, 2000), oracle.get_data(picks="eeg")[:, :2000] * 1e6, rtol=1e-4, atol=1e-3
        )
        events = bids_events(path)
        np.testing.assert_allclose(events["onset_s"], oracle.annotations.onset[:2], atol=1 / 200)
        assert events["trial_type"].tolist() == ["mi", "word"]


def test_people_are_listed_without_their_prefix(written: Path) -> None:
    table = participants(written)
    assert table["participant_id"].tolist() == ["01", "02"]
    assert table["age"].isna().all()


def test_a_channel_that_is_typed_as_a_marker_is_not_eeg_even_where_the_file_calls_it_so(
    written: Path,
) -> None:
    path = bids_recordings(written)["path"].iloc[0]
    assert open_bids(path).channels["kind"].tolist() == ["eeg", "eeg", "eeg", "misc"]
    assert open_bids(path, kinds=["eeg"]).channels["name"].tolist() == ["C3", "Cz", "C4"]


def test_a_recording_travels_to_another_process(written: Path) -> None:
    recording = open_bids(bids_recordings(written)["path"].iloc[0])
    again = pickle.loads(pickle.dumps(recording))
    assert again.fingerprint() == recording.fingerprint()
    np.testing.assert_array_equal(again.read(5, 90), recording.read(5, 90))


# --- files by hand: edfio signals and tables of our own ------------------------------------------------


def write_edf(folder: Path, dimension: str = "uV", name: str = "sub-01_task-rest_eeg.edf") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    ramp = np.linspace(-100.0, 100.0, 1000)
    signals = [
        edfio.EdfSignal(ramp, 100, label=label, physical_dimension=dimension, physical_range=(-100, 100))
        for label in ("Cz", "Pz", "label")
    ]
    edfio.Edf(signals).write(folder / name)
    return folder / name


def table(path: Path, header: str, *rows: str) -> Path:
    path.write_text("\n".join(line.replace(" ", "\t") for line in (header, *rows)) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def rest(tmp_path: Path) -> Path:
    path = write_edf(tmp_path / "sub-01" / "eeg")
    table(
        path.with_name("sub-01_task-rest_channels.tsv"),
        "name type units",
        "Cz EEG uV",
        "Pz EEG uV",
        "label TRIG n/a",
    )
    table(path.with_name("sub-01_task-rest_events.tsv"), "onset duration value", "1.5 n/a left", "3 0.5 n/a")
    return path


@pytest.mark.parametrize(
    ("stored", "stated", "factor"),
    [
        ("uV", "uV", 1.0),
        ("mV", "mV", 1e3),
        # mne-bids writes V for whatever the file holds: the file knows better.
        ("uV", "V", 1.0),
        ("", "µV", 1.0),
        ("", "μV", 1.0),
        ("", "mV", 1e3),
        ("", "V", 1e6),
        ("", "n/a", 1e6),
    ],
)
def test_units_come_from_the_file_and_else_from_the_table(
    tmp_path: Path, stored: str, stated: str, factor: float
) -> None:
    path = write_edf(tmp_path / "sub-01" / "eeg", stored)
    rows = [f"{name} EEG {stated}" for name in ("Cz", "Pz", "label")]
    table(path.with_name("sub-01_task-rest_channels.tsv"), "name type units", *rows)
    last = open_bids(path).read(999, 1000)[:, 0]
    np.testing.assert_allclose(last, 100.0 * factor, rtol=1e-3)


def test_a_scale_that_only_the_table_states_changes_the_fingerprint(tmp_path: Path) -> None:
    path = write_edf(tmp_path / "sub-01" / "eeg", "")
    prints = set()
    for unit in ("uV", "mV"):
        rows = [f"{name} EEG {unit}" for name in ("Cz", "Pz", "label")]
        table(path.with_name("sub-01_task-rest_channels.tsv"), "name type units", *rows)
        prints.add(open_bids(path).fingerprint())
    assert len(prints) == 2


def test_events_keep_their_columns_as_text_with_missing_values(rest: Path) -> None:
    events = bids_events(rest)
    assert events.columns.tolist() == ["onset_s", "duration_s", "value"]
    assert events["onset_s"].tolist() == [1.5, 3.0]
    assert np.isnan(events["duration_s"].iloc[0])
    assert events["value"].iloc[0] == "left"
    assert pd.isna(events["value"].iloc[1])


def test_a_byte_order_mark_and_windows_line_ends_are_read(rest: Path) -> None:
    text = rest.with_name("sub-01_task-rest_events.tsv").read_text().replace("\n", "\r\n")
    rest.with_name("sub-01_task-rest_events.tsv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert bids_events(rest)["onset_s"].tolist() == [1.5, 3.0]


def test_tables_above_a_recording_serve_all_that_fit_and_the_nearest_wins(rest: Path) -> None:
    root = rest.parents[2]
    beside = rest.with_name("sub-01_task-rest_channels.tsv")
    beside.rename(root / "task-rest_channels.tsv")
    table(root / "task-other_channels.tsv", "name type", "nothing EEG")
    assert open_bids(rest).channels["kind"].tolist() == ["eeg", "eeg", "stim"]
    table(rest.parents[1] / "sub-01_channels.tsv", "name type", "Cz EOG", "Pz EEG", "label MISC")
    assert open_bids(rest).channels["kind"].tolist() == ["eog", "eeg", "misc"]


Damage = Callable[[Path], object]


def channels(path: Path) -> Path:
    return path.with_name("sub-01_task-rest_channels.tsv")


def events(path: Path) -> Path:
    return path.with_name("sub-01_task-rest_events.tsv")


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (
            lambda p: channels(p).unlink(),
            "has no channels.tsv. Expected sub-01_task-rest_channels.tsv beside it",
        ),
        (lambda p: table(channels(p), "name kind", "Cz EEG"), 'line 1: the column "type" is missing'),
        (
            lambda p: table(channels(p), "name type", "Cz EEG", "Pz EEG"),
            'has no line for the channel "label"',
        ),
        (
            lambda p: table(channels(p), "name type", "Cz EEG", "Pz EEG", "label EEG", "Oz EEG"),
            'line 5: the channel "Oz" is not in sub-01_task-rest_eeg.edf',
        ),
        (
            lambda p: table(channels(p), "name type", "Cz EEG", "Cz EEG", "label EEG"),
            'line 3: the channel "Cz" is already in line 2',
        ),
        (
            lambda p: table(channels(p), "name type", "Cz EEG", "Pz BRAIN", "label EEG"),
            'line 3: the type "BRAIN" is unknown',
        ),
        (lambda p: channels(p).write_bytes(b"name\ttype\nC\xff\tEEG\n"), "is not UTF-8 text"),
        (lambda p: channels(p).write_text("\n\n"), "holds no header"),
        (lambda p: table(channels(p), "name name", "Cz EEG"), 'line 1: the column "name" occurs twice'),
        (
            lambda p: table(channels(p), "name type", "Cz EEG 1"),
            "line 2: has 3 values where the header names 2",
        ),
        (lambda p: p.write_bytes(p.read_bytes()[:600]), "sub-01_task-rest_eeg.edf"),
    ],
)
def test_a_broken_description_of_channels_is_refused_by_file_and_line(
    rest: Path, damage: Damage, sentence: str
) -> None:
    damage(rest)
    with pytest.raises(InputError) as refusal:
        open_bids(rest)
    assert sentence in str(refusal.value)


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda p: events(p).unlink(), "has no events.tsv"),
        (lambda p: table(events(p), "onset value", "1 2"), 'line 1: the column "duration" is missing'),
        (lambda p: table(events(p), "onset duration", "1 0", "soon 0"), 'line 3: onset is "soon"'),
        (lambda p: table(events(p), "onset duration", "n/a 0"), 'line 2: onset is "n/a"'),
        (lambda p: table(events(p), "onset duration", "nan 0"), 'line 2: onset is "nan"'),
        (lambda p: table(events(p), "onset duration", "inf 0"), 'line 2: onset is "inf"'),
        (lambda p: table(events(p), "onset duration", "1 -2"), "line 2: duration is negative"),
    ],
)
def test_a_broken_table_of_events_is_refused_by_file_and_line(
    rest: Path, damage: Damage, sentence: str
) -> None:
    damage(rest)
    with pytest.raises(InputError) as refusal:
        bids_events(rest)
    assert sentence in str(refusal.value)
    assert "sub-01_task-rest_e" in str(refusal.value)


def test_broken_lists_of_people_are_refused_by_line(tmp_path: Path) -> None:
    table(tmp_path / "participants.tsv", "participant_id age", "sub-1 3", "sub-1 4")
    with pytest.raises(InputError, match=r'line 3: "sub-1" is already in line 2'):
        participants(tmp_path)
    table(tmp_path / "participants.tsv", "participant_id age", "n/a 3")
    with pytest.raises(InputError, match="line 2: participant_id is missing"):
        participants(tmp_path)


# --- listing -------------------------------------------------------------------------------------------


def test_only_what_was_asked_for_is_listed_in_the_order_of_numbers(tmp_path: Path) -> None:
    for session in ("1", "2", "10"):
        for task in ("rest", "play"):
            path = (
                tmp_path / "sub-P1" / f"ses-{session}" / "emg" / f"sub-P1_ses-{session}_task-{task}_emg.bdf"
            )
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    hidden = tmp_path / "derivatives" / "sub-P1" / "emg" / "sub-P1_task-rest_emg.bdf"
    hidden.parent.mkdir(parents=True)
    hidden.touch()
    listed = bids_recordings(tmp_path, "emg", task="rest", subjects=["sub-P1"])
    assert listed["session"].tolist() == ["1", "2", "10"]
    assert set(listed["task"]) == {"rest"}
    assert set(listed["run"]) == {""}


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        ({"root": "nowhere"}, "nowhere: is not a folder"),
        ({"subjects": ["02"]}, "has no sub-02; it has sub-01"),
        ({"suffix": "emg"}, "holds no recording. Expected"),
        ({"task": "sleep"}, "holds no recording of the task sleep"),
    ],
)
def test_what_cannot_be_listed_is_said(rest: Path, ask: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError) as refusal:
        bids_recordings(**{"root": rest.parents[2], **ask})
    assert sentence in str(refusal.value)


def test_a_name_that_breaks_the_rules_is_refused(rest: Path) -> None:
    rest.with_name("sub-01_task-rest_part-1_eeg.edf").write_bytes(rest.read_bytes())
    with pytest.raises(InputError, match=r"part-1_eeg\.edf: is not named as BIDS names files"):
        bids_recordings(rest.parents[2])


def test_a_large_tree_is_listed_without_opening_a_file(tmp_path: Path) -> None:
    for person in range(200):
        folder = tmp_path / f"sub-{person:03d}" / "eeg"
        folder.mkdir(parents=True)
        for task in range(10):
            (folder / f"sub-{person:03d}_task-t{task}_eeg.set").touch()
    listed = bids_recordings(tmp_path)
    assert len(listed) == 2000
