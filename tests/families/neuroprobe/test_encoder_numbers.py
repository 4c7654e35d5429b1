"""Pretrained encoders: the numbers of the published modules, and their front end."""

from __future__ import annotations

import numpy as np
import pytest

from neuroarena.decoders.pretrained import find_model
from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.encoders import (
    BrainBertEmbedding,
    BrainBertSpectra,
    NotchLaplacian,
    brainbert_finetuned,
    brainbert_linear,
    find_places,
    find_weights,
)
from neuroarena.families.neuroprobe.encoders.embedding import centre_of
from neuroarena.families.neuroprobe.encoders.reference import (
    NOTCH_Q,
    NOTCHES_HZ,
    PUBLISHED_ABOVE,
    PUBLISHED_BELOW,
)
from neuroarena.families.neuroprobe.encoders.shapes import BRAINBERT, POPT
from neuroarena.features import FeatureChain
from neuroarena.recordings import channel_table

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from neuroarena.families.neuroprobe.encoders.networks import BrainBert, PopulationTransformer, sinusoids  # noqa: E402

RATE_HZ = 2048.0
CHANNELS = channel_table(
    ["A1", "A2", "A3", "A4"],
    xyz=[[-30, 5, 10], [-27, 5, 11], [-24, 6, 12], [-21, 6, 13]],
    region=["r", "s", "t", "t"],
)
CLOSE = {"atol": 1e-3, "rtol": 0}


def self_check_signal() -> np.ndarray:
    t = np.arange(10240) / RATE_HZ
    slow = np.sin(2 * np.pi * 10 * t) * (1 + 0.5 * np.sin(2 * np.pi * 0.7 * t))
    return slow + 0.3 * np.sin(2 * np.pi * 75 * t + 0.4) * (1 + 0.9 * np.cos(2 * np.pi * 1.3 * t))


def spectra(recipe: str, n: int = 10240) -> np.ndarray:
    block = self_check_signal()[None, None, :n].astype(np.float32)
    return BrainBertSpectra(recipe)(block, channel_table(["A1"]), RATE_HZ)[0][0, 0]


def noise(count: int, offset: int) -> np.ndarray:
    k = np.arange(count, dtype=np.uint64) * np.uint64(2654435761) + np.uint64(offset * 40503)
    return (k % np.uint64(2**32)).astype(float) / 2**32 - 0.5


def filled(module):
    """Give a module the weights of the self-check."""
    for number, (name, parameter) in enumerate(module.named_parameters()):
        values = 0.1 * noise(parameter.numel(), number)
        if parameter.ndim == 1 and name.endswith("weight"):
            values += 1
        parameter.data = torch.tensor(values.reshape(parameter.shape), dtype=torch.float32)
    return module.eval()


# --- the published numbers -------------------------------------------------------------------------


def test_the_pipeline_recipe_gives_the_published_spectra():
    values = spectra("pipeline")
    assert values.shape == (186, 40)
    np.testing.assert_allclose([values.mean(), values.std()], [-0.125432, 0.433617], **CLOSE)
    np.testing.assert_allclose(values[0, :4], [-0.42685, 1.12698, 1.13237, 1.13142], **CLOSE)
    np.testing.assert_allclose(values[93, :4], [-0.39619, -1.57097, -1.51082, -1.55483], **CLOSE)


@pytest.mark.parametrize(
    ("recipe", "n", "shape", "frame", "bins", "expected"),
    [
        ("demo", 10240, (196, 40), 0, slice(0, 4), [1.06881, 0.58102, 0.60002, 0.59549]),
        ("pipeline", 2048, (22, 40), 0, slice(0, 4), [-0.51762, 0.95328, 0.94012, 0.95888]),
        ("untrimmed", 2048, (34, 40), 17, slice(1, 4), [0.65011, 0.63435, 0.63901]),
    ],
)
def test_each_recipe_gives_its_published_spectra(recipe, n, shape, frame, bins, expected):
    values = spectra(recipe, n)
    assert values.shape == shape
    np.testing.assert_allclose(values[frame, bins], expected, **CLOSE)


@pytest.mark.parametrize(
    ("n", "pipeline", "untrimmed"), [(10239, 186, 198), (6144, 104, 116), (4096, 63, 75), (1024, 2, 14)]
)
def test_windows_have_the_published_number_of_frames(n, pipeline, untrimmed):
    assert BrainBertSpectra("pipeline").n_frames(n) == pipeline
    assert BrainBertSpectra("untrimmed").n_frames(n) == untrimmed


def test_position_tables_hold_the_published_values():
    np.testing.assert_allclose(sinusoids(768)[1, :4], [0.841471, 0.540302, 0.828431, 0.560091], **CLOSE)
    np.testing.assert_allclose(sinusoids(768)[93, -2:], [0.009526, 0.999955], **CLOSE)
    np.testing.assert_allclose(sinusoids(128)[120, :4], [0.580611, 0.814181, -0.240772, -0.970582], **CLOSE)


def test_brainbert_gives_the_published_features():
    module = filled(BrainBert(BRAINBERT.shape("large")))
    expected = {
        10240: ([0.61530, -0.46934, 0.56263, -0.79424, -0.20529], 27.98272),
        2048: ([0.62299, -0.47720, 0.57884, -0.80570, -0.21648], 27.97824),
    }
    for n, (start, norm) in expected.items():
        with torch.no_grad():
            encoded = module(torch.from_numpy(spectra("pipeline", n))[None])
            head = module.spec_prediction_head(encoded)[0, 0, :3]
        feature = centre_of(encoded)[0]
        np.testing.assert_allclose(feature[:5], start, **CLOSE)
        np.testing.assert_allclose(feature.norm(), norm, **CLOSE)
        if n == 10240:
            np.testing.assert_allclose(head, [0.66713, -0.46055, -0.24321], **CLOSE)


def test_popt_gives_the_published_outputs():
    module = filled(PopulationTransformer(POPT.shape("large")))
    features = torch.tensor(2 * noise(5 * 768, 1000).reshape(1, 5, 768), dtype=torch.float32)
    places = torch.tensor([[(57, 52, 62), (196, 155, 191), (120, 80, 100), (121, 81, 99), (90, 140, 130)]])
    with torch.no_grad():
        out = module(features, places)[0]
        two = module(features, places, torch.tensor([[0, 0, 0, 1, 1]]))[0]
        np.testing.assert_allclose(out[0, :5], [0.37048, -0.48497, 0.50819, -0.87855, 1.26146], **CLOSE)
        np.testing.assert_allclose(out[0].norm(), 22.89465, **CLOSE)
        np.testing.assert_allclose(out[1, :3], [0.63482, -0.76688, 0.54026], **CLOSE)
        np.testing.assert_allclose(module.cls_head(out[0]), [3.83280], **CLOSE)
        tokens = [3.82573, 3.75276, 3.68387, 3.80848, 3.79307]
        np.testing.assert_allclose(module.token_cls_head(out[1:])[:, 0], tokens, **CLOSE)
        np.testing.assert_allclose(two[0, :5], [0.37054, -0.48498, 0.50829, -0.87833, 1.26154], **CLOSE)


@pytest.mark.parametrize(
    ("model", "kind", "size", "count"),
    [
        ("brainbert", BrainBert, "large", 43_183_144),
        ("brainbert", BrainBert, "base", 21_919_528),
        ("brainbert", BrainBert, "small", 4_728_760),
        ("popt", PopulationTransformer, "large", 19_967_746),
    ],
)
def test_modules_have_the_published_tensors_in_order_and_number(model, kind, size, count):
    shape = find_model(model).shape(size)
    with torch.device("meta"):
        module = kind(shape)
    found = {name: tuple(tensor.shape) for name, tensor in module.state_dict().items()}
    assert list(found.items()) == list(find_model(model).tensors(shape).items())
    assert sum(parameter.numel() for parameter in module.parameters()) == count


def test_random_weights_start_as_the_authors_start_them():
    module = BrainBert(BRAINBERT.shape("tiny"))
    first, second = module.transformer.layers
    assert torch.equal(first.linear1.weight, second.linear1.weight)
    assert (first.norm1.bias == 1).all()
    assert (first.linear1.bias == 0).all()
    popt = PopulationTransformer(POPT.shape("tiny"))
    assert (popt.input_encoding.layer_norm.bias == 1).all()
    assert popt.cls_head.bias.abs().sum() > 0


def test_padding_does_not_change_what_is_encoded():
    popt = PopulationTransformer(POPT.shape("tiny")).eval()
    features, places = torch.randn(2, 3, 48), torch.randint(0, 250, (2, 3, 3))
    padded = torch.tensor([[False, False, False, True]] * 2)
    more = (
        torch.cat([features, torch.zeros(2, 1, 48)], 1),
        torch.cat([places, torch.zeros_like(places[:, :1])], 1),
    )
    with torch.no_grad():
        np.testing.assert_allclose(popt(*more, padded=padded)[:, :4], popt(features, places), atol=1e-5)


# --- front end -------------------------------------------------------------------------------------


def test_a_silent_window_becomes_ones_and_a_dead_electrode_zeros():
    block = np.zeros((2, 2, 2048), dtype=np.float32)
    block[1, 0] = np.random.default_rng(0).standard_normal(2048)
    values, _ = BrainBertSpectra()(block, channel_table(["A1", "A2"]), RATE_HZ)
    assert (values[0] == 1).all()
    assert (values[1, 1] == 0).all()


def test_a_superlet_peaks_at_the_frequency_of_a_wave():
    wave = np.sin(2 * np.pi * 60 * np.arange(2048) / RATE_HZ).astype(np.float32)[None, None]
    values, _ = BrainBertSpectra("superlet", zscore=False)(wave, channel_table(["A1"]), RATE_HZ)
    assert values.shape == (1, 1, 31, 40)
    assert np.abs(np.linspace(0.1, 200, 40)[values[0, 0, 15].argmax()] - 60) < 5.2


def test_the_laplacian_keeps_electrodes_with_two_neighbours_and_removes_what_they_share():
    rng = np.random.default_rng(0)
    block = rng.standard_normal((2, 4, 2048)).astype(np.float32)
    own, table = NotchLaplacian()(block, CHANNELS, RATE_HZ)
    assert table["name"].tolist() == ["A2", "A3"]
    shared, _ = NotchLaplacian()(
        block + rng.standard_normal((2, 1, 2048)).astype(np.float32), CHANNELS, RATE_HZ
    )
    np.testing.assert_allclose(own, shared, atol=1e-4)


def test_the_published_laplacian_weighs_neighbours_as_its_filter_along_the_pair_does():
    from scipy.signal import iirnotch, lfilter

    pair = np.eye(2)
    for frequency in NOTCHES_HZ:
        pair = lfilter(*iirnotch(frequency / (RATE_HZ / 2), NOTCH_Q), pair, axis=0)
    above, below = pair.mean(axis=0)
    np.testing.assert_allclose([above, below], [PUBLISHED_ABOVE, PUBLISHED_BELOW], atol=1e-6)
    block = np.zeros((1, 3, 2048), dtype=np.float32)
    block[0, 2] = np.random.default_rng(0).standard_normal(2048)
    out, _ = NotchLaplacian("as_published")(block, channel_table(["A1", "A2", "A3"]), RATE_HZ)
    np.testing.assert_allclose(out[0, 0], -PUBLISHED_ABOVE * block[0, 2], atol=1e-6)


@pytest.mark.parametrize("line_hz", [60, 120, 180, 240, 300, 360])
def test_line_noise_is_gone_after_the_notches(line_hz):
    hum = np.zeros((1, 3, 4096), dtype=np.float32)
    hum[0, 1] = np.sin(2 * np.pi * line_hz * np.arange(4096) / RATE_HZ)
    out, _ = NotchLaplacian()(hum, channel_table(["A1", "A2", "A3"]), RATE_HZ)
    assert np.abs(out[0, 0, 2500:]).max() < 0.02


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BrainBertSpectra("welch"), "recipe must be one of pipeline"),
        (lambda: NotchLaplacian("sideways"), "laplacian must be"),
        (lambda: brainbert_linear(size="huge"), 'no size "huge"'),
        (lambda: brainbert_linear(size="tiny", frames="some"), "frames must be one of centre, all"),
        (lambda: brainbert_linear(size="tiny", zscore="day"), "zscore must be one of window, global"),
        (lambda: brainbert_linear(size="tiny", reference="car"), "reference must be one of"),
        (lambda: brainbert_linear("nowhere.safetensors"), "nowhere.safetensors: there is no such file"),
        (lambda: brainbert_finetuned(size="tiny", steps=0), "steps must be at least 1"),
        (lambda: brainbert_finetuned(size="tiny", keep="worst"), 'keep must be "best" or "last"'),
        (lambda: find_places("nowhere"), "no sub_N/depth-wm.csv"),
    ],
)
def test_bad_parameters_are_refused_by_name(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("n", "rate", "names", "message"),
    [
        (2048, 1024.0, ["A1", "A2", "A3"], "reads signals at 2048 Hz, got 1024 Hz"),
        (512, RATE_HZ, ["A1", "A2", "A3"], "windows of 512 samples leave no frame"),
        (1400, RATE_HZ, ["A1", "A2", "A3"], "at least 1401 samples"),
        (2048, RATE_HZ, ["A1", "B2", "C3"], 'reference|laplacian="none"|both neighbours'),
    ],
)
def test_windows_the_encoder_cannot_read_are_refused(n, rate, names, message):
    chain = brainbert_linear(size="tiny").features
    with pytest.raises(InputError, match=message):
        chain(np.ones((1, 3, n), dtype=np.float32), channel_table(names), rate)


def test_a_window_that_is_not_finite_is_refused():
    block = np.zeros((2, 1, 2048), dtype=np.float32)
    block[1, 0, 7] = np.nan
    with pytest.raises(InputError, match="window 1 of this block holds NaN"):
        BrainBertSpectra()(block, channel_table(["A1"]), RATE_HZ)


def test_the_shortest_window_the_pipeline_reads_has_1401_samples():
    chain = brainbert_linear(size="tiny", reference="none").features
    assert chain.output_shape(1, 1401, RATE_HZ) == (1, 48)


def test_the_feature_of_a_window_has_the_same_bits_in_any_company():
    chain = FeatureChain((BrainBertEmbedding(find_weights("brainbert", size="tiny")),))
    block = np.random.default_rng(0).standard_normal((5, 4, 2048)).astype(np.float32)
    whole = chain(block, CHANNELS, RATE_HZ)[0]
    np.testing.assert_array_equal(whole[2:3], chain(block[2:3], CHANNELS, RATE_HZ)[0])
