"""The BIDS copy of emg2qwerty, as edfio writes it: read as the original is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from neuroarena.errors import InputError
from neuroarena.families.emg import FAMILY
from neuroarena.families.emg.emg2qwerty import DATASET, verify

edfio = pytest.importorskip("edfio")
pytest.importorskip("mne_bids")

HEADER = "name\ttype\tunits\tsignal_electrode\treference\tgroup\ttarget_muscle\n"
EVENTS = (
    "onset\tduration\tsample\tvalue\tkey\tprompt_text\n"
    "0.1000\t0.5\t200\tprompt\tn/a\thi\\n\n"
    "0.5000\t0.08\t1000\tkeystroke_Key.shift\tKey.shift\tn/a\n"
    "0.7000\t0.05\t1400\tkeystroke_H\tH\tn/a\n"
    "0.9000\tn/a\t1800\tkeystroke_Key.caps_lock\tKey.caps_lock\tn/a\n"
    "1.2000\tn/a\t2400\tkeystroke_Key.space\tKey.space\tn/a\n"
    "2.5000\t0.05\t5000\tkeystroke_i\ti\tn/a\n"
)


def copy_session(root: Path, user: int, time: int, events: str = EVENTS, rate: int = 2000) -> np.ndarray:
    signal = np.random.default_rng(time).normal(0, 30, (32, 2 * rate))
    stem = f"sub-{user:08d}_ses-{time}_task-typing"
    folder = root / f"sub-{user:08d}" / f"ses-{time}" / "emg"
    folder.mkdir(parents=True)
    signals = [
        edfio.BdfSignal(row, rate, label=f"EMG{number}", physical_dimension="uV", physical_range=(-200, 200))
        for number, row in enumerate(signal)
    ]
    edfio.Bdf(signals).write(folder / f"{stem}_emg.bdf")
    rows = [f"EMG{n}\tEMG\tuV\tE{n % 16}\tbipolar\t{'left' if n < 16 else 'right'}\tn/a\n" for n in range(32)]
    (folder / f"{stem}_channels.tsv").write_text(HEADER + "".join(rows))
    (folder / f"{stem}_events.tsv").write_text(events)
    return signal


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for user, time in ((1, 1597363426), (1, 1597363999), (20_000_000, 1600000000)):
        copy_session(tmp_path / "nm", user, time)
    (tmp_path / "nm" / "generic.yaml").write_text(
        "user: generic\ndataset:\n  train:\n  - {user: 1, session: 2020-08-13-1597363426-keystrokes-00000001}\n"
        "  val:\n  - {user: 1, session: 2020-08-13-1597363999-keystrokes}\n"
        "  test:\n  - {user: 20000000, session: 2020-09-13-1600000000-keystrokes-20000000}\n"
    )
    return tmp_path / "nm"


def test_signals_keys_and_users_are_those_of_the_original(root, tmp_path):
    data = DATASET.open(root)
    signal = copy_session(tmp_path / "again", 1, 1597363426)
    for name in ("1597363426", "2020-08-13-1597363426-keystrokes-00000001"):
        recording = data.recording(name)
        assert (recording.rate_hz, recording.n_samples) == (2000.0, 4000)
        np.testing.assert_allclose(recording.read(0, 4000), signal, atol=1e-3)
        assert data.about(name) == ("1", "on_keyboard")
        assert data.text(name) == "\u21e7H i"
        events = data.events(name)
        np.testing.assert_allclose(events["onset_s"], [0.5, 0.7, 1.2, 3999 / 2000])
        np.testing.assert_allclose(events["duration_s"], [0.08, 0.05, 0.0, 0.05])
    assert verify(root) == []


def test_the_track_runs_on_the_copy_with_the_published_lists(root):
    benchmark = FAMILY.load("emg2qwerty", "2026", str(root))
    assert benchmark.examples["subject"].tolist() == ["1", "1", "20000000"]
    assert benchmark.split("other-people").folds[0].test == ("2020-09-13-1600000000-keystrokes-20000000",)
    assert not benchmark.simulated


def test_what_is_missing_or_of_another_rate_is_named(root, tmp_path):
    with pytest.raises(InputError, match=r'there is no session "2020-01-01-1-keystrokes" \(ses-1\)'):
        DATASET.open(root).recording("2020-01-01-1-keystrokes")
    copy_session(tmp_path / "slow", 1, 5, rate=1000)
    with pytest.raises(InputError, match="has 1000 samples per second, expected 2000"):
        DATASET.open(tmp_path / "slow").recording("5")
    silent = EVENTS.splitlines(keepends=True)[0]
    copy_session(tmp_path / "silent", 1, 5, events=silent + "0.1\t0\t200\tprompt\tn/a\thi\n")
    said = {str(problem) for problem in verify(tmp_path / "silent")}
    assert any("has no text" in problem and "sub-00000001" in problem for problem in said)
    assert any("generic.yaml" in problem for problem in said)


def test_a_stray_recording_without_a_session_is_left_out_with_a_note(root):
    folder = root / "sub-00000001" / "emg"
    folder.mkdir()
    stray = folder / "sub-00000001_task-typing_emg.bdf"
    stray.write_bytes(DATASET.open(root).file("1597363426").read_bytes())
    with pytest.warns(
        UserWarning, match=r"left out 1 recording outside a session folder: .*_task-typing_emg\.bdf\.$"
    ):
        data = DATASET.open(root)
    assert data.sessions == ("1597363426", "1597363999", "1600000000")


def test_a_copy_in_which_nothing_belongs_to_a_session_is_refused(root, tmp_path):
    folder = tmp_path / "loose" / "sub-00000001" / "emg"
    folder.mkdir(parents=True)
    (folder / "sub-00000001_task-typing_emg.bdf").write_bytes(
        DATASET.open(root).file("1597363426").read_bytes()
    )
    with pytest.raises(InputError, match="none of its recordings belongs to a session"):
        DATASET.open(tmp_path / "loose")
