"""The SSVEP exoskeleton recordings: reader, twin, and the real files where they are."""

from __future__ import annotations

import pickle
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neuroarena.errors import InputError
from neuroarena.families.bci.ssvep_exo import DATASET, SsvepExo
from neuroarena.families.bci.ssvep_exo import files as subject_files
from neuroarena.recordings import annotations, open_file
from shared_data import SHARED

REAL = SHARED / "data" / "real" / "ssvep_exo"
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason="the shared folder of real recordings is not there")
SMALL: dict[str, Any] = {"subjects": 2, "sessions": 2, "seed": 1}


@pytest.fixture(scope="module")
def exo_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The smallest twin there is: read it, do not change it."""
    root = tmp_path_factory.mktemp("exo") / "twin"
    DATASET.simulate(root, **SMALL)
    return root


@pytest.fixture
def damaged(exo_root: Path, tmp_path: Path) -> Path:
    shutil.copytree(exo_root, tmp_path / "copy")
    return tmp_path / "copy"


def arrays(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def rewrite(root: Path, **changes: Any) -> None:
    path = root / "subject01.npz"
    np.savez(path, **{**arrays(path), **changes})


def test_a_twin_is_good_and_has_the_layout_of_the_real_files(exo_root: Path) -> None:
    assert DATASET.verify(exo_root) == []
    ours = arrays(exo_root / "subject01.npz")
    assert ours["X"].shape == (64, 8, 1280)
    assert np.bincount(ours["y"]).tolist() == [16, 16, 16, 16]
    if REAL.is_dir():
        real = arrays(REAL / "subject01.npz")
        assert set(ours) == set(real)
        for name, array in real.items():
            assert (ours[name].dtype.kind, ours[name].shape) == (array.dtype.kind, array.shape), name
        assert ours["ch_names"].tolist() == real["ch_names"].tolist()


def test_the_same_seed_gives_the_same_samples(exo_root: Path, tmp_path: Path) -> None:
    DATASET.simulate(tmp_path / "again", **SMALL)
    np.testing.assert_array_equal(
        arrays(tmp_path / "again" / "subject02.npz")["X"], arrays(exo_root / "subject02.npz")["X"]
    )


def test_trials_lie_end_to_end_in_a_recording_that_travels(exo_root: Path) -> None:
    data = SsvepExo(exo_root)
    table, notes = data.recordings()
    assert len(table) == 4
    assert notes == ()
    subject, name = table.iloc[1]
    raw = arrays(exo_root / f"subject{subject}.npz")
    recording = pickle.loads(pickle.dumps(data.recording(subject, name)))
    trials = data.trials(subject, name)
    windows = recording.windows(trials["start"], 1280)
    np.testing.assert_array_equal(windows, raw["X"][raw["recording"] == name])
    # A stretch across a border between trials, of some channels.
    np.testing.assert_array_equal(
        recording.read(1270, 1290, ["O2", "Oz"]),
        np.concatenate([windows[0][[2, 0], 1270:], windows[1][[2, 0], :10]], axis=1),
    )
    labels = ["rest", "13Hz", "21Hz", "17Hz"]
    assert trials["label"].tolist() == [labels[y] for y in raw["y"][raw["recording"] == name]]


def test_a_recording_that_is_there_twice_counts_once_and_the_notes_say_so(damaged: Path) -> None:
    first, second = arrays(damaged / "subject01.npz"), arrays(damaged / "subject02.npz")
    rows = first["recording"] == first["recording"][0]
    copied = {name: second[name].copy() for name in second}
    copied["X"][:32] = first["X"][rows]
    np.savez(damaged / "subject02.npz", **copied)
    table, notes = SsvepExo(damaged).recordings()
    assert table["subject"].tolist() == ["01", "01", "02"]
    assert len(notes) == 1
    assert "of subject 02 is left out: it is, sample for sample," in notes[0]


def test_the_planted_leaks_are_there_and_the_clean_twin_has_neither(exo_root: Path, tmp_path: Path) -> None:
    DATASET.simulate(tmp_path / "order", **SMALL, plant_leak="order")
    DATASET.simulate(tmp_path / "channel", **SMALL, plant_leak="channel")
    in_order = arrays(tmp_path / "order" / "subject01.npz")["y"].reshape(2, 32)
    np.testing.assert_array_equal(in_order[0], in_order[1])
    shuffled = arrays(exo_root / "subject01.npz")["y"].reshape(2, 32)
    assert (shuffled[0] != shuffled[1]).any()
    leaky = arrays(tmp_path / "channel" / "subject01.npz")
    np.testing.assert_array_equal(np.round(leaky["X"][:, 8].mean(axis=1)), leaky["y"])
    with pytest.raises(InputError, match="--plant-leak must be channel or order"):
        DATASET.simulate(tmp_path / "length", **SMALL, plant_leak="length")


Damage = Callable[[Path], object]


def _evil(root: Path) -> None:
    rewrite(root, y=np.array([{"a": 1}] * 64, dtype=object))


def _bomb(root: Path) -> None:
    subject_files.MOST_BYTES = 1000
    rewrite(root)


def _other_member(root: Path) -> None:
    with zipfile.ZipFile(root / "subject01.npz", "w") as archive:
        archive.writestr("X.npy", b"not an array")


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda r: (r / "subject01.npz").unlink(), "subject01.npz is missing"),
        (lambda r: (r / "subject01.npz").write_bytes(b""), "is empty"),
        (lambda r: (r / "subject01.npz").write_bytes(b"PK nothing"), "cannot be read as an .npz archive"),
        (
            lambda r: (r / "subject01.npz").write_bytes((r / "subject01.npz").read_bytes()[:90_000]),
            "cannot be read as an .npz archive",
        ),
        (_other_member, "has no array y"),
        (_evil, "cannot be read as an .npz archive of arrays"),
        (lambda r: rewrite(r, y=np.zeros(3, dtype=np.int8)), "y has 3 values for 64 trials"),
        (lambda r: rewrite(r, y=np.full(64, 7, dtype=np.int8)), "row 0: y is 7, expected 0 to 3"),
        (lambda r: rewrite(r, y=np.zeros(64)), "y has 1 axes of type float64"),
        (
            lambda r: rewrite(r, X=np.full((64, 8, 1280), np.nan, np.float32)),
            "row 0: X holds NaN or infinity",
        ),
        (lambda r: rewrite(r, X=np.zeros((64, 1280), np.float32)), "X has 2 axes"),
        (lambda r: rewrite(r, X=np.zeros((64, 7, 1280), np.float32)), "ch_names has 8 names for 7 channels"),
        (lambda r: rewrite(r, sfreq=np.array(0.0)), "sfreq is 0.0"),
        (lambda r: rewrite(r, y=np.ones(64, dtype=np.int8)), "has no trial of 21Hz"),
        (lambda r: rewrite(r, trial_index=np.zeros(64, dtype=np.int8)), "has a duplicate trial_index"),
        (lambda r: rewrite(r, sfreq=np.array(512.0)), "in channels, rate or length"),
        (_bomb, "more than the 1000 allowed"),
    ],
)
def test_every_damage_of_a_subject_file_is_named(
    damaged: Path, damage: Damage, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject_files, "MOST_BYTES", subject_files.MOST_BYTES)
    damage(damaged)
    problems = [str(problem) for problem in DATASET.verify(damaged)]
    assert any(sentence in problem for problem in problems), problems


def test_a_missing_or_unknown_person_is_an_error(damaged: Path) -> None:
    with pytest.raises(InputError, match="there is no subject 09; expected some of 01, 02"):
        SsvepExo(damaged).recordings(["09"])
    (damaged / "subject02.npz").unlink()
    with pytest.raises(InputError, match=r"subject02\.npz is missing"):
        SsvepExo(damaged).recordings()
    assert len(SsvepExo(damaged).recordings(["01"])[0]) == 2


# --- the real files ----------------------------------------------------------------------------------------


@needs_real
def test_the_real_folder_is_good_and_its_duplicate_is_left_out_and_said_so() -> None:
    assert DATASET.verify(REAL) == []
    table, notes = SsvepExo(REAL).recordings()
    assert len(table) == 32
    assert table.groupby("recording")["subject"].nunique().max() == 1
    assert notes == (
        "Recording 2012.07.11-15.33.08 of subject 07 is left out: it is, sample for sample, "
        "2012.07.11-15.33.08 of subject 03.",
    )
    data = SsvepExo(REAL)
    copies = [data.subject(subject).content("2012.07.11-15.33.08") for subject in ("03", "07")]
    assert copies[0] == copies[1]


@needs_real
def test_the_duplicate_stays_out_even_when_its_original_was_not_asked_for() -> None:
    table, _ = SsvepExo(REAL).recordings(["07"])
    assert table["recording"].tolist() == ["2012.07.18-09.15.30", "2012.07.18-09.21.13"]


@needs_real
def test_what_the_authors_left_out_is_left_out_on_request() -> None:
    table, notes = SsvepExo(REAL).recordings(authors_exclusions=True)
    assert len(table) == 27
    assert sum("as its authors did" in note for note in notes) == 5


@needs_real
def test_trials_of_the_original_file_are_those_of_the_archive() -> None:
    original = REAL / "gdf_example" / "subject01_2012.07.06-19.02.16.gdf"
    signal = open_file(original)
    starts = annotations(original)
    archive = arrays(REAL / "subject01.npz")
    rows = archive["X"][archive["recording"] == "2012.07.06-19.02.16"]
    eeg = signal.read(0, signal.n_samples)[:8]
    # Where the first samples of a cut trial lie in the original: an oracle that needs no event code.
    pattern = rows[20, 0, :64].astype(np.float64)
    assert len(starts) > 32
    best = max(
        np.corrcoef(eeg[0, at : at + 64], pattern)[0, 1]
        for onset in starts["onset_s"]
        for at in range(max(0, round(onset * 256) - 2), min(signal.n_samples - 64, round(onset * 256) + 3))
    )
    assert best > 0.9999
