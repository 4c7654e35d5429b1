"""Grids: every combination once, named by what differs; wrong names are refused with the right ones."""

from __future__ import annotations

import pytest
from sklearn.linear_model import RidgeClassifier

from neuroarena import from_sklearn, load_decoder
from neuroarena.decoders.grid import decoder_grid, parse_grid
from neuroarena.errors import InputError


def test_every_combination_is_made_once_and_named():
    grid = parse_grid(["features.nperseg=256,512", "C=0.1,1"])
    made = dict(decoder_grid("lls", load_decoder("linear-laplacian-spectrogram"), grid))
    assert list(made) == [
        "lls[nperseg=256,C=0.1]",
        "lls[nperseg=256,C=1]",
        "lls[nperseg=512,C=0.1]",
        "lls[nperseg=512,C=1]",
    ]
    assert made["lls[nperseg=256,C=0.1]"].features.steps[1].window_samples == 256
    assert made["lls[nperseg=256,C=0.1]"].C == 0.1
    assert load_decoder("linear-laplacian-spectrogram").features.steps[1].window_samples == 512


def test_an_empty_grid_is_the_decoder_itself():
    decoder = load_decoder("linear")
    assert decoder_grid("linear", decoder, {}) == [("linear", decoder)]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("linear", "C", "is not a grid"),
        ("linear", "=1", "is not a grid"),
        ("linear", "colour=red", 'has no field "colour"; it has features, C, tol, max_iter'),
        (
            "linear",
            "features.nperseg=256",
            'No feature step of the decoder "linear" has a field "window_samples"',
        ),
        ("linear-spectrogram", "features.window=triangle", "triangle"),
    ],
)
def test_a_wrong_grid_is_refused_by_name(name, text, message):
    with pytest.raises(InputError, match=message):
        decoder_grid(name, load_decoder(name), parse_grid([text]))


def test_a_field_of_an_adapted_estimator_is_the_decoders_own():
    with pytest.raises(InputError, match='no field "alpha"'):
        decoder_grid("ridge", from_sklearn(RidgeClassifier()), {"alpha": [1]})
