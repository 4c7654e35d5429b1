"""A cross-validation that is called: a function of parts in, one Score out."""

from __future__ import annotations

import numpy as np
import pytest
from tiny_recordings import recordings

from neuroarena.families.brainscore import CrossRegressedCorrelation, CrossValidation, Score, load_metric
from neuroarena.families.brainscore.errors import AlignmentError, ConfigError

SOURCE, TARGET = recordings(neuroids=40, noise=0.1), recordings(seed=2)


def mean_difference(source_train, target_train, source_test, target_test):
    """Return one number per neuroid, of rows that must be in the same order on both sides."""
    assert list(source_train["stimulus_id"].values) == list(target_train["stimulus_id"].values)
    assert list(source_test["stimulus_id"].values) == list(target_test["stimulus_id"].values)
    assert not set(source_train["stimulus_id"].values) & set(source_test["stimulus_id"].values)
    return target_test.mean("presentation") - target_train.mean("presentation")


def test_parts_are_in_the_same_order_whatever_the_order_of_rows():
    plan = CrossValidation()
    shuffled = SOURCE.isel(presentation=np.random.default_rng(0).permutation(60))
    first, second = (plan(each, TARGET, apply=mean_difference) for each in (SOURCE, shuffled))
    assert float(first) == float(second)
    assert first.raw.shape == (10, 6)
    by_hand = np.median(first.raw.values, axis=1)
    assert float(first) == pytest.approx(by_hand.mean())
    assert first.error == pytest.approx(by_hand.std() / np.sqrt(10))


def test_aggregate_decides_what_becomes_of_the_values():
    plan = CrossValidation(splits=4)
    found = plan(SOURCE, TARGET, apply=mean_difference, aggregate=lambda scores: scores.max("neuroid"))
    assert float(found) == pytest.approx(found.raw.values.max(axis=1).mean())
    own = plan(SOURCE, TARGET, apply=mean_difference, aggregate=lambda scores: Score(0.25, error=0.5))
    assert (float(own), own.error) == (0.25, 0.5)


def test_one_number_per_split_is_averaged_over_splits():
    counted = iter(range(10))
    found = CrossValidation()(SOURCE, TARGET, apply=lambda *_: next(counted))
    assert float(found) == 4.5
    assert found.raw.dims == ("split",)
    assert found.error == pytest.approx(np.std(range(10)) / np.sqrt(10))
    assert found.n_neuroids_total is None


def test_a_metric_that_overrides_apply_is_the_called_cross_validation():
    class Doubled(CrossRegressedCorrelation):
        def apply(self, *parts):
            return 2 * super().apply(*parts)

    assert float(Doubled("ridge")(SOURCE, TARGET)) == pytest.approx(
        2 * float(load_metric("ridge")(SOURCE, TARGET))
    )


@pytest.mark.parametrize(
    ("apply", "source", "error", "says"),
    [
        (lambda *_: np.zeros(3), SOURCE, ConfigError, r"shape \(3,\), expected \(6,\)"),
        (mean_difference, SOURCE[1:], AlignmentError, 'the source lacks "im000"'),
    ],
)
def test_wrong_values_and_wrong_rows_are_refused(apply, source, error, says):
    with pytest.raises(error, match=says):
        CrossValidation()(source, TARGET, apply=apply)


def test_values_of_different_shapes_are_refused():
    shapes = iter([np.zeros(6)] + [0.0] * 9)
    with pytest.raises(ConfigError, match="different shapes"):
        CrossValidation()(SOURCE, TARGET, apply=lambda *_: next(shapes))
