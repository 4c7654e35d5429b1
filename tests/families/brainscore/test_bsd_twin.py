"""The simulated twin: written as the published files are, and found again by the benchmarks that read it."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
from bsd_twin import small_twin, twin
from PIL import Image

from neuroarena.errors import InputError
from neuroarena.families.brainscore import load_benchmark, load_dataset, load_stimulus_set, score
from neuroarena.families.brainscore.models import choose_layers, tiny_cnn
from neuroarena.families.brainscore.vision import DATASET, STUDIES, VisionFolder, network, simulate, verify

STAGES = ["stage1", "stage2", "stage3", "stage4"]
HVM = (
    "id,image_id,background_id,s,image_file_name,filename,rxy,tz,category_name,rxz_semantic,ty,ryz,object_name,"
    "variation,size,rxy_semantic,ryz_semantic,rxz"
)


def card() -> dict:
    return json.loads((twin() / "simulated.json").read_text())


def test_the_network_of_the_twin_is_the_shipped_model():
    stimuli = load_stimulus_set("hvm-public", data=twin())
    shown = stimuli.select(stimuli.ids[:5])
    pixels = np.stack([np.asarray(shown.image(key)) for key in shown.ids])
    model = tiny_cnn(cache=False)
    for layer, values in network.responses(pixels).items():
        np.testing.assert_allclose(model.responses(shown, layer).reshape(5, -1), values, atol=1e-5)
    with pytest.raises(ValueError, match="expected"):
        network.responses(pixels[:, :32])


@pytest.mark.parametrize(
    "region", ["IT", *(pytest.param(region, marks=pytest.mark.drill) for region in ("V4", "V1", "V2"))]
)
def test_the_planted_layer_wins_the_layer_map(region):
    planted = card()["regions"][region]
    benchmark = load_benchmark(planted["benchmark"], data=twin())
    choice = choose_layers(tiny_cnn(cache=False), [benchmark], STAGES)
    assert choice.region_layer_map == {region: planted["layer"]}


@pytest.mark.parametrize("region", ["IT", "V4"])
def test_the_true_layer_scores_what_was_planted_under_the_analytic_ceiling(region):
    planted = card()["regions"][region]
    benchmark = load_benchmark(planted["benchmark"], data=twin())
    found = score(tiny_cnn(cache=False), benchmark)
    assert float(found) == pytest.approx(planted["score"]["variance_ratio"], abs=0.05)
    assert float(found.raw) == pytest.approx(planted["raw"], abs=0.03)
    assert float(benchmark.ceiling) == pytest.approx(planted["ceiling"], abs=0.03)


@pytest.mark.parametrize("region", ["V1", "V2"])
def test_spike_counts_have_their_analytic_ceiling_and_few_stimuli_leave_some_of_the_score(region):
    planted = card()["regions"][region]
    benchmark = load_benchmark(planted["benchmark"], data=twin())
    assert float(benchmark.ceiling) == pytest.approx(planted["ceiling"], abs=0.03)
    # 121 training stimuli do not determine 25 components of 16,384 features as 360 do.
    assert 0.55 < float(score(tiny_cnn(cache=False), benchmark)) < planted["score"]["variance_ratio"] + 0.05


def test_without_strength_no_model_predicts_anything_though_the_ceiling_stands():
    benchmark = load_benchmark("MajajHong2015.IT-pls", data=small_twin())
    assert float(benchmark.ceiling) > 0.6
    assert abs(float(score(tiny_cnn(cache=False), benchmark))) < 0.15


def test_files_are_laid_out_as_the_published_ones():
    with h5py.File(twin() / "assy_dicarlo_MajajHong2015_public.nc") as file:
        assert file["data"].shape == (48, 4000, 1)
        assert file["data"].dtype == np.float32
        assert {"image_id", "repetition", "stimulus", "arr", "animal", "subregion", "x", "y"} <= set(file)
        assert [each.decode() for each in file["neuroid_id"][:2]] == ["Chabo_L_A_0_0", "Tito_L_A_0_1"]
    with open(twin() / "stimulus_hvm-public.csv", newline="") as file:
        assert next(file).strip() == HVM
    with h5py.File(twin() / "assy_movshon_FreemanZiemba2013_public.nc") as file:
        assert file["data"].shape == (48, 300, 675)
        assert file["time_bin_end"][-1] == 300
        counts = file["data"][:, :20]
        assert set(np.unique(counts)) <= set(range(6))
    textures = pd.read_csv(twin() / "stimulus_FreemanZiemba2013_aperture-public.csv")
    assert set(textures["texture_type"]) == {"texture", "noise"}
    assert textures["texture_family"].nunique() == 15
    with zipfile.ZipFile(twin() / "stimulus_FreemanZiemba2013_aperture-public.zip") as archive:
        assert sorted(archive.namelist()) == sorted(textures["filename"])


def test_a_texture_and_its_noise_have_one_spectrum_behind_one_aperture():
    table = load_stimulus_set("FreemanZiemba2013.aperture-public", data=twin())
    image = np.asarray(table.image(table.ids[0]))
    assert image.shape == (32, 32, 3)
    assert (image[0, 0] == 128).all()
    assert image[12:20, 12:20].std() > 20


@pytest.mark.parametrize("name", sorted(STUDIES))
def test_every_study_is_read_by_name_with_its_stimuli(name):
    array = load_dataset(name, data=twin())
    assert array.attrs["simulated"] is True
    assert array.attrs["stimulus_set"].identifier == STUDIES[name].stimuli
    found = set(array["region"].values) if STUDIES[name].regions else set()
    assert found == set(STUDIES[name].regions)


def test_the_same_options_give_the_same_numbers_and_leave_a_current_twin_alone(tmp_path):
    options = {"images": 8, "repetitions": 2, "neuroids": 4, "seed": 3}
    first = simulate(tmp_path / "a", **options)
    assert simulate(tmp_path / "b", **options) == first
    one, two = (load_dataset("MajajHong2015.public", data=tmp_path / each) for each in "ab")
    assert one.equals(two)
    before = (tmp_path / "a" / "simulated.json").stat().st_mtime_ns
    simulate(tmp_path / "a", **options)
    assert (tmp_path / "a" / "simulated.json").stat().st_mtime_ns == before
    assert np.isfinite(one.values).all()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"images": 1}, "images must be a whole number from 8 to 400, got 1"),
        ({"repetitions": 1.5}, "repetitions must be a whole number"),
        ({"explained": 1.2}, "explained must be a number from 0 to 1"),
        ({"strength": -1}, "strength must be a number from 0 to 1"),
    ],
)
def test_options_out_of_range_are_refused_and_nothing_is_written(tmp_path, options, said):
    with pytest.raises(InputError, match=said):
        DATASET.simulate(tmp_path / "twin", **options)
    assert not (tmp_path / "twin").exists()


def test_a_folder_of_something_else_is_not_overwritten(tmp_path):
    (tmp_path / "thesis.txt").write_text("all of it")
    with pytest.raises(InputError, match="not empty"):
        simulate(tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "all of it"


def test_a_good_twin_has_no_problems_and_says_what_it_holds():
    assert verify(twin()) == []
    folder = VisionFolder(twin())
    assert folder.simulated
    assert folder.studies == list(STUDIES)


def _rewrite_table(root: Path, change) -> None:
    path = root / "stimulus_hvm-public.csv"
    change(pd.read_csv(path, dtype=str)).to_csv(path, index=False)


def _drop(root: Path, coordinate: str) -> None:
    with h5py.File(root / "assy_dicarlo_MajajHong2015_public.nc", "a") as file:
        del file[coordinate]


def _infinite(root: Path) -> None:
    with h5py.File(root / "assy_dicarlo_MajajHong2015_public.nc", "a") as file:
        file["data"][0, 0, 0] = np.inf


def _other_regions(root: Path) -> None:
    with h5py.File(root / "assy_dicarlo_MajajHong2015_public.nc", "a") as file:
        file["region"][...] = "V4"


def _second_array(root: Path) -> None:
    with h5py.File(root / "assy_dicarlo_MajajHong2015_public.nc", "a") as file:
        file["more"] = np.zeros((2, 2))


def _extra_member(root: Path) -> None:
    with zipfile.ZipFile(root / "stimulus_hvm-public.zip", "a") as archive:
        archive.writestr("more.png", b"")


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[200] ^= 255
    path.write_bytes(bytes(content))


SPOILED = [
    (lambda r: (r / "stimulus_hvm-public.zip").unlink(), "stimulus_hvm-public.zip: cannot be read as a zip"),
    (lambda r: (r / "stimulus_hvm-public.csv").unlink(), "stimulus_hvm-public.csv: cannot be read"),
    (_extra_member, "stimulus_hvm-public.zip: its files must be exactly those of .*more.png"),
    (lambda r: _flip(r / "stimulus_hvm-public.zip"), "stimulus_hvm-public.zip: the file .* is damaged"),
    (lambda r: _rewrite_table(r, lambda t: t.drop(columns="filename")), "lacks stimulus_id"),
    (lambda r: _rewrite_table(r, lambda t: t.drop(columns="object_name")), 'column "object_name" is missing'),
    (lambda r: _rewrite_table(r, lambda t: pd.concat([t, t[:1]])), "occurs more than once"),
    (lambda r: _rewrite_table(r, lambda t: t.assign(image_id=["x", *t["image_id"][1:]])), "shows 1 stimuli"),
    (lambda r: _drop(r, "repetition"), 'the coordinate "repetition" is missing'),
    (lambda r: _drop(r, "image_id"), 'the coordinate "stimulus_id" \\(or "image_id"\\) is missing'),
    (_infinite, "holds infinity"),
    (_other_regions, "there is no neuroid of IT"),
    (_second_array, "holds 2 arrays"),
    (
        lambda r: (r / "assy_Kar2019.nc").write_bytes(b"no"),
        "assy_Kar2019.nc: cannot be opened as HDF5",
    ),
    (
        lambda r: (r / "assy_Kar2019.nc").unlink(),
        "assy_Kar2019.nc: is missing, although simulated.json",
    ),
    (
        lambda r: (r / "simulated.json").write_text("{"),
        "simulated.json: cannot be read as the card",
    ),
    (lambda r: (r / "simulated.json").write_text("{}"), 'says "simulated": true'),
    (
        lambda r: (r / "simulated.json").unlink(),
        "MajajHong2015_public.nc: the SHA-1 is .* published file has 13d28c",
    ),
    (lambda r: [path.unlink() for path in r.glob("assy*")], "there is no assembly here"),
    (lambda r: shutil.rmtree(r), "this folder does not exist"),
]


@pytest.mark.parametrize(("spoil", "said"), SPOILED)
def test_what_is_wrong_in_a_folder_is_named(tmp_path, spoil, said):
    root = tmp_path / "twin"
    shutil.copytree(small_twin(), root, ignore=lambda _, names: [n for n in names if n.endswith("-public")])
    spoil(root)
    problems = verify(root)
    assert any(re.search(said, str(problem)) for problem in problems), problems


def test_real_files_need_no_card_and_not_every_study(tmp_path):
    for name in ("assy_Kar2019.nc", "stimulus_Kar2019.csv", "stimulus_Kar2019.zip"):
        shutil.copy(small_twin() / name, tmp_path)
    assert verify(tmp_path) == []
    assert not VisionFolder(tmp_path).simulated
    assert load_dataset("Kar2019", data=tmp_path).attrs["simulated"] is False


def test_gratings_are_where_and_as_large_as_the_table_says():
    stimuli = load_stimulus_set("Marques2020_size", data=twin())
    row = stimuli.table[(stimuli["radius"] == 1.0) & (stimuli["orientation"] == 0)].iloc[0]
    image = np.asarray(stimuli.image(row["stimulus_id"]).convert("L"), dtype=float)
    assert isinstance(stimuli.image(row["stimulus_id"]), Image.Image)
    rows, columns = np.nonzero(image != 128)
    # Eight pixels a degree; the centre of the screen lies between pixels 31 and 32.
    assert (columns.mean() - 31.5) / 8 == pytest.approx(0.125, abs=0.1)
    assert (rows.max() - rows.min() + 1) / 8 == pytest.approx(2.0, abs=0.3)
    # Orientation 0 are horizontal bars: a row is of one gray.
    inside = image[30:34, 28:38]
    assert np.ptp(inside, axis=1).max() == 0
