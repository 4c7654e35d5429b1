"""Training a network: scaled by what is trained on, stopped and chosen without the test part."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
import torch
from planted_windows import CLASSES, SMALL, fitted, group, network
from sklearn.metrics import roc_auc_score
from torch import nn

from neuroarena import evaluate
from neuroarena.benchmarks import Fold, Split
from neuroarena.decoders import Context, Group
from neuroarena.decoders.networks import STGCN
from neuroarena.decoders.networks.decoder import standardise
from neuroarena.decoders.networks.training import Schedule, auroc, train
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.features import FeatureChain
from toy import toy_benchmark


def with_twins(decoder, seed, pair, n=60) -> Group:
    """Noise in which two channels carry the same signal."""
    made = group(decoder, seed, n=n, names=[f"{letter}1" for letter in "ABCDEFGHIJKL"])
    made.signals[:, pair[1]] = made.signals[:, pair[0]]
    return made


def test_the_graph_comes_from_the_items_that_are_trained_on():
    decoder = STGCN(SMALL, max_epochs=1, neighbours=1)
    context = Context(CLASSES)
    mixing = (
        decoder.fit([with_twins(decoder, 1, (4, 7))], [with_twins(decoder, 2, (0, 9))], context)
        .network_.graph[0]
        .mixing
    )
    assert mixing[4, 7] > 0
    other = (
        decoder.fit([with_twins(decoder, 1, (4, 7))], [with_twins(decoder, 5, (2, 3))], context)
        .network_.graph[0]
        .mixing
    )
    assert torch.equal(mixing, other), "the validation part leaves no trace in the graph"


def test_scaling_comes_from_the_items_that_are_trained_on():
    decoder = network("mlp", max_epochs=1)
    train = group(decoder, 1, n=50)
    decoder.fit([train], [group(decoder, 2)], Context(CLASSES))
    np.testing.assert_allclose(decoder.mean_, train.signals.mean(axis=0), rtol=1e-5)
    decoder.fit([train], None, Context(CLASSES))
    np.testing.assert_allclose(decoder.mean_, train.signals[:40].mean(axis=0), rtol=1e-5)


def test_scaling_is_done_in_place_and_leaves_features_that_do_not_vary():
    inputs = np.random.default_rng(0).normal(3, 2, (30, 2, 5)).astype(np.float32)
    inputs[:, 1, 4] = 7
    expected = (inputs - inputs[:20].mean(axis=0)) / np.where(
        inputs[:20].std(axis=0) > 0, inputs[:20].std(axis=0), 1
    )
    mean, scale = standardise(inputs, 20)
    np.testing.assert_allclose(inputs, expected, atol=1e-5)
    assert (mean.dtype, scale.dtype, scale[1, 4]) == (np.float32, np.float32, 1)


def test_training_stops_when_patience_ends_and_the_best_epoch_is_kept():
    scores = iter([0.6, 0.7, 0.70005, 0.65, 0.7, 0.9])
    weights = []

    class Spy(nn.Linear):
        def eval(self):
            weights.append(self.weight.detach().clone())
            return super().eval()

    module, inputs = Spy(4, 2), torch.randn(20, 4)
    targets = torch.arange(20) % 2
    schedule = Schedule(50, 8, 0.1, patience=3, tolerance=1e-4)
    course = train(module, inputs, targets, schedule, (inputs, targets), lambda said, truth: next(scores))
    assert course.scores == [0.6, 0.7, 0.70005, 0.65, 0.7], "three epochs without an improvement end it"
    assert course.best_epoch == 1
    assert torch.equal(module.weight, weights[1])
    assert not torch.equal(module.weight, weights[4])


@pytest.mark.parametrize("validation", [True, False])
def test_early_stopping_saves_epochs_of_a_network(validation):
    decoder = fitted(network("cnn-raw", max_epochs=60, patience=3), validation)
    course = decoder.course_
    assert len(course.scores) == course.best_epoch + 1 + 3 < 60
    assert len(fitted(network("cnn-raw", max_epochs=2), validation).course_.scores) == 2


def test_the_kept_epoch_is_the_one_whose_auroc_was_seen():
    decoder = network("gru", patience=2, max_epochs=8)
    held_out = group(decoder, 2, strength=0.5)
    decoder.fit([group(decoder, 1, strength=0.5)], [held_out], Context(CLASSES))
    predicted = decoder.predict([dataclasses.replace(held_out, targets=None)])
    seen = decoder.course_.scores[decoder.course_.best_epoch]
    assert roc_auc_score(held_out.targets == "1", predicted[:, 1]) == pytest.approx(seen, abs=1e-12)


def test_the_epoch_is_chosen_on_the_validation_part_where_there_is_one():
    decoder = network("gru", max_epochs=6)
    train, held_out = group(decoder, 1), group(decoder, 2)
    turned = dataclasses.replace(held_out, targets=np.roll(held_out.targets, 1))
    courses = [
        decoder.fit([train], [part], Context(CLASSES, rng=np.random.default_rng(1))).course_
        for part in (held_out, turned)
    ]
    assert courses[0].scores == pytest.approx([1 - score for score in courses[1].scores])
    assert courses[0].best_epoch != courses[1].best_epoch


def test_without_a_validation_part_the_last_fifth_of_the_training_items_is_held_out():
    decoder = network("gru", max_epochs=6)
    train = group(decoder, 1, n=50)
    alone = decoder.fit([train], None, Context(CLASSES)).course_

    def part(rows):
        return [
            Group(train.signals[rows], train.channels, train.rate_hz, train.table[rows], train.targets[rows])
        ]

    cut = decoder.fit(part(slice(0, 40)), part(slice(40, 50)), Context(CLASSES)).course_
    assert alone == cut


def test_targets_of_the_test_part_change_no_prediction():
    decoder = network("gru", features=FeatureChain(), max_epochs=3)
    plain = toy_benchmark()
    ids = sorted(plain.examples.loc[plain.examples["session"] == "1_0", "id"])
    fold = Fold("only", tuple(ids[:40]), tuple(ids[40:]))

    def turned() -> pd.DataFrame:
        table = plain.examples.copy()
        rows = table["id"].isin(fold.test)
        table.loc[rows, "target"] = 1 - table.loc[rows, "target"]
        return table

    rules = {"one": lambda examples: Split("one", (fold,))}
    results = [
        evaluate(decoder, toy_benchmark(split_rules=rules, **changes), "one")
        for changes in ({}, {"make_examples": turned})
    ]
    pd.testing.assert_frame_equal(results[0].predictions, results[1].predictions)
    assert results[0].score == pytest.approx(1 - results[1].score)


def test_auroc_of_held_out_items_agrees_with_scikit_learn():
    said = torch.randn(60, 3, generator=torch.Generator().manual_seed(0))
    targets = torch.arange(60) % 3
    probability = torch.softmax(said.double(), dim=1).numpy()
    assert auroc(said, targets) == pytest.approx(roc_auc_score(targets, probability, multi_class="ovr"))
    binary = torch.softmax(said[:, :2].double(), dim=1).numpy()[:, 1]
    assert auroc(said[:, :2], targets % 2) == pytest.approx(roc_auc_score(targets % 2, binary))
    few = targets % 2
    areas = [roc_auc_score(few == number, probability[:, number]) for number in (0, 1)]
    assert auroc(said, few) == pytest.approx(np.mean(areas)), "a class that does not occur is left out"


def all_of_one_class(decoder) -> list[Group]:
    made = group(decoder, 2)
    return [dataclasses.replace(made, targets=np.full(len(made), "1"))]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"max_epochs": 0}, InputError, "max_epochs must be a whole number of at least 1, got 0"),
        ({"batch_size": 2.5}, InputError, "batch_size must be a whole number of at least 1, got 2.5"),
        ({"patience": -1}, InputError, "patience must be a whole number of at least 1, got -1"),
        ({"learning_rate": 0.0}, InputError, "learning_rate must be a number above 0, got 0.0"),
        ({"tolerance": float("nan")}, InputError, "tolerance must be a number 0 or more, got nan"),
        ({"learning_rate": 1e30}, NeuroarenaError, "is not finite in epoch .* lower learning_rate"),
    ],
)
def test_bad_options_are_refused_by_name(options, error, message):
    with pytest.raises(error, match=message):
        fitted(network("cnn-raw", **options))


def test_held_out_items_of_one_class_are_refused():
    decoder = network("gru")
    with pytest.raises(InputError, match=r'the 96 held-out items hold only "1", .* needs two classes'):
        decoder.fit([group(decoder, 1)], all_of_one_class(decoder), Context(CLASSES))
    with pytest.raises(InputError, match='the 96 training items hold only "1"'):
        decoder.fit(all_of_one_class(decoder), [group(decoder, 1)], Context(CLASSES))
