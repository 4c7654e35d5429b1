"""What a model is, in the record: weights, code, preprocessing and layers, whatever its name."""

from __future__ import annotations

import pandas as pd
import pytest
import torch
from tiny_recordings import PixelModel, pixels, recordings, stimuli

from neuroarena.board import Board, Rules, entries_from_results
from neuroarena.errors import UnknownName
from neuroarena.evaluation import evaluate, evaluate_all, load_result
from neuroarena.families.brainscore import NeuralBenchmark, load_metric
from neuroarena.families.brainscore.comparison import NeuralComparison
from neuroarena.families.brainscore.models import (
    CallableFeatures,
    ImagePreprocessing,
    PrecomputedFeatures,
    RegionModel,
    TorchFeatures,
)

SMALL = ImagePreprocessing(8, (0.5, 0.5, 0.5), (0.25, 0.25, 0.25))


def benchmark(name="Tiny.IT-ridge"):
    return NeuralBenchmark(name, recordings(neuroids=7), load_metric("ridge"), 8, 1, ceiling_func=lambda: 0.9)


def network(seed=0, layer="0", preprocessing=SMALL, name="net", degrees=8):
    torch.manual_seed(seed)
    module = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU())
    return RegionModel(name, TorchFeatures(module, preprocessing), {"IT": layer}, degrees, cache=False)


def content(model):
    return evaluate(model, NeuralComparison(benchmark())).record.decoder


def test_the_record_says_what_a_network_is_and_a_name_changes_nothing():
    first, renamed = content(network()), content(network(name="other"))
    assert first.code is not None
    assert first.code == renamed.code
    assert {"weights", "network", "preprocessing", "layers"} <= set(first.parameters["content"])
    assert first.parameters["content"]["layers"] == {"IT": "0"}


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"seed": 1}, "weights"),
        ({"layer": "1"}, "layers"),
        ({"preprocessing": ImagePreprocessing(8)}, "preprocessing"),
        ({"degrees": 6}, "visual_degrees"),
    ],
)
def test_every_part_counts(change, part):
    first, second = content(network()), content(network(**change))
    assert first.code != second.code
    differs = {
        name
        for name, value in first.parameters["content"].items()
        if value != second.parameters["content"][name]
    }
    assert part in differs


def test_a_model_whose_content_cannot_be_known_has_none():
    assert content(PixelModel()).code is None
    anonymous = RegionModel("shy", CallableFeatures(lambda images: [[1.0 * len(images)]] * len(images)))
    assert anonymous.content()["features"] is None


def test_a_table_of_features_is_its_numbers():
    shown = stimuli()
    table = pd.DataFrame(pixels(shown), index=shown.ids)
    first, second = (content(PrecomputedFeatures(each, identifier="t")).code for each in (table, table + 1))
    assert first is not None
    assert first != second


def test_two_networks_of_one_name_are_two_rows_with_a_warning(tmp_path):
    asked = NeuralComparison(benchmark())
    results = [evaluate(network(seed), asked, out=tmp_path) for seed in (0, 1)]
    again = [load_result(result.folder) for result in results]
    board = Board(entries_from_results(again), Rules(n_draws=100))
    codes = sorted(f"net #{result.record.decoder.code[:8]}" for result in again)
    assert sorted(board.rankings[0].table["team"]) == codes
    assert (board.rankings[0].table["notes"] == "one of 2 models of this name").all()
    assert f"2 different models are called net: {', '.join(codes)}" in board.notes[0]
    alone = Board(entries_from_results(again[:1]), Rules(n_draws=100))
    assert alone.rankings[0].table["team"].tolist() == ["net"]


class Refused(PixelModel):
    identifier = "refused"

    def look_at(self, stimuli, number_of_trials=1):
        return super().look_at(stimuli, number_of_trials) * float("nan")


def test_of_several_models_one_that_cannot_be_judged_is_kept_as_failed_and_the_others_go_on(tmp_path):
    asked = [NeuralComparison(benchmark()), NeuralComparison(benchmark("Tiny.IT-other"))]
    results = evaluate_all([(None, Refused()), (None, PixelModel())], asked, [None], out=tmp_path)
    assert [result.complete for result in results] == [False, True, False, True]
    board = Board(entries_from_results(load_result(each.folder) for each in results), Rules(n_draws=100))
    ranking = board.ranking("Tiny.IT-ridge", "neuroids")
    assert ranking.table["team"].tolist() == ["tiny-pixels"]
    ((team, reason),) = ranking.unranked.itertuples(index=False)
    assert team == "refused"
    assert "responses are NaN" in reason
    with pytest.raises(UnknownName):
        evaluate_all([("x", "no-such-model")], asked, [None])
