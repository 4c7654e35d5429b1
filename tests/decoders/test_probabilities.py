"""Probabilities keep the order of confident answers, and ties are told."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from neuroarena.decoders import Context, Group, Linear
from neuroarena.decoders.probabilities import class_probabilities, logistic_probabilities
from neuroarena.recordings import channel_table


def make_group(n: int, loudness: float, seed: int) -> Group:
    """Make windows of two classes that differ in the mean; another person's are louder."""
    rng = np.random.default_rng(seed)
    targets = np.arange(n) % 2
    signals = rng.standard_normal((n, 3, 40)).astype(np.float32)
    signals += 0.2 * targets[:, None, None]
    table = pd.DataFrame({"id": [str(row) for row in range(n)], "subject": "1", "session": "1"})
    return Group(
        (loudness * signals).astype(np.float32),
        channel_table(["A", "B", "C"]),
        100.0,
        table,
        targets.astype(str),
    )


def test_a_linear_decoder_tells_apart_the_confident_answers_of_a_louder_person():
    decoder = Linear().fit([make_group(80, 1.0, 0)], None, Context(("0", "1")))
    louder = make_group(200, 3.0, 1)
    predicted = decoder.predict([louder])
    scaled = (louder.signals.reshape(200, -1) - decoder.mean_) / decoder.scale_
    decisions = scaled.astype(np.float64) @ decoder.model_.coef_[0].astype(np.float64)
    assert np.abs(decisions).max() > 20, "single precision would call this certain"
    assert decisions.max() < 36
    np.testing.assert_array_equal(rankdata(predicted[:, 1]), rankdata(decisions))


def test_rows_are_predicted_in_double_precision_however_many_blocks_they_fill():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    rows = rng.standard_normal((600, 5)).astype(np.float32)
    model = LogisticRegression().fit(rows, rng.integers(0, 3, 600) + 1)
    expected = model.predict_proba(rows.astype(np.float64))
    found = class_probabilities(model, rows, 5)
    np.testing.assert_allclose(found[:, 1:4], expected, rtol=1e-12)
    assert (found[:, [0, 4]] == 0).all()


def test_decision_values_become_probabilities_that_sum_to_one():
    one, many = np.array([-40.0, 0.0, 40.0]), np.array([[1.0, 2.0, 3.0], [900.0, 0.0, -900.0]])
    for decisions in (one, one[:, None], many):
        probabilities = logistic_probabilities(decisions)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert logistic_probabilities(one)[0, 1] > 0, "a small probability is not rounded to nothing"
