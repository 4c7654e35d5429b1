"""Files that other software wrote: EDF and BDF by edfio, BrainVision by pybv, FIF by MNE, and real ones."""

from __future__ import annotations

import builtins
import shutil
import warnings
from pathlib import Path

import edfio
import mne
import numpy as np
import pytest

from neuroarena.errors import InputError, MissingDependency
from neuroarena.recordings import annotations, open_file

POSITIONS = {"Fp1": (0.01, 0.02, 0.03), "Fp2": (0.0, 0.0, 0.1)}


@pytest.fixture(scope="module")
def bdf(tmp_path_factory, signal, names) -> Path:
    path = tmp_path_factory.mktemp("bdf") / "biosemi.bdf"
    signals = [
        edfio.BdfSignal(
            row.astype(float), 250, label=name, physical_dimension="uV", physical_range=(-100, 100)
        )
        for row, name in zip(signal, names, strict=True)
    ]
    edfio.Bdf(signals).write(path)
    return path


def fif_raw(values: np.ndarray, names: list[str], meas_date: float | None) -> mne.io.BaseRaw:
    info = mne.create_info(names, 250.0, ["eeg", "ecog", "emg", "misc", "stim"])
    raw = mne.io.RawArray(values * 1e-6, info, first_samp=1000, verbose="error")
    raw.set_montage(mne.channels.make_dig_montage(POSITIONS, coord_frame="head"), on_missing="ignore")
    raw.set_meas_date(meas_date)
    return raw.set_annotations(mne.Annotations([1.0, 3.0], [0.5, 0.0], ["eyes closed", "blink"]))


@pytest.fixture(scope="module")
def fif(tmp_path_factory, signal, names) -> Path:
    path = tmp_path_factory.mktemp("fif") / "rest_raw.fif"
    fif_raw(signal, names, 1e9).save(path, verbose="error")
    return path


def test_what_edfio_and_pybv_wrote_is_read_back_in_microvolts(edf, bdf, brainvision, signal, names):
    # 16 bits over 200 microvolts are steps of 0.003, 24 bits are finer than float32 here.
    for path, step in ((edf, 200 / 65535), (bdf, 1e-4), (brainvision, 1e-4)):
        recording = open_file(path)
        assert (recording.name, recording.rate_hz, recording.n_samples) == (path.name, 250.0, 3000)
        assert recording.channels["name"].tolist() == names
        assert set(recording.channels["kind"]) == {"eeg"}
        np.testing.assert_allclose(recording.read(0, 3000), signal, atol=step)


def test_kinds_units_and_positions_of_a_fif_file(fif, signal):
    recording = open_file(fif)
    assert recording.channels["kind"].tolist() == ["eeg", "ecog", "emg", "misc", "stim"]
    scale = np.array([1, 1, 1, 1e-6, 1e-6])[:, np.newaxis]
    np.testing.assert_allclose(recording.read(0, 3000), signal * scale, rtol=1e-5, atol=1e-12)
    table = recording.channels.set_index("name")[["x", "y", "z"]]
    for name, expected in POSITIONS.items():
        np.testing.assert_allclose(table.loc[name], expected, atol=1e-6)
    assert table.loc[["Cz", "O1", "O2"]].isna().all(axis=None)


def test_a_kind_can_be_given_to_what_the_file_calls_eeg(edf, fif, signal):
    assert set(open_file(edf, kind="ieeg").channels["kind"]) == {"ieeg"}
    assert open_file(fif, kind="emg").channels["kind"].tolist() == ["emg", "ecog", "emg", "misc", "stim"]
    np.testing.assert_allclose(open_file(edf, kind="emg").read(0, 9), signal[:, :9], atol=0.004)


@pytest.mark.parametrize("meas_date", [None, 1e9])
def test_annotations_count_from_the_first_sample(tmp_path, signal, names, meas_date):
    path = tmp_path / "late_raw.fif"
    fif_raw(signal, names, meas_date).save(path, verbose="error")
    table = annotations(path)
    assert table.columns.tolist() == ["onset_s", "duration_s", "description"]
    assert table.to_numpy().tolist() == [[1.0, 0.5, "eyes closed"], [3.0, 0.0, "blink"]]


def test_annotations_of_other_formats(edf, bdf, brainvision):
    assert annotations(edf).to_numpy().tolist() == [[1.5, 0.5, "spindle"]]
    assert annotations(bdf).shape == (0, 3)
    table = annotations(brainvision)
    assert table["onset_s"].tolist()[-2:] == [0.4, 8.0]
    assert table["duration_s"].tolist()[-2:] == [0.1, 0.004]
    assert table["description"].tolist()[-2:] == ["Stimulus/S  1", "Stimulus/S  7"]


def test_all_the_parts_of_a_split_fif_are_read_and_all_are_needed(tmp_path):
    values = np.random.default_rng(5).normal(size=(8, 120_000)).astype(np.float32)
    info = mne.create_info(8, 1000.0, "seeg")
    raw = mne.io.RawArray(values * 1e-6, info, verbose="error")
    raw.save(tmp_path / "long_raw.fif", split_size="2MB", buffer_size_sec=1.0, verbose="error")
    parts = sorted(tmp_path.glob("long_raw*.fif"))
    assert len(parts) > 1
    recording = open_file(tmp_path / "long_raw.fif")
    starts = np.array([119_000, 0, 60_000, 59_500])
    expected = np.array([values[:, start : start + 1000] for start in starts])
    np.testing.assert_allclose(recording.windows(starts, 1000), expected, rtol=1e-4, atol=1e-5)
    before = recording.fingerprint()
    content = bytearray(parts[-1].read_bytes())
    content[len(content) // 2] ^= 1
    parts[-1].write_bytes(content)
    assert recording.fingerprint() != before
    parts[-1].unlink()
    with pytest.raises(InputError, match=r"long_raw\.fif"):
        open_file(tmp_path / "long_raw.fif")


def test_signals_at_a_lower_rate_are_left_out_with_a_warning_that_names_them(tmp_path, signal):
    fast = edfio.EdfSignal(signal[0].astype(float), 250, label="EEG Fpz", physical_dimension="uV")
    slow = edfio.EdfSignal(signal[1, :12].astype(float), 1, label="Temp rectal", physical_dimension="DegC")
    edfio.Edf([slow, fast], annotations=[edfio.EdfAnnotation(0, None, "start")]).write(tmp_path / "sleep.edf")
    with pytest.warns(UserWarning, match=r"sleep\.edf: left out Temp rectal") as said:
        recording = open_file(tmp_path / "sleep.edf")
    assert len(said) == 1
    assert recording.channels["name"].tolist() == ["EEG Fpz"]
    np.testing.assert_allclose(recording.read(0, 3000)[0], signal[0], atol=0.01)


def test_a_suffix_in_capitals_is_read_too(tmp_path, edf):
    shutil.copyfile(edf, tmp_path / "NIGHT.EDF")
    np.testing.assert_array_equal(open_file(tmp_path / "NIGHT.EDF").read(0, 50), open_file(edf).read(0, 50))


def test_opening_says_nothing_and_loads_nothing(edf, bdf, brainvision, fif, capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for path in (edf, bdf, brainvision, fif):
            recording = open_file(path)
            recording.windows([0, 10], 5)
            annotations(path)
            assert not recording._source.raw.preload
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("part", [1, 101, 5001])
@pytest.mark.parametrize("kind", ["edf", "bdf", "fif", "brainvision"])
def test_a_file_that_was_cut_short_is_refused_by_name(tmp_path, request, kind, part):
    path = request.getfixturevalue(kind)
    for file in path.parent.iterdir():
        shutil.copyfile(file, tmp_path / file.name)
    cut = tmp_path / ("resting.eeg" if kind == "brainvision" else path.name)
    cut.write_bytes(cut.read_bytes()[:-part])
    for call in (open_file, annotations):
        with pytest.raises(InputError, match=path.name):
            call(tmp_path / path.name)


@pytest.mark.parametrize("suffix", [".edf", ".bdf", ".gdf", ".set", ".vhdr", ".fif"])
def test_a_foreign_file_is_refused_by_name(tmp_path, suffix):
    for name, content in {
        "noise": bytes(range(256)) * 40,
        "text": b"time,a,b\n0,1,2\n" * 50,
        "empty": b"",
    }.items():
        path = tmp_path / f"{name}{suffix}"
        path.write_bytes(content)
        with pytest.raises(InputError, match=path.name):
            open_file(path)
    with pytest.raises(InputError, match=f"absent{suffix}: there is no such file"):
        open_file(tmp_path / f"absent{suffix}")


def test_damaged_headers_are_read_or_refused_but_never_crash(tmp_path, edf, bdf, brainvision, fif):
    rng = np.random.default_rng(6)
    for path in (edf, bdf, brainvision, fif):
        for file in path.parent.iterdir():
            shutil.copyfile(file, tmp_path / file.name)
        whole = path.read_bytes()
        for _ in range(25):
            content = bytearray(whole)
            for place in rng.integers(0, min(len(content), 1600), size=3):
                content[place] = rng.integers(256)
            (tmp_path / path.name).write_bytes(content)
            refusal = read_all(tmp_path / path.name)
            assert refusal is None or path.name in refusal


def read_all(path: Path) -> str | None:
    """Open and read a file; give what was said when it was refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            recording = open_file(path)
            recording.read(0, min(300, recording.n_samples))
            annotations(path)
    except InputError as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", ["notes.txt", "signal.npy", "resting.eeg", "resting.vmrk", "no_suffix"])
def test_a_suffix_that_is_not_supported_is_refused_by_name(tmp_path, name):
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(InputError, match=rf"{name}: .*Expected one of \.edf"):
        open_file(tmp_path / name)


def test_brainvision_without_its_samples_is_refused_by_name(tmp_path, brainvision):
    shutil.copyfile(brainvision, tmp_path / "resting.vhdr")
    with pytest.raises(InputError, match=r"resting\.vhdr"):
        open_file(tmp_path / "resting.vhdr")


def test_without_mne_the_error_says_what_to_install(edf, monkeypatch):
    original = builtins.__import__

    def absent(name, *rest, **options):
        if name == "mne":
            raise ImportError("No module named 'mne'")
        return original(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(MissingDependency, match=r'night\.edf needs MNE-Python.*"neuroarena\[eeg\]"'):
        open_file(edf)


def test_a_real_eeglab_recording(real_data, tmp_path):
    path = real_data / "eeglab_sample" / "eeglab_data.set"
    recording = open_file(path)
    assert (len(recording.channels), recording.rate_hz, recording.n_samples) == (32, 128.0, 30504)
    # The .fdt is plain float32 in microvolts, channel by channel within each sample.
    whole = np.fromfile(path.with_suffix(".fdt"), dtype="<f4").reshape(-1, 32).T
    starts = [30_000, 0, 128, 100]
    expected = np.array([whole[:, start : start + 504] for start in starts])
    np.testing.assert_allclose(recording.windows(starts, 504), expected, rtol=1e-5)
    assert recording.channels[["x", "y", "z"]].notna().sum().min() >= 30
    assert annotations(path)["description"].value_counts().to_dict() == {"square": 80, "rt": 74}
    shutil.copyfile(path, tmp_path / path.name)
    (tmp_path / "eeglab_data.fdt").write_bytes(path.with_suffix(".fdt").read_bytes()[:-128])
    with pytest.raises(InputError, match=r"eeglab_data\.set: .*eeglab_data\.fdt has"):
        open_file(tmp_path / path.name)


def test_a_real_gdf_recording(real_data, tmp_path):
    (path,) = (real_data / "ssvep_exo" / "gdf_example").glob("*.gdf")
    recording = open_file(path)
    assert (len(recording.channels), recording.rate_hz) == (8, 256.0)
    volts = mne.io.read_raw_gdf(path, preload=True, verbose="error").get_data()
    np.testing.assert_array_equal(recording.read(0, recording.n_samples), (volts * 1e6).astype(np.float32))
    assert len(annotations(path)) > 32
    content = path.read_bytes()
    for size in (100, 1000, len(content) // 2):
        (tmp_path / "cut.gdf").write_bytes(content[:size])
        with pytest.raises(InputError, match=r"cut\.gdf"):
            open_file(tmp_path / "cut.gdf")


def test_a_set_file_that_holds_its_samples_is_read(tmp_path, real_data):
    from scipy.io import loadmat, savemat

    path = real_data / "eeglab_sample" / "eeglab_data.set"
    inside = loadmat(path, struct_as_record=True)
    eeg = inside["EEG"]
    whole = np.fromfile(path.with_suffix(".fdt"), dtype="<f4").reshape(-1, 32).T
    eeg["data"][0, 0] = whole
    savemat(tmp_path / "one_file.set", {"EEG": eeg}, appendmat=False)
    recording = open_file(tmp_path / "one_file.set")
    np.testing.assert_allclose(recording.read(100, 400), whole[:, 100:400], rtol=1e-5)
