"""The solver of maps agrees with scikit-learn, NumPy and scipy, on ties too, and with shifts that are spelled out."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from neuroarena.features import Spectrogram
from neuroarena.maps.bin_features import BinFeatures
from neuroarena.maps.decoding import CellDecoder, FoldLayout, LabelColumns, decode_cell
from neuroarena.maps.ranking import auroc_of_shifts, auroc_rows
from neuroarena.recordings import channel_table

HALF = 1000


def _cell(n_features, seed, correlated=False, n_items=2 * HALF):
    """Simulate features of one cell with offsets and scales as signals have them, and labels."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n_items)
    mixing = np.eye(n_features)
    if correlated:
        mixing = rng.standard_normal((n_features, n_features)) @ np.diag(
            10.0 ** -np.linspace(0, 2, n_features)
        )
    noise = rng.gamma(2.0, size=(n_items, n_features)) @ mixing
    effect = 0.15 * rng.standard_normal(n_features) * noise.std(axis=0)
    values = (noise + labels[:, None] * effect) * rng.uniform(0.1, 50, n_features) + 9.0
    return values.astype(np.float32), labels


def _halves(n_items):
    first = np.arange(n_items) < n_items // 2
    layout, order = FoldLayout.arranged(
        np.stack([~first, first]), np.stack([first, ~first]), first.astype(int)
    )
    return layout, order


@pytest.mark.parametrize(
    ("n_features", "correlated"), [(190, False), (32, True), (8, True)], ids=["float32", "float64", "voltage"]
)
def test_the_observed_map_equals_scikit_learn_to_four_digits(n_features, correlated):
    layout, order = _halves(2 * HALF)
    values, labels = _cell(n_features, 0, correlated)
    found = decode_cell(values[order], layout, {"a": labels[order]}, {}, np.zeros((0, 2), dtype=int))
    for fold in range(2):
        train, test = (part[fold][np.argsort(order)] for part in (layout.train, layout.test))
        peer = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-8, max_iter=10_000))
        peer.fit(values[train].astype(float), labels[train])
        expected = roc_auc_score(labels[test], peer.decision_function(values[test].astype(float)))
        assert 0.5 < expected < 0.999
        assert found["a"].observed[fold] == pytest.approx(expected, abs=1e-4)


def test_the_null_refits_a_ridge_to_labels_that_are_shifted_within_folds():
    values, labels = _cell(70, 5, n_items=300)
    layout, order = _halves(300)
    shifts = np.array([[0, 0], [3, 40], [149, 1]])
    columns = LabelColumns.shifted(labels[order], layout, shifts)
    areas = CellDecoder(values[order], layout).refit(columns)
    halves = [np.arange(150, 300), np.arange(150)]  # block 0 is the later half
    for row, (one, two) in enumerate(shifts):
        drawn = labels.copy()
        for rows, shift in zip(halves, (one, two), strict=True):
            drawn[rows] = np.roll(labels[rows], shift)
        assert (columns.values[row + 1][np.argsort(order)] == drawn).all()
        for fold in range(2):
            train, test = halves[fold], halves[1 - fold]
            peer = make_pipeline(StandardScaler(), Ridge(alpha=4.0)).fit(
                values[train].astype(float), drawn[train]
            )
            expected = roc_auc_score(drawn[test], peer.predict(values[test].astype(float)))
            assert areas[row + 1, fold] == pytest.approx(expected, abs=2e-4)
    assert areas[0] == pytest.approx(areas[1])  # no shift is the labels as they are


def test_ranks_of_many_rows_are_exact_with_and_without_ties():
    rng = np.random.default_rng(1)
    scores = rng.standard_normal((6, 400)).astype(np.float32)
    scores[3], scores[4] = 0.0, scores[4].round(1)
    scores[5] = -np.abs(scores[5])
    labels = rng.integers(0, 2, scores.shape).astype(np.int32)
    expected = [roc_auc_score(truth, row) for truth, row in zip(labels, scores, strict=True)]
    assert auroc_rows(scores, labels) == pytest.approx(expected, abs=2e-5)
    assert auroc_rows(scores, labels)[[3, 4]] == pytest.approx(np.array(expected)[[3, 4]], abs=1e-12)
    assert auroc_rows(scores[:1], np.ones((1, 400), dtype=np.int32)) == 0.5


def test_one_product_ranks_every_shift_of_the_labels():
    rng = np.random.default_rng(2)
    scores, labels = rng.standard_normal(101).round(1), rng.integers(0, 2, 101)
    expected = [roc_auc_score(np.roll(labels, shift), scores) for shift in range(101)]
    assert np.abs(auroc_of_shifts(scores, labels) - expected).max() < 1e-7


def test_features_are_the_published_spectrogram():
    segments = np.random.default_rng(3).standard_normal((5, 512)).astype(np.float32)
    expected, _ = Spectrogram()(segments[:, None], channel_table(["one"]), 2048.0)
    found = BinFeatures("spectrogram", 2048.0, 512)(segments)
    assert np.abs(found - expected.reshape(5, -1)).max() < 1e-4 * expected.max()


def test_a_dead_electrode_is_at_chance():
    layout, order = _halves(200)
    labels = np.random.default_rng(4).integers(0, 2, 200)
    columns = {"a": LabelColumns.shifted(labels[order], layout, np.array([[1, 2], [5, 9]]))}
    for n_features in (8, 190):
        values = np.full((200, n_features), 3.0, dtype=np.float32)
        found = decode_cell(values, layout, {"a": labels[order]}, columns, np.zeros((2, 2), dtype=int))
        assert (found["a"].observed == 0.5).all()
        assert (found["a"].null == 0.5).all()
