"""Dissimilarities and kernel alignment, against rsatoolbox and arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.io
from bsm_arrays import assembly, pair
from scipy.stats import spearmanr

from neuroarena.families.brainscore.ceilings import CEILING_FACTORIES, rdm_ceiling
from neuroarena.families.brainscore.errors import ConfigError, DataQualityError
from neuroarena.families.brainscore.metrics import (
    METRIC_FACTORIES,
    compare_rdms,
    dissimilarities,
    noise_ceiling,
)
from shared_data import SHARED

rsatoolbox = pytest.importorskip("rsatoolbox")
IMAGES = SHARED / "data" / "real" / "rsa_92images"
needs_images = pytest.mark.skipif(not IMAGES.exists(), reason="the 92 images are not there")


def test_dissimilarities_and_their_comparison_are_those_of_rsatoolbox():
    source, target = pair(n=30, p=20, q=8)
    sets = [rsatoolbox.data.Dataset(side.values) for side in (source, target)]
    rdms = [rsatoolbox.rdm.calc_rdm(each, method="correlation") for each in sets]
    np.testing.assert_allclose(dissimilarities(source.values), rdms[0].get_matrices()[0], atol=1e-10)
    expected = rsatoolbox.rdm.compare(rdms[0], rdms[1], method="spearman")[0, 0]
    assert float(METRIC_FACTORIES["rdm"]()(source, target)) == pytest.approx(expected, abs=1e-9)


def test_the_ceiling_of_subjects_is_written_out():
    rng = np.random.default_rng(0)
    signal = rng.normal(size=(12, 5))
    values = np.concatenate([signal + 0.7 * rng.normal(size=(12, 5)) for _ in range(3)], axis=1)
    recording = assembly(values, subject=("neuroid", np.repeat(["a", "b", "c"], 5)))
    score = CEILING_FACTORIES["rsa"]()(recording)
    upper = np.triu_indices(12, 1)
    rdms = [(1 - np.corrcoef(values[:, 5 * at : 5 * at + 5]))[upper] for at in range(3)]
    top = np.mean([spearmanr(one, np.mean(rdms, axis=0))[0] for one in rdms])
    low = np.mean([spearmanr(rdms[at], np.mean(np.delete(rdms, at, 0), axis=0))[0] for at in range(3)])
    assert float(score) == pytest.approx(top, abs=1e-9)
    assert score.attrs["lower_bound"] == pytest.approx(low, abs=1e-9)
    assert score.attrs["lower_bound"] < float(score)
    assert score.raw.sel(bound="lower").values.shape == (3,)


def brains_and_model() -> tuple[np.ndarray, np.ndarray]:
    brains = scipy.io.loadmat(IMAGES / "92_brainRDMs.mat", struct_as_record=False)["RDMs"][0]
    models = scipy.io.loadmat(IMAGES / "92_modelRDMs.mat", struct_as_record=False)["Models"][0]
    human = np.stack([np.mean([session.RDM for session in subject], axis=0) for subject in brains])
    return human, next(model.RDM for model in models if model.name[0] == "animacy").astype(float)


@needs_images
def test_the_animacy_model_agrees_with_human_it_as_rsatoolbox_says():
    human, animacy = brains_and_model()
    theirs = rsatoolbox.rdm.RDMs(human), rsatoolbox.rdm.RDMs(animacy[None])
    expected = rsatoolbox.rdm.compare(theirs[1], theirs[0], method="spearman")[0]
    ours = [compare_rdms(animacy, subject) for subject in human]
    np.testing.assert_allclose(ours, expected, atol=1e-6)
    assert np.mean(ours) == pytest.approx(0.39, abs=0.01)


@needs_images
def test_the_noise_ceiling_of_human_it_is_that_of_rsatoolbox():
    human, _ = brains_and_model()
    lower, upper = rsatoolbox.inference.boot_noise_ceiling(rsatoolbox.rdm.RDMs(human), method="spearman")
    bounds = noise_ceiling(human, pooling="rank")
    assert bounds.lower.mean() == pytest.approx(lower, abs=1e-6)
    assert bounds.upper.mean() == pytest.approx(upper, abs=1e-6)
    score = rdm_ceiling(human, ["BE", "SN", "TI", "KO"])
    others = [rsatoolbox.rdm.RDMs(np.delete(human, at, 0).mean(axis=0)[None]) for at in range(4)]
    left_out = [
        rsatoolbox.rdm.compare(rest, rsatoolbox.rdm.RDMs(human[at][None]), method="spearman")[0, 0]
        for at, rest in enumerate(others)
    ]
    assert score.attrs["lower_bound"] == pytest.approx(np.mean(left_out), abs=1e-6)
    assert score.attrs["lower_bound"] == pytest.approx(0.379, abs=0.001)


@pytest.mark.parametrize(
    ("matrix", "kind", "message"),
    [
        (np.zeros((3, 4)), ConfigError, r"shape \(3, 4\)"),
        (np.ones((4, 4)), ConfigError, "not zero on its diagonal"),
        (np.triu(np.ones((4, 4)), 1), ConfigError, "not symmetric"),
        (np.where(np.eye(4), 0.0, np.nan), DataQualityError, "NaN in row 0, column 1"),
        (1 - np.eye(4), DataQualityError, "cannot be ranked"),
        (1 - np.eye(5), ConfigError, "5 and 4 stimuli"),
        (np.zeros((2, 2)), DataQualityError, "2 stimuli"),
    ],
)
def test_a_matrix_that_holds_no_dissimilarities_is_refused(
    matrix: np.ndarray, kind: type[Exception], message: str
):
    good = dissimilarities(np.random.default_rng(0).normal(size=(4, 3)))
    with pytest.raises(kind, match=message):
        compare_rdms(matrix, good)


def test_a_noise_ceiling_needs_two_subjects_and_a_known_pooling():
    rdms = np.stack([dissimilarities(np.random.default_rng(at).normal(size=(5, 4))) for at in range(2)])
    with pytest.raises(DataQualityError, match="at least two subjects"):
        noise_ceiling(rdms[:1])
    with pytest.raises(ConfigError, match="median"):
        noise_ceiling(rdms, pooling="median")  # type: ignore[arg-type]


def test_kernel_alignment_is_the_formula_written_out():
    source, target = pair(n=20, p=6, q=4)
    x, y = source.values + 10, target.values - 3
    n = 20

    def unbiased(k: np.ndarray, m: np.ndarray) -> float:
        k, m = k * (1 - np.eye(n)), m * (1 - np.eye(n))
        one = np.ones(n)
        middle = (one @ k @ one) * (one @ m @ one) / ((n - 1) * (n - 2))
        return (np.trace(k @ m) + middle - 2 / (n - 2) * one @ k @ m @ one) / (n * (n - 3))

    def biased(k: np.ndarray, m: np.ndarray) -> float:
        h = np.eye(n) - 1 / n
        return np.trace(h @ k @ h @ h @ m @ h)

    k, m = x @ x.T, y @ y.T
    for name, hsic in (("cka", unbiased), ("cka_biased", biased)):
        expected = hsic(k, m) / np.sqrt(hsic(k, k) * hsic(m, m))
        score = METRIC_FACTORIES[name]()(assembly(x), assembly(y))
        assert float(score) == pytest.approx(expected, abs=1e-9)


def test_alignment_of_unrelated_responses_is_near_zero_only_without_bias():
    rng = np.random.default_rng(0)
    x, y = assembly(rng.normal(size=(60, 200))), assembly(rng.normal(size=(60, 200)))
    assert abs(float(METRIC_FACTORIES["cka"]()(x, y))) < 0.05
    assert float(METRIC_FACTORIES["cka_biased"]()(x, y)) > 0.5
