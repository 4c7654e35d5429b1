"""Models made of features: functions, tables and torch networks, recorded from in time bins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
import xarray as xr
from PIL import Image

from neuroarena.families.brainscore.brain_model import BrainModel, recorded
from neuroarena.families.brainscore.errors import AlignmentError, ConfigError
from neuroarena.families.brainscore.models import (
    CallableFeatures,
    ImagePreprocessing,
    PrecomputedFeatures,
    Reduction,
    RegionModel,
    TorchFeatures,
    tiny_cnn,
    tiny_network,
)
from neuroarena.families.brainscore.models.time_bins import average_into_bins, check_bins
from neuroarena.families.brainscore.registries import model_registry
from neuroarena.families.brainscore.stimuli import StimulusSet

SMALL = ImagePreprocessing(16, (0.5, 0.5, 0.5), (0.25, 0.25, 0.25))


def shown(n: int = 10, size: int = 16, seed: int = 0, identifier: str = "noise") -> StimulusSet:
    rng = np.random.default_rng(seed)
    ids = [f"im{at}" for at in range(n)]
    table = pd.DataFrame({"stimulus_id": ids, "object_name": [f"object{at % 2}" for at in range(n)]})
    images = {key: rng.integers(0, 256, (size, size, 3), dtype=np.uint8) for key in ids}
    return StimulusSet(table, images=images, identifier=identifier)


class Recurrent(torch.nn.Module):
    """A network whose cell runs three times in a pass."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = torch.nn.Conv2d(3, 4, 3, stride=4)
        self.cell = torch.nn.Conv2d(4, 4, 3, padding=1)
        self.unused = torch.nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Run."""
        state = self.enter(x)
        for _ in range(3):
            state = torch.tanh(self.cell(state))
        return state


# The sum of absolute weights, so that a change of NumPy's or torch's drawing does not pass unseen.
EXPECTED_WEIGHT = 1873.01135


@pytest.mark.parametrize("name", ["pixels", "tiny-cnn"])
def test_a_shipped_model_keeps_the_protocol(name: str):
    model = model_registry.get(name)()
    assert isinstance(model, BrainModel)
    assert model.identifier == name
    assert model.visual_degrees() == 8
    for region in ("V1", "V2", "V4", "IT"):
        model.start_recording(region, time_bins=[(70, 170)])
        array = recorded(model, shown(3), 5)
        assert array.dims == ("presentation", "neuroid")
        assert array["stimulus_id"].values.tolist() == ["im0", "im1", "im2"]
        assert array["object_name"].values.tolist() == ["object0", "object1", "object0"]
        assert (array["region"].values == region).all()
        assert (int(array["time_bin_start"]), int(array["time_bin_end"])) == (70, 170)


def test_the_small_network_has_the_same_weights_everywhere():
    weights = np.concatenate([each.detach().numpy().ravel() for each in tiny_network().parameters()])
    assert weights.size == 448 + 3480 + 6944 + 13872
    np.testing.assert_allclose(
        weights[:3], tiny_network().state_dict()["stage1.convolution.weight"].ravel()[:3]
    )
    assert float(np.abs(weights).sum()) == pytest.approx(EXPECTED_WEIGHT, rel=1e-5)


@pytest.mark.parametrize("batch_size", [1, 3, 64])
def test_hooked_features_are_the_layers_output_whatever_the_batch(batch_size: int):
    network, stimuli = tiny_network(), shown()
    model = RegionModel(
        "net", TorchFeatures(network, SMALL), {"IT": "stage2.rectified"}, batch_size=batch_size
    )
    model.start_recording("IT", [(70, 170)])
    array = model.look_at(stimuli, number_of_trials=1)
    inputs = torch.stack([torch.from_numpy(SMALL(stimuli.image(key))) for key in stimuli])
    with torch.no_grad():
        expected = network.stage2[:2](network.stage1(inputs)).numpy()
    assert expected.shape == (10, 24, 8, 8)
    np.testing.assert_allclose(array.values, expected.reshape(10, -1), atol=1e-5)
    at = int(np.ravel_multi_index((5, 2, 7), (24, 8, 8)))
    place = [int(array[name].values[at]) for name in ("channel", "channel_y", "channel_x")]
    assert place == [5, 2, 7]
    assert array["neuroid_id"].values[at] == f"net.stage2.rectified.{at}"


def test_a_network_is_left_in_the_mode_and_with_the_hooks_it_had():
    network = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.Dropout(0.5), torch.nn.BatchNorm2d(4))
    network.train()
    network[2].eval()
    features = TorchFeatures(network, SMALL)
    first = features.batch([shown().image("im0")], "1")
    np.testing.assert_array_equal(first, features.batch([shown().image("im0")], "1"))
    assert [part.training for part in network] == [True, True, False]
    assert not network[1]._forward_hooks


def test_a_rectification_in_place_does_not_change_what_was_taken_before_it():
    convolution = torch.nn.Conv2d(3, 4, 3)
    network = torch.nn.Sequential(convolution, torch.nn.ReLU(inplace=True))
    image = shown().image("im0")
    taken = TorchFeatures(network, SMALL).batch([image], "0")
    with torch.no_grad():
        expected = convolution(torch.from_numpy(SMALL(image))[None]).numpy()
    assert (taken < 0).any()
    np.testing.assert_allclose(taken, expected, atol=1e-6)


def test_a_wrong_layer_is_refused_with_the_part_that_is_missing():
    features = TorchFeatures(tiny_network(), SMALL)
    with pytest.raises(
        ConfigError, match=r'"stage1.relu": "stage1" has no part "relu"; it has "convolution"'
    ):
        RegionModel("net", features, {"IT": "stage1.relu"})
    with pytest.raises(ConfigError, match=r'the network has no part "conv"'):
        features.check_layer("conv")
    with pytest.raises(ConfigError, match='layer "unused" does not run'):
        TorchFeatures(Recurrent(), SMALL).batch([shown().image("im0")], "unused")
    with pytest.raises(ConfigError, match="runs 3 times in one pass"):
        TorchFeatures(Recurrent(), SMALL).batch([shown().image("im0")], "cell")
    with pytest.raises(ConfigError, match=r"torch\.nn\.Module, got a dict"):
        TorchFeatures({})


def test_a_recurrent_network_answers_in_the_bins_it_is_asked_for():
    features = TorchFeatures(Recurrent(), SMALL, times=[(0, 50), (50, 100), (100, 150)])
    model = RegionModel("loop", features, {"IT": "cell"}, cache=False)
    model.start_recording("IT", [(0, 50), (25, 100), (100, 150)])
    array = model.look_at(shown(4))
    assert array.dims == ("presentation", "neuroid", "time_bin")
    assert array["time_bin_start"].values.tolist() == [0, 25, 100]
    own = features.batch([shown(4).image(f"im{at}") for at in range(4)], "cell").reshape(4, -1, 3)
    np.testing.assert_allclose(array.values[:, :, 0], own[:, :, 0], rtol=1e-5)
    np.testing.assert_allclose(
        array.values[:, :, 1], (0.5 * own[:, :, 0] + own[:, :, 1]) / 1.5, rtol=1e-4, atol=1e-6
    )
    model.start_recording("IT", [(100, 200), (0, 50)])
    with pytest.raises(ConfigError, match="does not cover the time bins 100-200 ms"):
        model.look_at(shown(4))
    model.start_recording("IT", [(50, 100)])
    assert model.look_at(shown(4)).dims == ("presentation", "neuroid")


def test_a_model_without_time_repeats_itself_in_every_bin():
    model = RegionModel("still", CallableFeatures(lambda images: np.ones((len(images), 2))), cache=False)
    model.start_recording("V4", [(70, 80), (80, 90)])
    array = model.look_at(shown(3))
    assert array.shape == (3, 2, 2)
    assert (array.values == 1).all()


@pytest.mark.parametrize(
    ("bins", "message"),
    [([(80, 70)], "does not end after it starts"), ([3], "not a pair"), ([(1, 2, 3)], "not a pair")],
)
def test_a_time_bin_that_is_none_is_refused(bins: Any, message: str):
    with pytest.raises(ConfigError, match=message):
        check_bins(bins)


def test_bins_of_an_object_array_are_understood():
    pair = np.empty((), dtype=object)
    pair[()] = (70, 170)
    assert check_bins([pair]) == [(70, 170)]
    assert average_into_bins(np.ones((2, 3)), None, [(0, 1)]).shape == (2, 3, 1)


def test_paths_are_looked_at_as_well_as_stimulus_sets(tmp_path: Path):
    paths = []
    for at in range(2):
        paths.append(tmp_path / f"{at}.png")
        Image.fromarray(np.full((8, 8, 3), 100 * at, np.uint8)).save(paths[-1])
    model = model_registry.get("pixels")(cache=False)
    model.start_recording("IT", [(70, 170)])
    array = model.look_at(paths)
    assert array["stimulus_id"].values.tolist() == [str(path) for path in paths]
    np.testing.assert_allclose(array.values.mean(axis=1), [0, 100 / 255], atol=1e-6)


def test_principal_components_are_those_of_sklearn_on_the_stimuli_given():
    from sklearn.decomposition import PCA

    others, stimuli = shown(30, seed=1), shown()
    whole = RegionModel("net", TorchFeatures(tiny_network(), SMALL), {"IT": "stage1"}, cache=False)
    reduced = RegionModel(
        "net", whole.features, {"IT": "stage1"}, batch_size=7, cache=False, reduction=Reduction(5, others)
    )
    reference = whole.responses(others, "stage1").reshape(30, -1)
    expected = (
        PCA(5, svd_solver="full").fit(reference).transform(whole.responses(stimuli, "stage1").reshape(10, -1))
    )
    reduced.start_recording("IT", [(70, 170)])
    array = reduced.look_at(stimuli)
    assert array.shape == (10, 5)
    np.testing.assert_allclose(array.values, expected, atol=1e-3)
    narrow = RegionModel(
        "few", CallableFeatures(lambda images: np.ones((len(images), 3))), reduction=Reduction(5, others)
    )
    narrow.start_recording("IT")
    assert narrow.look_at(stimuli).shape == (10, 3)
    with pytest.raises(
        ConfigError, match="Fitting 31 principal components needs at least as many images, got 30"
    ):
        Reduction(31, others)


def test_features_of_a_recurrent_network_are_reduced_with_one_projection_for_all_times():
    features = TorchFeatures(Recurrent(), SMALL, times=[(0, 50), (50, 100), (100, 150)])
    model = RegionModel(
        "loop", features, {"IT": "cell"}, cache=False, reduction=Reduction(4, shown(12, seed=3))
    )
    model.start_recording("IT", [(0, 50), (50, 150)])
    assert model.look_at(shown(5)).shape == (5, 4, 2)


def test_memory_is_bounded_by_the_batch():
    largest = []

    def watched(images: list[Any]) -> np.ndarray:
        largest.append(len(images))
        return np.zeros((len(images), 50))

    model = RegionModel("watched", CallableFeatures(watched), batch_size=4, cache=False)
    model.start_recording("IT")
    assert model.look_at(shown(10)).shape == (10, 50)
    assert largest == [4, 4, 2]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda images: np.zeros(len(images)), r"returned the shape \(3,\) for 3 images"),
        (lambda images: np.zeros((len(images) + 1, 2)), r"returned the shape \(4, 2\) for 3 images"),
    ],
)
def test_a_function_that_gives_no_row_an_image_is_refused(function: Any, message: str):
    model = RegionModel("wrong", CallableFeatures(function), cache=False)
    model.start_recording("IT")
    with pytest.raises(ConfigError, match=message):
        model.look_at(shown(3))


def test_a_model_says_what_it_lacks():
    model = tiny_cnn(cache=False)
    with pytest.raises(ConfigError, match="Call start_recording"):
        model.look_at(shown(3))
    with pytest.raises(
        ConfigError, match='no layer stands for the region "MT"; there are "V1", "V2", "V4" and 1 more'
    ):
        model.start_recording("MT")
    model.start_recording("IT")
    with pytest.raises(ConfigError, match="number of trials is 0"):
        model.look_at(shown(3), number_of_trials=0)
    with pytest.raises(ConfigError, match="batch size is 0"):
        tiny_cnn(batch_size=0)
    with pytest.raises(ConfigError, match="Features need a function"):
        CallableFeatures({"a": 3})  # type: ignore[dict-item]
    with pytest.raises(ConfigError, match='no layer "b"'):
        CallableFeatures({"a": len}).check_layer("b")


def test_precomputed_features_are_given_in_the_order_of_the_stimuli():
    stimuli = shown(4)
    table = pd.DataFrame(np.arange(10.0).reshape(5, 2), index=["im3", "im1", "im0", "im2", "more"])
    model = PrecomputedFeatures(table, visual_degrees=4, identifier="mine")
    assert isinstance(model, BrainModel)
    assert (model.identifier, model.visual_degrees()) == ("mine", 4)
    model.start_recording("anything", [(0, 1)])
    array = model.look_at(stimuli, number_of_trials=9)
    np.testing.assert_array_equal(array.values, [[4, 5], [2, 3], [6, 7], [0, 1]])
    assert array["object_name"].values.tolist() == ["object0", "object1", "object0", "object1"]


def test_stimuli_without_features_are_named():
    stimuli = shown(4)
    array = xr.DataArray(
        np.zeros((2, 3)),
        dims=("presentation", "neuroid"),
        coords={"stimulus_id": ("presentation", ["im0", "im2"])},
    )
    with pytest.raises(AlignmentError, match='2 of 4 stimuli: "im1", "im3"'):
        PrecomputedFeatures(array).look_at(stimuli)
    with pytest.raises(AlignmentError, match='"im0" occur more than once'):
        PrecomputedFeatures(array.isel(presentation=[0, 0]))
    by_set = PrecomputedFeatures({"noise": array, "other": array})
    assert by_set.look_at(stimuli.select(["im2"])).shape == (1, 3)
    with pytest.raises(ConfigError, match='stimulus set "third"; there are "noise", "other"'):
        by_set.look_at(shown(4, identifier="third"))
