"""Positions of electrodes: templates, a person's own space, the scalp; what cannot be placed is said."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from neuroarena.errors import InputError
from neuroarena.maps import placement
from neuroarena.maps.placement import convert_to_template, name_space, place_bids, place_recording
from neuroarena.recordings import channel_table, from_array
from neuroarena.recordings.mne_files import open_file
from shared_data import SHARED

REAL = SHARED / "data" / "real"
real_data = pytest.mark.skipif(not REAL.is_dir(), reason="../shared/data/real is not beside this checkout")


@pytest.mark.parametrize(
    ("system", "space"),
    [
        ("MNI152Lin", "MNI152"),
        ("MNI152NLin2009cAsym", "MNI152"),
        ("MNIColin27", "MNI152"),
        ("ICBM452AirSpace", "subject"),
        ("MNI305", "MNI305"),
        ("fsaverage5", "MNI305"),
        ("fsaverageSym", "MNI305"),
        ("IXI549Space", "approximately MNI"),
        ("ACPC", "subject"),
        ("ScanRAS", "subject"),
        ("Talairach", "subject"),
        ("Other", "subject"),
        ("Pixels", "flat"),
        ("MyAtlas", "subject"),
    ],
)
def test_a_coordinate_system_of_bids_stands_for_a_space(system: str, space: str):
    assert name_space(system)[0] == space


def test_an_unknown_system_is_never_taken_for_a_template():
    space, words = name_space("MyAtlas")
    assert space == "subject"
    assert "not a template" in words


def write_bids(folder: Path, system: str, units: str, rows: str = "A1\t1\t2\t3\nA2\tn/a\tn/a\tn/a\n") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sub-1_electrodes.tsv").write_text(f"name\tx\ty\tz\n{rows}")
    said = {"iEEGCoordinateSystem": system, "iEEGCoordinateUnits": units}
    (folder / "sub-1_coordsystem.json").write_text(json.dumps(said))
    return folder / "sub-1_task-x_ieeg.edf"


@pytest.mark.parametrize(("units", "factor"), [("mm", 1), ("cm", 10), ("m", 1000)])
def test_positions_of_bids_come_in_millimetres(tmp_path: Path, units: str, factor: int):
    placed = place_bids(write_bids(tmp_path, "MNI152Lin", units), ["A1", "A2", "A3"])
    assert placed.space == "MNI152"
    assert placed.xyz[0].tolist() == [1 * factor, 2 * factor, 3 * factor]
    assert placed.placed.tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("system", "units", "says"),
    [("MNI152Lin", "n/a", "no unit of length"), ("ACPC", "pixels", "no unit of length")],
)
def test_positions_without_a_unit_are_not_placed_and_the_note_says_so(tmp_path: Path, system, units, says):
    placed = place_bids(write_bids(tmp_path, system, units), ["A1"])
    assert placed.space == ""
    assert not placed.placed.any()
    assert says in placed.note


def test_a_recording_without_tables_beside_it_is_not_placed(tmp_path: Path):
    placed = place_bids(tmp_path / "sub-1_task-x_ieeg.edf", ["A1"])
    assert (placed.space, placed.placed.tolist()) == ("", [False])


def test_a_broken_coordinate_is_refused_by_file_and_line(tmp_path: Path):
    path = write_bids(tmp_path, "ACPC", "mm", "A1\t1\tzwei\t3\n")
    with pytest.raises(InputError, match=r"sub-1_electrodes\.tsv.*line 2"):
        place_bids(path, ["A1"])


def test_the_two_mni_spaces_convert_there_and_back():
    points = np.random.default_rng(0).normal(0, 40, (20, 3))
    there = convert_to_template(points, "MNI305", "MNI152")
    assert 0.5 < np.abs(there - points).max() < 5
    np.testing.assert_allclose(convert_to_template(there, "MNI152", "MNI305"), points, atol=1e-9)


def test_a_persons_own_space_is_never_brought_to_a_template():
    with pytest.raises(InputError, match="cannot be brought"):
        convert_to_template(np.zeros((1, 3)), "subject", "MNI305")


def recording(names: list[str], kind: str):
    return from_array(np.zeros((len(names), 10)), 100.0, channels=channel_table(names, kind=kind))


def test_scalp_channels_are_placed_by_their_names_and_that_is_said():
    pytest.importorskip("mne")
    placed = place_recording(recording(["Fz", "Cz", "nonsense"], "eeg"))
    assert placed.space == "scalp"
    assert placed.placed.tolist() == [True, True, False]
    assert "not measured" in placed.note
    front, vertex = placed.xyz[:2]
    assert front[1] > vertex[1] + 30  # millimetres: Fz is in front of Cz
    assert vertex[2] > front[2]


@pytest.mark.parametrize(("names", "kind"), [(["one", "two"], "eeg"), (["LA1", "LA2"], "ieeg")])
def test_what_cannot_be_placed_is_said(names: list[str], kind: str):
    placed = place_recording(recording(names, kind))
    assert placed.space == ""
    assert not placed.placed.any()
    assert placed.note


@real_data
def test_the_real_ecog_of_mne_is_in_its_own_head_frame():
    placed = place_recording(open_file(REAL / "ieeg" / "mne-misc" / "ecog" / "sample_ecog_ieeg.fif"))
    assert placed.space == placement.SUBJECT
    assert placed.placed.all()
    assert len(placed.xyz) == 394
    assert np.abs(placed.xyz).max() < 150  # millimetres, of a head


@real_data
def test_the_real_bids_folder_is_in_acpc_space():
    signal = REAL / "ieeg/ieeg_visual/sub-01/ses-01/ieeg/sub-01_ses-01_task-visual_run-01_ieeg.gdf"
    listed = pd.read_csv(signal.with_name("sub-01_ses-01_electrodes.tsv"), sep="\t")
    placed = place_bids(signal, [str(name) for name in listed["name"]])
    assert placed.space == placement.SUBJECT
    assert "ACPC" in placed.note
    np.testing.assert_allclose(placed.xyz, listed[["x", "y", "z"]].to_numpy(float), equal_nan=True)
