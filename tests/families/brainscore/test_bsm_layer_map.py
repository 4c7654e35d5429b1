"""Choosing layers by data: the layer the neurons were made from wins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from test_bsm_models import shown

from neuroarena.families.brainscore import NeuralBenchmark, load_ceiling, load_metric
from neuroarena.families.brainscore.brain_score import Score
from neuroarena.families.brainscore.errors import ConfigError
from neuroarena.families.brainscore.models import (
    CallableFeatures,
    RegionModel,
    choose_layers,
    tiny_cnn,
    with_layers,
)
from neuroarena.families.brainscore.stimuli import StimulusSet

STAGES = ["stage1", "stage2", "stage3", "stage4"]


def textures(n: int = 120) -> StimulusSet:
    """Draw gratings and blobs of many colours, enlarged noise on top."""
    rng = np.random.default_rng(0)
    ids = [f"texture{at:03d}" for at in range(n)]
    images = {}
    for key in ids:
        coarse = rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)
        images[key] = np.asarray(Image.fromarray(coarse).resize((32, 32), Image.Resampling.BICUBIC))
    table = pd.DataFrame({"stimulus_id": ids, "object_name": [f"object{at % 4}" for at in range(n)]})
    return StimulusSet(table, images=images, identifier="textures")


def benchmark(region: str, layer: str, model: RegionModel) -> NeuralBenchmark:
    """Make neurons that read a layer through random weights, plus noise."""
    stimuli, rng = textures(), np.random.default_rng(len(layer))
    responses = model.responses(stimuli, layer).reshape(len(stimuli), -1)
    centred = responses - responses.mean(axis=0)
    signal = centred @ rng.normal(size=(responses.shape[1], 12))
    signal /= signal.std(axis=0)
    single = signal + 0.5 * rng.normal(size=(6, *signal.shape))
    from bsm_arrays import assembly, trials

    rows = {name: ("presentation", stimuli[name].to_numpy()) for name in ("stimulus_id", "object_name")}
    target = assembly(
        single.mean(axis=0), **rows, region=("neuroid", [region] * 12), time_bin_start=70, time_bin_end=170
    )
    target.attrs["stimulus_set"] = stimuli
    return NeuralBenchmark(
        identifier=f"Planted.{region}-pls",
        assembly=target,
        similarity_metric=load_metric("pls", regression_kwargs={"n_components": 10}),
        visual_degrees=8,
        number_of_trials=6,
        ceiling_func=lambda: load_ceiling("internal_consistency")(trials(single)),
        parent=region,
    )


def test_the_layer_the_neurons_were_made_from_is_chosen():
    model = tiny_cnn()
    benchmarks = [benchmark("V1", "stage1", model), benchmark("IT", "stage4", model)]
    choice = choose_layers(model, benchmarks, STAGES)
    assert choice.region_layer_map == {"V1": "stage1", "IT": "stage4"}
    assert choice.scores.shape == (8, 5)
    assert set(choice.scores["benchmark"]) == {"Planted.V1-pls", "Planted.IT-pls"}
    best = choice.scores.groupby("region")["score"].max()
    direct = benchmarks[1](with_layers(model, {"IT": "stage4"}))
    assert best["IT"] == pytest.approx(float(direct))
    assert model.region_layer_map["V4"] == "stage3"


def test_of_two_equal_layers_the_earlier_is_chosen():
    features = CallableFeatures({"late": _same, "early": _same})
    model = RegionModel("twins", features, cache=False)
    score: Any = lambda candidate: Score(len(candidate.region_layer_map))  # noqa: E731
    assert choose_layers(model, {"IT": score}, ["early", "late"]).region_layer_map == {"IT": "early"}


def _same(images: list[Any]) -> np.ndarray:
    return np.ones((len(images), 2))


def test_a_choice_that_cannot_be_made_is_refused():
    model = tiny_cnn(cache=False)
    with pytest.raises(ConfigError, match="at least one layer and one benchmark"):
        choose_layers(model, {})
    with pytest.raises(ConfigError, match="stage9"):
        choose_layers(model, {"IT": lambda _: Score(1)}, ["stage9"])
    with pytest.raises(ConfigError, match="needs a region of its own"):
        choose_layers(model, [lambda _: Score(1)], STAGES)


def test_the_same_features_serve_under_other_layers():
    model = tiny_cnn(cache=False, batch_size=3)
    twin = with_layers(model, {"IT": "stage1"})
    twin.start_recording("IT")
    assert twin.batch_size == 3
    assert twin.cache is None
    assert twin.look_at(shown(2)).sizes["neuroid"] == 16 * 32 * 32
