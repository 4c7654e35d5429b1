"""Real EDF and BDF files, each against a parser of the tests' own and against MNE-Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import mne
import numpy as np
import pytest
from plain_edf import ANNOTATIONS, read_plain

from neuroarena.errors import InputError
from neuroarena.recordings import annotations, open_file

Find = Callable[[str], Path]

FILES = (
    "eegmmidb_p300/eegmmidb/S001/S001R04.edf",
    "eegmmidb_p300/eegmmidb/S001/S001R06.edf",
    "eegmmidb_p300/eegmmidb/S001/S001R08.edf",
    "ieeg/mne-misc/ecog/sample_ecog.edf",
    "mne_testing_files/mne-testing/EDF/chtypes_edf.edf",
    "mne_testing_files/mne-testing/EDF/subsecond_starttime.edf",
    "mne_testing_files/mne-testing/EDF/test_reduced.edf",
    "mne_testing_files/mne-testing/EDF/test_utf8_annotations.edf",
    "mne_testing_files/mne-testing/BDF/test_bdf_stim_channel.bdf",
)
MICROVOLTS = {"uV": 1.0, "µV": 1.0, "mV": 1e3, "V": 1e6}


@pytest.mark.filterwarnings("ignore:.*recorded at a lower rate")
@pytest.mark.parametrize("name", FILES)
def test_every_sample_is_the_one_in_the_file(real: Find, name: str) -> None:
    path = real(name)
    plain = read_plain(path)
    recording = open_file(path)
    signals = [i for i, label in enumerate(plain.labels) if label not in ANNOTATIONS]
    fastest = max(plain.rates[i] for i in signals)
    kept = [i for i in signals if plain.rates[i] == fastest]
    assert recording.n_samples == len(plain.samples[kept[0]])
    assert recording.rate_hz == pytest.approx(fastest)
    assert len(recording.channels) == len(kept)
    ours = recording.read(0, recording.n_samples)
    for row, i in enumerate(kept):
        if recording.channels["kind"].iloc[row] == "stim":
            continue  # MNE decodes the bits of marker channels
        scale = MICROVOLTS.get(plain.units[i].replace("\xb5", "µ"), 1e6)
        np.testing.assert_allclose(ours[row], plain.samples[i] * scale, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("name", FILES)
def test_every_annotation_is_the_one_in_the_file(real: Find, name: str) -> None:
    path = real(name)
    table = annotations(path)
    found = list(zip(table["onset_s"], table["duration_s"], table["description"], strict=True))
    expected = sorted(read_plain(path).annotations)
    assert [text for *_, text in sorted(found)] == [text for *_, text in expected]
    np.testing.assert_allclose(sorted(row[0] for row in found), [row[0] for row in expected], atol=1e-6)
    np.testing.assert_allclose(sorted(row[1] for row in found), sorted(row[1] for row in expected))


def test_the_events_of_eegmmidb_are_those_of_its_event_files(real: Find) -> None:
    for run in ("04", "06", "08"):
        table = annotations(real(f"eegmmidb_p300/eegmmidb/S001/S001R{run}.edf"))
        assert set(table["description"]) == {"T0", "T1", "T2"}
        assert len(table) == 30


@pytest.mark.filterwarnings("ignore:Montage name:FutureWarning")
def test_dotted_names_of_physionet_are_found_on_the_template(real: Find) -> None:
    path = real("eegmmidb_p300/eegmmidb/S001/S001R04.edf")
    assert open_file(path).channels["x"].isna().all()
    placed = open_file(path, montage="standard_1005").channels.set_index("name")
    assert placed[["x", "y", "z"]].notna().all(axis=None)
    raw = mne.io.read_raw_edf(path, verbose="error")
    mne.datasets.eegbci.standardize(raw)
    raw.set_montage("standard_1005", verbose="error")
    for ours, theirs in zip(placed[["x", "y", "z"]].to_numpy(), raw.info["chs"], strict=True):
        np.testing.assert_allclose(ours, theirs["loc"][:3], atol=1e-9)


def test_a_really_damaged_file_is_refused_with_its_cause(real: Find) -> None:
    path = real("eegmmidb_p300/eegmmidb/damaged/S001R03.edf")
    for read in (open_file, annotations):
        with pytest.raises(
            InputError, match=r"S001R03\.edf: is longer .* copied as text, which converts line ends"
        ):
            read(path)


def test_every_row_of_every_hypnogram_is_read(real: Find) -> None:
    files = sorted(real("sleep_edf/sleep-cassette").glob("*-Hypnogram.edf"))
    assert len(files) == 26
    rows = 0
    for path in files:
        table = annotations(path)
        assert list(zip(*(table[name] for name in table), strict=True)) == read_plain(path).annotations
        rows += len(table)
    assert len(annotations(files[0])) == 154
    assert rows > 3000
    with pytest.raises(InputError, match=r"holds annotations only, no signals\. Read them with"):
        open_file(files[0])
