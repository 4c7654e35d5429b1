"""The cache of features: content decides, never a name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from test_bsm_models import SMALL, Recurrent, shown

from neuroarena.families.brainscore.models import (
    CallableFeatures,
    FeatureCache,
    ImagePreprocessing,
    Reduction,
    RegionModel,
    TorchFeatures,
    content,
    tiny_network,
)


def cached(folder: Path, **changes: Any) -> RegionModel:
    network = changes.pop("network", None) or tiny_network()
    features = TorchFeatures(network, changes.pop("preprocessing", SMALL), token=changes.pop("token", None))
    options = {"identifier": "net", "region_layer_map": {"IT": "stage1"}, **changes}
    model = RegionModel(features=features, cache=FeatureCache(folder), **options)
    model.start_recording("IT", [(70, 170)])
    return model


def arrays(folder: Path) -> int:
    return FeatureCache(folder).info()["arrays"]


def heavier() -> Any:
    network = tiny_network()
    with torch.no_grad():
        network.stage4.convolution.bias[0] += 1e-3
    return network


def test_what_was_computed_is_read_back_and_not_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    first = cached(tmp_path).look_at(shown())
    assert arrays(tmp_path) == 1
    monkeypatch.setattr(TorchFeatures, "batch", lambda *_: pytest.fail("computed again"))
    second = cached(tmp_path, identifier="another name").look_at(shown())
    np.testing.assert_array_equal(first.values, second.values)


@pytest.mark.parametrize(
    "change",
    [
        lambda: {"network": heavier()},
        lambda: {"preprocessing": ImagePreprocessing(16)},
        lambda: {"region_layer_map": {"IT": "stage1.convolution"}},
        lambda: {"reduction": Reduction(4, shown(8, seed=5))},
    ],
    ids=["weight", "preprocessing", "layer", "components"],
)
def test_a_change_of_content_under_the_same_name_is_computed_anew(change: Callable[[], Any], tmp_path: Path):
    cached(tmp_path).look_at(shown())
    cached(tmp_path, **change()).look_at(shown())
    assert arrays(tmp_path) == 2


def test_other_pixels_under_the_same_stimulus_id_are_computed_anew(tmp_path: Path):
    first = cached(tmp_path).look_at(shown(seed=0))
    second = cached(tmp_path).look_at(shown(seed=1))
    assert arrays(tmp_path) == 2
    assert not np.allclose(first.values, second.values)


def test_other_stimulus_ids_of_the_same_pixels_are_read_back(tmp_path: Path):
    stimuli = shown(3)
    cached(tmp_path).look_at(stimuli)
    renamed = stimuli.table.assign(stimulus_id=["x", "y", "z"])
    images = dict(zip(["x", "y", "z"], stimuli.images.values(), strict=True))
    array = cached(tmp_path).look_at(type(stimuli)(renamed, images=images))
    assert arrays(tmp_path) == 1
    assert array["stimulus_id"].values.tolist() == ["x", "y", "z"]


def test_anonymous_functions_are_never_kept_unless_they_carry_a_token(tmp_path: Path):
    for features in (
        CallableFeatures(lambda images: np.ones((len(images), 2))),
        CallableFeatures(np.random.default_rng(0).normal),
        TorchFeatures(tiny_network(), lambda image: SMALL(image)),
    ):
        assert features.fingerprint() is None
    anonymous = RegionModel(
        "a", CallableFeatures(lambda images: np.ones((len(images), 2))), cache=FeatureCache(tmp_path)
    )
    anonymous.start_recording("IT")
    anonymous.look_at(shown(3))
    assert arrays(tmp_path) == 0
    named = CallableFeatures(lambda images: np.ones((len(images), 2)), token="v1")
    assert named.fingerprint() == "token:v1"


def test_a_plain_attribute_or_a_hook_of_a_module_is_part_of_its_content():
    network = Recurrent()
    before = content.of_module(network)
    assert before is not None
    network._steps = 5  # type: ignore[assignment]
    assert content.of_module(network) != before
    network._steps = lambda x: x  # type: ignore[assignment]
    assert content.of_module(network) is None
    del network._steps
    assert content.of_module(network) == before
    network.cell.register_forward_hook(lambda *_: None)
    assert content.of_module(network) is None


def test_modules_of_torch_with_function_attributes_can_be_hashed():
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16)
    assert content.of_module(layer) == content.of_module(layer)
    assert content.of_module(layer) is not None


def test_a_class_made_inside_a_function_is_anonymous():
    scale = 2.0

    class Local(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return scale * x

    assert content.of_module(Local()) is None


def test_weights_of_half_precision_are_hashed_by_their_bytes():
    first, second = (torch.nn.Linear(3, 2).bfloat16() for _ in range(2))
    second.load_state_dict(first.state_dict())
    assert content.of_module(first) == content.of_module(second)
    with torch.no_grad():
        second.bias[0] += 1
    assert content.of_module(first) != content.of_module(second)


def test_an_array_that_is_too_large_is_not_kept(tmp_path: Path):
    small = FeatureCache(tmp_path, largest_bytes=100)
    small.put("a" * 64, np.zeros(13))
    small.put("b" * 64, np.zeros(12))
    assert small.info()["arrays"] == 1


def test_a_damaged_file_is_computed_again_and_the_cache_can_be_cleared(tmp_path: Path):
    first = cached(tmp_path).look_at(shown())
    (file,) = tmp_path.glob("*.array")
    file.write_bytes(b"\x93NUMPY broken")
    np.testing.assert_array_equal(cached(tmp_path).look_at(shown()).values, first.values)
    assert FeatureCache(tmp_path).info()["bytes"] > first.values.nbytes
    assert FeatureCache(tmp_path).clear() == 1
    assert FeatureCache(tmp_path / "never").clear() == arrays(tmp_path) == 0


def test_the_default_cache_lies_where_neuroarena_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NEUROARENA_CACHE", str(tmp_path))
    assert FeatureCache.default().folder == tmp_path / "brainscore-features"
    monkeypatch.delenv("NEUROARENA_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert FeatureCache.default().folder == tmp_path / "x" / "neuroarena" / "brainscore-features"
