"""Models people have: architectures by name with weights from a file, wrappers, and commitments of layers."""

from __future__ import annotations

import functools
from importlib.util import find_spec

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from tiny_recordings import recordings, stimuli

from neuroarena.errors import InputError, UnknownName
from neuroarena.families.brainscore import NeuralBenchmark, load_metric, load_model
from neuroarena.families.brainscore.errors import ConfigError
from neuroarena.families.brainscore.models import (
    ImagePreprocessing,
    ModelCommitment,
    PytorchWrapper,
    Reduction,
    RegionModel,
    TorchFeatures,
    choose_layers,
    load_preprocess_images,
)
from neuroarena.families.brainscore.models.microsaccades import shift_image, shift_of_trial
from neuroarena.families.brainscore.models.torchvision_import import OPERATORS, import_torchvision

NAME = "torchvision/squeezenet1_1"


needs_models = pytest.mark.skipif(
    find_spec("torchvision") is None or find_spec("timm") is None,
    reason="the extra [models] is not installed",
)


@pytest.fixture(scope="module")
def torchvision():
    if find_spec("torchvision") is None:
        pytest.skip("the extra [models] is not installed")
    return import_torchvision()


@pytest.fixture
def network(torchvision):
    torch.manual_seed(5)
    return torchvision.models.squeezenet1_1(weights=None)


def test_torchvision_is_imported_beside_a_torch_without_cuda(torchvision):
    assert torchvision.models.get_model("alexnet", weights=None) is not None
    assert len(OPERATORS) == 13
    for schema in OPERATORS:
        assert hasattr(torch.ops.torchvision, schema.partition("(")[0])


def test_an_architecture_without_weights_is_untrained_and_says_so(torchvision):
    first, second = load_model(NAME), load_model(NAME)
    assert first.identifier == "squeezenet1_1 (untrained)"
    assert first.content() == second.content()
    assert None not in first.content().values()
    assert set(first.region_layer_map) == {"V1", "V2", "V4", "IT"}


def test_making_an_architecture_leaves_the_callers_random_numbers_alone(torchvision):
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    load_model(NAME)
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("suffix", [".pth", ".safetensors", ".wrapped.pt"])
def test_weights_come_from_a_file(network, tmp_path, suffix):
    path = tmp_path / f"mine{suffix}"
    state = network.state_dict()
    if suffix == ".safetensors":
        save_file(state, path)
    else:
        parallel = {f"module.{key}": value for key, value in state.items()}
        torch.save({"state_dict": parallel} if "wrapped" in suffix else state, path)
    loaded = load_model(f"{NAME}@{path}")
    assert loaded.identifier == f"squeezenet1_1 ({path.stem})"
    for key, value in loaded.features.module.state_dict().items():
        assert torch.equal(value, state[key])
    assert loaded.content()["weights"] != load_model(NAME).content()["weights"]


def spoil(state, kind, path):
    if kind == "lacks":
        torch.save(dict(list(state.items())[1:]), path)
    elif kind == "also has":
        torch.save({**state, "surplus.weight": torch.zeros(2)}, path)
    elif kind == "other shapes":
        torch.save({key: value[:1] for key, value in state.items()}, path)
    elif kind == "cannot be read":
        path.write_bytes(b"not a network")
    else:
        torch.save([torch.zeros(2)], path)


@pytest.mark.parametrize("kind", ["lacks", "also has", "other shapes", "cannot be read", "no state dict"])
def test_weights_that_do_not_fit_are_refused_by_name(network, tmp_path, kind):
    path = tmp_path / "wrong.pth"
    spoil(network.state_dict(), kind, path)
    with pytest.raises(InputError, match=kind) as refused:
        load_model(NAME, weights=path)
    assert str(path) in str(refused.value)


def test_unknown_architectures_and_files_are_named(torchvision, tmp_path):
    with pytest.raises(UnknownName, match="squeezenet1_1"):
        load_model("torchvision/squeezenet1_2")
    with pytest.raises(InputError, match="no such file of weights"):
        load_model(f"{NAME}@{tmp_path / 'nowhere.pth'}")


@needs_models
def test_an_architecture_of_timm_has_the_preprocessing_that_timm_states():
    model = load_model("timm/mobilenetv3_small_050")
    assert model.features.preprocessing.size == 224
    assert None not in model.content().values()


class Counted(torch.nn.Sequential):
    """A small network that counts how many images pass it."""

    seen = 0

    def forward(self, images):
        Counted.seen += len(images)
        return super().forward(images)


def small():
    torch.manual_seed(0)
    Counted.seen = 0
    return Counted(
        torch.nn.Conv2d(3, 6, 3),
        torch.nn.ReLU(),
        torch.nn.Conv2d(6, 8, 3),
        torch.nn.Flatten(),
        torch.nn.Linear(128, 9),
    )


def benchmark(trials=1):
    return NeuralBenchmark(
        "Tiny.IT-ridge", recordings(neuroids=7), load_metric("ridge"), 8, trials, ceiling_func=lambda: 0.9
    )


def test_the_classes_of_brain_score_authors_give_the_same_as_ours():
    preprocessing = functools.partial(load_preprocess_images, image_size=8)
    wrapper = PytorchWrapper(identifier="mine", model=small(), preprocessing=preprocessing, batch_size=16)
    model = ModelCommitment(
        identifier="mine", activations_model=wrapper, layers=["0", "2"], region_layer_map={"IT": "2"}
    )
    ours = RegionModel("mine", TorchFeatures(small(), ImagePreprocessing(8)), {"IT": "2"}, cache=False)
    assert float(benchmark()(model)) == pytest.approx(float(benchmark()(ours)), abs=1e-12)
    activations = wrapper(stimuli(5), layers=["0", "2"])
    assert activations.sizes == {"presentation": 5, "neuroid": 6 * 36 + 8 * 16}
    assert set(activations["layer"].values) == {"0", "2"}
    assert None not in model.content().values()
    with pytest.raises(ConfigError, match='no layer "9"'):
        ModelCommitment("mine", wrapper, layers=["9"])
    with pytest.raises(ConfigError, match="Pass region_layer_map"):
        model.start_recording("TEO", [(70, 170)])


@pytest.mark.parametrize("components", [None, 5])
def test_all_layers_are_tried_in_one_pass_over_the_stimuli(components):
    reduction = None if components is None else Reduction(components, stimuli(12))
    model = RegionModel(
        "mine", TorchFeatures(small(), ImagePreprocessing(8)), reduction=reduction, cache=False
    )
    found = choose_layers(model, [benchmark()], ["0", "1", "2"])
    assert Counted.seen == 60 + (0 if components is None else 12)
    single = {}
    for layer in ("0", "1", "2"):
        alone = RegionModel(
            "mine",
            TorchFeatures(small(), ImagePreprocessing(8)),
            {"IT": layer},
            reduction=reduction,
            cache=False,
        )
        single[layer] = float(benchmark()(alone))
    assert dict(zip(found.scores["layer"], found.scores["score"], strict=True)) == pytest.approx(single)
    assert found.region_layer_map["IT"] == max(single, key=single.get)


def test_trials_differ_by_small_shifts_where_that_is_wished():
    features = TorchFeatures(small(), ImagePreprocessing(8))
    still, moving = (
        RegionModel("mine", features, {"IT": "0"}, cache=False, microsaccades=each) for each in (False, True)
    )
    for model in (still, moving):
        model.start_recording("IT", [(70, 170)])
    once, several = still.look_at(stimuli(4), 5), moving.look_at(stimuli(4), 5)
    assert (once.sizes["presentation"], several.sizes["presentation"]) == (4, 20)
    assert sorted(set(several["repetition"].values)) == [0, 1, 2, 3, 4]
    by_trial = several.values.reshape(5, 4, -1)
    np.testing.assert_array_equal(by_trial[0], once.values)
    assert (np.ptp(by_trial, axis=0) > 0).any()
    assert still.content() != moving.content()
    assert float(benchmark(5)(moving)) != float(benchmark(5)(still))


def test_a_shift_moves_the_image_and_repeats_its_edge():
    from PIL import Image

    pixels = np.zeros((8, 8, 3), np.uint8)
    pixels[:, 3] = 200
    moved = np.asarray(shift_image(Image.fromarray(pixels), (1.0, 0.0), visual_degrees=8))
    assert (moved[:, 4] == 200).all()
    assert moved.sum() == pixels.sum()
    edge = np.full((8, 8, 3), 90, np.uint8)
    assert (np.asarray(shift_image(Image.fromarray(edge), (0.4, -0.7), 8)) == 90).all()
    radii = [np.hypot(*shift_of_trial(trial, 50)) for trial in range(50)]
    assert radii[0] == 0
    assert (np.diff(radii) > 0).all()
    assert max(radii) < 0.05
