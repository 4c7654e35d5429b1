"""Assemblies and stimulus sets on disk: read and written, refused by file name."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile

import h5py
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from PIL import Image
from tiny_recordings import recordings, stimuli

from neuroarena.errors import MissingDependency
from neuroarena.families.brainscore.assembly_files import file_identifier, read_assembly, write_assembly
from neuroarena.families.brainscore.errors import AlignmentError, ConfigError, DataQualityError
from neuroarena.families.brainscore.screen import place_on_screen
from neuroarena.families.brainscore.stimuli import StimulusSet
from neuroarena.families.brainscore.stimulus_files import read_stimulus_set, write_stimulus_set


def test_an_assembly_comes_back_as_it_was_written(tmp_path):
    trials = recordings(repetitions=2).astype(np.float32)
    trials = trials.assign_coords(note=("presentation", [None, "x"] * 60), good=("neuroid", [True] * 6))
    path = write_assembly(trials, tmp_path, "dicarlo.Tiny.public")
    assert path.name == "assy_dicarlo_Tiny_public.nc"
    back = read_assembly(path)
    np.testing.assert_array_equal(back.values, trials.values)
    assert back.dtype == np.float32
    for name in (
        "stimulus_id",
        "object_name",
        "repetition",
        "neuroid_id",
        "region",
        "time_bin_start",
        "good",
    ):
        assert back[name].values.tolist() == trials[name].values.tolist()
    assert back["note"].values.tolist() == ["", "x"] * 60
    assert back.attrs == {"identifier": "dicarlo.Tiny.public", "stimulus_set_identifier": "tiny"}
    with h5py.File(path) as file:
        assert file["data"].compression == "gzip"
        assert file["data"].compression_opts == 9


def test_a_property_assembly_keeps_its_bins_and_trials(tmp_path):
    array = xr.DataArray(
        [[0.1, np.nan]],
        dims=("neuroid", "neuronal_property"),
        coords={"neuronal_property": ["a", "b"], "region": ("neuroid", ["V1"])},
        attrs={
            "number_of_trials": 20,
            "a_bins": np.linspace(0, 1, 5),
            "identifier": "P",
            "left": None,
            "yes": True,
        },
    )
    back = read_assembly(write_assembly(array, tmp_path), stimuli())
    xr.testing.assert_equal(back, array)
    assert back.attrs["number_of_trials"] == 20
    np.testing.assert_array_equal(back.attrs["a_bins"], np.linspace(0, 1, 5))
    assert set(back.attrs) == {"number_of_trials", "a_bins", "identifier", "stimulus_set"}


def test_an_older_file_is_read_whatever_its_variable_is_called(tmp_path):
    array = recordings().rename(stimulus_id="image_id")
    array.attrs = {}
    old = array.transpose("neuroid", "presentation").rename("dicarlo.Tiny").to_dataset()
    old.to_netcdf(tmp_path / "assy_x.nc", engine="h5netcdf")
    back = read_assembly(tmp_path / "assy_x.nc", stimuli(colour="red"))
    assert back.dims == ("presentation", "neuroid")
    assert back.attrs["identifier"] == "dicarlo.Tiny"
    assert back["stimulus_id"].values.tolist() == stimuli().ids
    assert set(back["colour"].values) == {"red"}
    np.testing.assert_array_equal(back.values, recordings().values)


def test_numbers_as_ids_match_the_text_of_a_table(tmp_path):
    array = recordings().assign_coords(stimulus_id=("presentation", np.arange(60)))
    table = pd.DataFrame({"stimulus_id": [str(i) for i in range(60)], "size_s": 1})
    shown = StimulusSet(table, images={str(i): np.zeros((2, 2, 3), np.uint8) for i in range(60)})
    assert read_assembly(write_assembly(array, tmp_path), shown)["stimulus_id"].values.tolist() == shown.ids


def _two_variables(path):
    xr.Dataset({"a": ("x", [1.0]), "b": ("x", [1.0])}).to_netcdf(path, engine="h5netcdf")


def _wrong_dims(path):
    xr.Dataset({"a": ("x", [1.0])}).to_netcdf(path, engine="h5netcdf")


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda path: None, ConfigError, "this file does not exist"),
        (lambda path: path.write_bytes(b"not a file"), ConfigError, "cannot be read as netCDF-4"),
        (lambda path: path.write_bytes(b""), ConfigError, "cannot be read as netCDF-4"),
        (_two_variables, ConfigError, 'holds 2 data variables \\("a", "b"\\)'),
        (_wrong_dims, ConfigError, "dims are x"),
    ],
)
def test_a_file_that_holds_no_assembly_is_refused_by_name(tmp_path, make, error, said):
    path = tmp_path / "assy_x.nc"
    make(path)
    with pytest.raises(error, match=rf"assy_x\.nc: .*{said}"):
        read_assembly(path)


def test_a_cut_file_is_refused(tmp_path):
    path = write_assembly(recordings(), tmp_path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ConfigError, match="cannot be read as netCDF-4"):
        read_assembly(path)


def test_another_sha1_is_refused_before_reading(tmp_path):
    path = write_assembly(recordings(), tmp_path)
    read_assembly(path, sha1=hashlib.sha1(path.read_bytes()).hexdigest().upper())
    with pytest.raises(DataQualityError, match="expected 0000"):
        read_assembly(path, sha1="0" * 40)


def test_an_assembly_needs_a_name_that_can_be_a_file_name(tmp_path):
    array = recordings()
    with pytest.raises(ConfigError, match=r'"\.\./x" cannot be part of a file name'):
        write_assembly(array, tmp_path, "../x")
    array.attrs = {}
    with pytest.raises(ConfigError, match="needs an identifier to be written under"):
        write_assembly(array, tmp_path)
    assert file_identifier("a.b-c") == "a_b-c"


def test_a_missing_library_is_named_with_the_extra_to_install(tmp_path, monkeypatch):
    code = (
        "import sys; sys.modules['xarray'] = None\n"
        "from neuroarena.families.brainscore import Score, place_on_screen\n"
        "from neuroarena.families.brainscore import load_metric"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (
        'needs xarray, which is not installed. Install it with: pip install "neuroarena[vision]"'
        in ran.stderr
    )
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match="needs h5netcdf"):
        write_assembly(recordings(), tmp_path)


def test_stimuli_that_the_set_lacks_are_named(tmp_path):
    path = write_assembly(recordings(), tmp_path)
    with pytest.raises(AlignmentError, match='"im000", "im001", "im002" and 9 more'):
        read_assembly(path, stimuli().select(stimuli().ids[12:]))


def test_a_stimulus_set_comes_back_as_it_was_written(tmp_path):
    shown = stimuli(6)
    csv, zipped = write_stimulus_set(shown, tmp_path)
    assert (csv.name, zipped.name) == ("stimulus_tiny.csv", "stimulus_tiny.zip")
    sums = {path: hashlib.sha1(path.read_bytes()).hexdigest() for path in (csv, zipped)}
    back = read_stimulus_set(csv, csv_sha1=sums[csv], zip_sha1=sums[zipped])
    assert back.identifier == "tiny"
    assert back.ids == shown.ids
    assert back["filename"].tolist() == [f"{key}.png" for key in shown.ids]
    for key in shown.ids:
        np.testing.assert_array_equal(np.asarray(back.image(key)), shown.images[key])
    # Unpacked once; a second reading finds the files. Writing again gives the same bytes.
    assert read_stimulus_set(csv).get_stimulus("im000") == tmp_path / "stimulus_tiny" / "im000.png"
    write_stimulus_set(shown, tmp_path / "again")
    for path in (csv, zipped):
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()
    written = write_stimulus_set(back, tmp_path / "files")
    assert written[1].read_bytes() == zipped.read_bytes()


def test_files_are_stored_as_they_are_and_placed_images_as_png(tmp_path):
    Image.new("RGB", (8, 8), (255, 0, 0)).save(tmp_path / "a.jpg")
    shown = StimulusSet(pd.DataFrame({"stimulus_id": ["one"]}), {"one": tmp_path / "a.jpg"}, "jpg")
    _, zipped = write_stimulus_set(shown, tmp_path / "out")
    with zipfile.ZipFile(zipped) as archive:
        assert archive.namelist() == ["one.jpg"]
        assert archive.read("one.jpg") == (tmp_path / "a.jpg").read_bytes()
    csv, _ = write_stimulus_set(place_on_screen(shown, 8, 4), tmp_path / "out", "big")
    assert read_stimulus_set(csv).image("one").size == (16, 16)


def test_an_old_table_and_a_folder_of_images_are_read(tmp_path):
    folder = tmp_path / "images"
    stimuli(3).write_images(folder)
    csv = tmp_path / "stimulus_old.csv"
    csv.write_text("image_id,filename,size\n0012,im000.png,256\n7,im001.png,1\n")
    back = read_stimulus_set(csv, folder)
    assert back.ids == ["0012", "7"]
    assert back["size"].tolist() == [256, 1]


def _zip(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members:
            archive.writestr(name, content)


ONE = "stimulus_id,filename\na,a.png\n"


def _link(path):
    info = zipfile.ZipInfo("a.png")
    info.external_attr = 0o120777 << 16
    _zip(path, [(info, "/etc/passwd")])


@pytest.mark.parametrize(
    ("table", "make", "error", "said"),
    [
        (ONE, lambda path: None, ConfigError, r"stimulus_x\.zip: this file does not exist"),
        (ONE, lambda path: path.write_text("no"), ConfigError, "cannot be read as a zip"),
        (
            "stimulus_id,filename\na,a.png\nb,b.png\n",
            lambda path: _zip(path, [("a.png", "1")]),
            DataQualityError,
            'lacks "b.png"',
        ),
        (
            ONE,
            lambda path: _zip(path, [("a.png", "1"), ("c.png", "1")]),
            DataQualityError,
            'also holds "c.png"',
        ),
        (ONE, lambda path: _zip(path, [("in/a.png", "1")]), ConfigError, '"in/a.png" is not a plain file'),
        (ONE, lambda path: _zip(path, [("../a.png", "1")]), ConfigError, '"../a.png" is not a plain file'),
        (ONE, _link, ConfigError, '"a.png" is not a plain file'),
        (
            "stimulus_id,filename\na,../a.png\n",
            lambda path: None,
            ConfigError,
            'row 0: the filename "../a.png"',
        ),
        ("stimulus_id,name\na,a.png\n", lambda path: None, ConfigError, '"filename" is missing'),
        ("name,filename\na,a.png\n", lambda path: None, ConfigError, '"stimulus_id" is missing'),
        ("stimulus_id,filename\na,\n", lambda path: None, ConfigError, 'row 0 has no "filename"'),
        ("", lambda path: None, ConfigError, "cannot be read as CSV"),
    ],
)
def test_a_stimulus_set_that_is_not_whole_is_refused_by_file(tmp_path, table, make, error, said):
    csv = tmp_path / "stimulus_x.csv"
    csv.write_text(table)
    make(tmp_path / "stimulus_x.zip")
    with pytest.raises(error, match=said.replace(".png", r"\.png").replace("../", r"\.\./")):
        read_stimulus_set(csv)
    assert not (tmp_path / "stimulus_x").exists()


def test_a_member_twice_and_a_bomb_are_refused(tmp_path):
    csv, path = tmp_path / "stimulus_x.csv", tmp_path / "stimulus_x.zip"
    csv.write_text("stimulus_id,filename\na,a.png\n")
    with pytest.warns(UserWarning, match="Duplicate name"):
        _zip(path, [("a.png", "1"), ("a.png", "2")])
    with pytest.raises(ConfigError, match="occurs twice"):
        read_stimulus_set(csv)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.png", bytes(120 * 2**20))
    with pytest.raises(ConfigError, match="far more than images would"):
        read_stimulus_set(csv)


def test_a_missing_file_in_a_folder_and_a_strange_folder_in_the_way_are_named(tmp_path):
    csv, zipped = write_stimulus_set(stimuli(3), tmp_path)
    (tmp_path / "stimulus_tiny").mkdir()
    (tmp_path / "stimulus_tiny" / "im000.png").write_text("mine")
    with pytest.raises(ConfigError, match="already exists and does not hold the files"):
        read_stimulus_set(csv)
    assert (tmp_path / "stimulus_tiny" / "im000.png").read_text() == "mine"
    with pytest.raises(
        ConfigError, match=r'the files "im001\.png", "im002\.png" of stimulus_tiny\.csv are missing'
    ):
        read_stimulus_set(csv, tmp_path / "stimulus_tiny")
    assert zipped.exists()


def test_two_files_of_one_name_are_refused(tmp_path):
    images = {1: np.zeros((2, 2, 3), np.uint8), "1": np.zeros((2, 2, 3), np.uint8)}
    shown = StimulusSet(
        pd.DataFrame({"stimulus_id": pd.Series([1, "1"], dtype=object)}), images=images, identifier="x"
    )
    with pytest.raises(ConfigError, match=r'"1\.png" would occur twice'):
        write_stimulus_set(shown, tmp_path)
    with pytest.raises(ConfigError, match="needs an identifier to be written under"):
        write_stimulus_set(StimulusSet(shown.table, images=images), tmp_path)
