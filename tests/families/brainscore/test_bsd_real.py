"""Two benchmarks on real recordings beside the project: Haxby 2001 and Kriegeskorte 2008."""

from __future__ import annotations

import shutil

import numpy as np
import pandas as pd
import pytest
import rsatoolbox
import scipy.io
import scipy.stats
from PIL import Image
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import RidgeClassifier

from neuroarena.errors import InputError
from neuroarena.families.brainscore import load_benchmark, load_model, score
from neuroarena.families.brainscore.definitions.kriegeskorte import DissimilarityBenchmark
from neuroarena.families.brainscore.errors import ConfigError
from neuroarena.families.brainscore.models import CallableFeatures, PrecomputedFeatures, RegionModel
from shared_data import SHARED

HAXBY = SHARED / "data" / "real" / "haxby_fmri"
IMAGES = SHARED / "data" / "real" / "rsa_92images"
needs_haxby = pytest.mark.skipif(not HAXBY.is_dir(), reason="the Haxby slice is not beside the project")
needs_images = pytest.mark.skipif(not IMAGES.is_dir(), reason="the 92 images are not beside the project")
KINDS = ["house", "scrambledpix", "cat", "shoe", "bottle", "scissors", "chair", "face"]


@needs_haxby
def test_categories_are_decoded_from_voxels_as_the_readme_of_the_data_says():
    benchmark = load_benchmark("Haxby2001-slice", data=HAXBY)
    assert benchmark.categories == KINDS
    assert benchmark.patterns.shape == (12, 8, 530)
    found = benchmark.decode()
    assert float(found) == pytest.approx(0.729, abs=0.001)
    assert found.attrs["chance"] == 0.125
    assert found.raw.sizes == {"run": 12}
    assert float(benchmark(RidgeClassifier())) > 0.7
    assert float(benchmark(DummyClassifier(strategy="constant", constant="face"))) == 0.125


@needs_haxby
def test_features_by_category_are_compared_with_every_run():
    benchmark = load_benchmark("Haxby2001-slice", data=HAXBY)
    groups = {"animate": ["cat", "face"], "place": ["house"], "scrambled": ["scrambledpix"]}
    table = pd.DataFrame(
        {name: [float(kind in kinds) for kind in KINDS] for name, kinds in groups.items()}, KINDS
    )
    table["tool"] = 1 - table.sum(axis=1)
    found = score(PrecomputedFeatures(table, identifier="kinds"), benchmark)
    upper = np.triu_indices(8, 1)
    model = (1 - np.corrcoef(table.to_numpy()))[upper]
    by_run = [
        scipy.stats.spearmanr(model.round(9), (1 - np.corrcoef(run))[upper])[0] for run in benchmark.patterns
    ]
    assert float(found.raw) == pytest.approx(np.mean(by_run), abs=1e-6)
    assert float(found) == pytest.approx(np.mean(by_run) / float(benchmark.ceiling))
    assert 0.25 < benchmark.ceiling.attrs["lower_bound"] < float(benchmark.ceiling) < 0.5
    assert float(found) > 0.3


@needs_haxby
def test_an_image_model_needs_a_picture_of_every_category(tmp_path):
    pixels = load_model("pixels", cache=False)
    with pytest.raises(ConfigError, match=r"not part of the data\. Pass pictures=FOLDER"):
        score(pixels, load_benchmark("Haxby2001-slice", data=HAXBY))
    rng = np.random.default_rng(0)
    for kind in KINDS[:-1]:
        Image.fromarray(rng.integers(0, 256, (16, 16, 3), dtype=np.uint8)).save(tmp_path / f"{kind}.png")
    with pytest.raises(ConfigError, match=r"no picture face\.png of the category face"):
        load_benchmark("Haxby2001-slice", data=HAXBY, pictures=tmp_path)
    Image.fromarray(rng.integers(0, 256, (16, 16, 3), dtype=np.uint8)).save(tmp_path / "face.jpg")
    found = score(pixels, load_benchmark("Haxby2001-slice", data=HAXBY, pictures=tmp_path))
    assert -1 < float(found.raw) < 1


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        (None, "haxby_sub001_1slice.npz, which .* needs, is missing"),
        (b"nothing", "cannot be read as X, y, run and label_names"),
        ({"X": np.zeros((4, 2))}, "cannot be read as X, y, run and label_names"),
        (
            {
                "X": np.eye(4),
                "y": np.array([0, 1, 0, 1]),
                "run": np.ones(4),
                "label_names": ["rest", "a", "b"],
            },
            'run 1.* shows no "b"',
        ),
    ],
)
def test_a_file_that_holds_no_slice_is_refused_by_name(tmp_path, stored, said):
    path = tmp_path / "haxby_sub001_1slice.npz"
    if isinstance(stored, bytes):
        path.write_bytes(stored)
    elif stored is not None:
        np.savez(path, **stored)
    with pytest.raises(InputError, match=said):
        load_benchmark("Haxby2001-slice", data=tmp_path)


@pytest.mark.parametrize("name", ["Haxby2001-slice", "Kriegeskorte2008.IT-rdm"])
def test_real_data_that_nobody_named_are_asked_for(name):
    with pytest.raises(InputError, match=r"no folder was named\. Pass data=FOLDER, or set \$NEUROARENA_"):
        load_benchmark(name)


@pytest.fixture(scope="module")
def images() -> DissimilarityBenchmark:
    return load_benchmark("Kriegeskorte2008.IT-rdm", data=IMAGES)


def models() -> dict[str, np.ndarray]:
    stored = scipy.io.loadmat(IMAGES / "92_modelRDMs.mat")["Models"].ravel()
    return {str(each["name"][0]): each["RDM"].astype(float) for each in stored}


@needs_images
def test_the_animacy_model_and_the_noise_ceiling_are_those_of_rsatoolbox(images):
    human = rsatoolbox.rdm.RDMs(images.rdms)
    animacy = models()["animacy"]
    expected = rsatoolbox.rdm.compare(rsatoolbox.rdm.RDMs(animacy[None]), human, method="spearman")[0]
    found = images.compare(animacy)
    np.testing.assert_allclose(found.raw.raw.values, expected, atol=1e-6)
    assert float(found) == pytest.approx(expected.mean() / float(images.ceiling), abs=1e-6)
    left_out = [
        rsatoolbox.rdm.compare(
            rsatoolbox.rdm.RDMs(np.delete(images.rdms, at, 0).mean(axis=0)[None]),
            rsatoolbox.rdm.RDMs(images.rdms[at][None]),
            method="spearman",
        )[0, 0]
        for at in range(4)
    ]
    assert images.ceiling.attrs["lower_bound"] == pytest.approx(np.mean(left_out), abs=1e-6)
    assert found.attrs["lower_bound"] == pytest.approx(np.mean(left_out) / float(images.ceiling), abs=1e-6)


@needs_images
@pytest.mark.parametrize(
    ("model", "human"), [("animacy", 0.39), ("monkeyIT", 0.30), ("HMAX", 0.16), ("V1", 0.03)]
)
def test_published_models_stand_where_the_readme_of_the_data_says(images, model, human):
    assert float(images.compare(models()[model]).raw) == pytest.approx(human, abs=0.01)


@needs_images
def test_monkey_it_is_told_beside_the_human_score(images):
    assert images.compare(models()["monkeyIT"]).attrs["others"]["monkey IT"] == pytest.approx(1)
    mean_human = scipy.io.loadmat(IMAGES / "Kriegeskorte_Neuron2008_supplementalData.mat")[
        "RDMs_mIT_hIT_fig1"
    ]
    vector = mean_human.ravel()[1]["RDM"].ravel()
    upper = images.others["monkey IT"][np.triu_indices(92, 1)]
    assert scipy.stats.spearmanr(vector, upper)[0] == pytest.approx(0.439, abs=0.001)


@needs_images
def test_models_look_at_the_92_images(images):
    assert len(images.stimuli) == 92
    assert images.stimuli.image("image01").size == (175, 175)
    assert images.stimuli["face"].sum() > 10
    faces = RegionModel(
        "brightness",
        CallableFeatures(
            lambda shown: np.stack([np.asarray(each.resize((4, 4)), float).ravel() for each in shown])
        ),
        cache=False,
    )
    assert -0.2 < float(score(faces, images).raw) < 0.4
    for name, value in (("pixels", 0.021), ("tiny-cnn", 0.035)):
        assert float(score(load_model(name, cache=False), images).raw) == pytest.approx(value, abs=0.01)


@needs_images
def test_a_file_of_images_that_is_not_whole_is_refused(tmp_path, images):
    with pytest.raises(ConfigError, match=r"shape \(4, 92, 92\), expected \(3, 92, 92\)"):
        DissimilarityBenchmark("Mine-rdm", images.rdms, ["a", "b", "c"], images.stimuli, "IT", 8)
    shutil.copy(IMAGES / "92_brainRDMs.mat", tmp_path)
    with pytest.raises(InputError, match=r": Kriegeskorte_Neuron2008_supplementalData\.mat"):
        load_benchmark("Kriegeskorte2008.IT-rdm", data=tmp_path)
    (tmp_path / "Kriegeskorte_Neuron2008_supplementalData.mat").write_bytes(b"none")
    with pytest.raises(ConfigError, match="cannot be read as a MATLAB file with stimuli_92objs"):
        load_benchmark("Kriegeskorte2008.IT-rdm", data=tmp_path)
