"""Networks: each learns what is planted, repeats itself, and has the layers and settings that were published."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from planted_windows import CLASSES, NAMES, fitted, group, network
from sklearn.metrics import roc_auc_score
from torch import nn

from neuroarena import evaluate, load_benchmark, load_dataset
from neuroarena.decoders import Context, Decoder, check_decoder, load_decoder
from neuroarena.decoders.names import DECODERS, describe_decoder
from neuroarena.decoders.networks import CNN, GRU, MLP, STGCN
from neuroarena.decoders.networks.graph import correlation, nearest_neighbours, normalise_graph
from neuroarena.errors import InputError
from neuroarena.evaluation.identity import identify
from neuroarena.features import FeatureChain, Spectrogram
from neuroarena.recordings import channel_table

ABLATIONS = ("stgcn", "stgcn-no-attention", "stgcn-no-graph", "stgcn-no-attention-no-graph")
NETWORKS = ("mlp", "cnn", "cnn-raw", "eegnet", "gru", *ABLATIONS)
KINDS = ("mlp", "cnn", "cnn-raw", "eegnet", "gru", "stgcn")


def with_drills(names: tuple[str, ...], quick: tuple[str, ...]) -> list[object]:
    """Rows of a table: a few names at once, the others as drills."""
    return [name if name in quick else pytest.param(name, marks=pytest.mark.drill) for name in names]


def area(decoder, classes=CLASSES) -> float:
    predicted = decoder.predict([group(decoder, 3, classes=classes, known=False)])
    truth = np.arange(len(predicted)) % len(classes)
    if len(classes) == 2:
        return float(roc_auc_score(truth, predicted[:, 1]))
    return float(roc_auc_score(truth, predicted, multi_class="ovr"))


@pytest.mark.parametrize("name", with_drills(NETWORKS, KINDS))
def test_a_network_learns_what_is_planted_with_and_without_a_validation_part(name):
    for validation in (True, False):
        assert area(fitted(network(name, patience=2), validation)) > 0.8


@pytest.mark.parametrize("name", with_drills(KINDS, ("cnn-raw", "gru")))
def test_a_network_tells_three_classes_apart(name):
    classes = ("low", "middle", "high")
    decoder = fitted(network(name, max_epochs=20), classes=classes)
    assert area(decoder, classes) > 0.75


@pytest.mark.parametrize("name", with_drills(NETWORKS, KINDS))
def test_the_same_seed_gives_the_same_numbers_whatever_ran_before_and_another_seed_others(name):
    def predicted(seed: int) -> np.ndarray:
        decoder = fitted(network(name, max_epochs=2), seed=seed, strength=0.3)
        return decoder.predict([group(decoder, 3, known=False)])

    first, threads, state = predicted(4), torch.get_num_threads(), torch.random.get_rng_state()
    torch.manual_seed(99)
    torch.rand(7)
    torch.set_num_threads(2)
    again, other = predicted(4), predicted(5)
    assert torch.get_num_threads() == 2, "the threads of others are left as they were"
    torch.set_num_threads(threads)
    torch.random.set_rng_state(state)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


# Long windows are asked of every registered decoder.
@pytest.mark.parametrize("name", with_drills(NETWORKS, ("eegnet", "stgcn")))
def test_every_network_keeps_the_contract_on_small_windows(name):
    checks = check_decoder(network(name, max_epochs=2), channel_table(NAMES), 100.0, 64, CLASSES)
    assert [check for check in checks if not check.passed] == []
    assert len(checks) == 9


@pytest.mark.parametrize("name", [*NETWORKS, "linear-stft", "linear-v1"])
def test_every_name_is_a_decoder_that_can_be_cached(name):
    decoder = load_decoder(name)
    identity = identify(decoder)
    assert isinstance(decoder, Decoder)
    assert identity.key is not None, identity.reason
    json.dumps(identity.parameters)
    assert describe_decoder(name).endswith(".")
    assert getattr(decoder, "role", None) == ("classical" if name.startswith("linear") else None)


def test_every_name_has_a_key_of_its_own_and_options_change_it():
    names = [*NETWORKS, "linear-stft", "linear-v1", "linear-spectrogram"]
    assert len({identify(load_decoder(name)).key for name in names}) == len(names)
    options = ({}, {"max_epochs": 3}, {"patience": 3}, {"learning_rate": 0.1}, {"batch_size": 3})
    assert len({identify(load_decoder("gru", **option)).key for option in options}) == len(options)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        (
            "mlp",
            {"learning_rate": 1e-5, "batch_size": 200, "patience": 100, "tolerance": 1e-8, "dropout": 0.2},
        ),
        ("cnn", {"learning_rate": 1e-4, "batch_size": 128, "patience": 10, "shuffle": False, "dropout": 0.5}),
        ("cnn-raw", {"learning_rate": 1e-4, "batch_size": 128, "patience": 10, "tolerance": 1e-4}),
        ("gru", {"patience": 10, "tolerance": 1e-4}),
        ("stgcn", {"batch_size": 64, "dropout": 0.4, "neighbours": 8, "patience": 10, "tolerance": 1e-4}),
    ],
)
def test_the_settings_are_those_published(name, settings):
    decoder = load_decoder(name)
    assert {key: getattr(decoder, key) for key in settings} == settings
    assert decoder.max_epochs == 100
    assert decoder.features.name == ("raw" if name == "cnn-raw" else "laplacian-spectrogram")


def test_the_linear_variants_have_the_features_they_are_named_after():
    assert load_decoder("linear-stft").features.output_shape(3, 2048, 2048.0) == (3, 17, 38, 2)
    assert load_decoder("linear-v1").features.output_shape(3, 2048, 2048.0) == (3, 33, 51)


def linear_layers(module) -> list[tuple[int, int]]:
    return [
        (layer.in_features, layer.out_features) for layer in module.modules() if isinstance(layer, nn.Linear)
    ]


@pytest.mark.parametrize(
    ("shape", "flat"),
    [((120, 17, 38), 2 * 4 * 128), ((120, 5, 38), 1 * 4 * 128), ((120, 2048), 256 * 128), ((4, 1, 1), 128)],
)
def test_the_convolutions_flatten_to_the_stated_size(shape, flat):
    module = CNN().build(np.zeros((1, *shape), dtype=np.float32), 2)
    assert linear_layers(module) == [(flat, 256), (256, 2)]
    kinds = (nn.Conv1d, nn.Conv2d)
    assert [layer.out_channels for layer in module.modules() if isinstance(layer, kinds)] == [32, 64, 128]
    assert module.eval()(torch.zeros(3, *shape)).shape == (3, 2)


def test_the_perceptron_has_two_layers_of_1024():
    module = MLP().build(np.zeros((1, 2, 17, 38), dtype=np.float32), 3)
    assert linear_layers(module) == [(2 * 17 * 38, 1024), (1024, 1024), (1024, 3)]


def test_the_recurrent_network_reads_frames_of_all_electrodes_and_frequencies():
    module = GRU().build(np.zeros((1, 5, 17, 38), dtype=np.float32), 3)
    assert (module.units.input_size, module.units.hidden_size) == (5 * 38, 128)
    windows = torch.randn(2, 5, 17, 38)
    swapped = windows.flip(2)
    assert not torch.allclose(module.eval()(windows), module(swapped)), "the order of frames matters"


@pytest.mark.parametrize("name", ABLATIONS)
def test_an_ablation_lacks_the_parameters_of_what_it_leaves_out(name):
    decoder = load_decoder(name)
    inputs = np.random.default_rng(0).standard_normal((20, 12, 17, 38)).astype(np.float32)
    state = decoder.build(inputs, 2).state_dict()
    assert decoder.attention == ("no-attention" not in name)
    assert any(key.endswith(("query.weight", "key.weight")) for key in state) == decoder.attention
    mixings = [value.numpy() for key, value in state.items() if key.endswith("mixing")]
    assert len(mixings) == 2, "two graph convolutions"
    for mixing in mixings:
        assert np.array_equal(mixing, np.eye(12)) == ("no-graph" in name)
        np.testing.assert_array_equal(mixing, mixing.T)


def test_without_attention_and_graph_electrodes_do_not_see_each_other():
    inputs = np.random.default_rng(0).standard_normal((30, 12, 6, 3)).astype(np.float32)
    changed = torch.from_numpy(inputs.copy())
    changed[:, 5] += 3

    def moved(name: str) -> set[int]:
        torch.manual_seed(0)
        module = load_decoder(name, neighbours=2).build(inputs, 2).eval()
        seen: list[torch.Tensor] = []
        module.graph[0].register_forward_hook(lambda *call: seen.append(call[2]))
        module(torch.from_numpy(inputs)), module(changed)
        return set(torch.nonzero((seen[0] - seen[1]).abs().amax(dim=(0, 2)) > 1e-6).flatten().tolist())

    joined = nearest_neighbours(correlation(inputs), 2)
    assert moved("stgcn-no-attention-no-graph") == {5}
    assert moved("stgcn-no-attention") == {5, *np.flatnonzero(joined[5]).tolist()}
    assert len(joined[5].nonzero()[0]) < 11
    assert moved("stgcn-no-graph") == set(range(12))


def test_correlations_and_neighbours_agree_with_numpy():
    inputs = np.random.default_rng(1).standard_normal((40, 15, 4, 3)).astype(np.float32)
    inputs[:, 3] += inputs[:, 9]
    expected = np.corrcoef(inputs.swapaxes(0, 1).reshape(15, -1).astype(np.float64))
    found = correlation(inputs)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    joined = nearest_neighbours(found, 8)
    assert not joined.diagonal().any()
    for row in range(15):
        nearest = [other for other in np.argsort(-expected[row]) if other != row][:8]
        assert joined[row, nearest].all()
    weights = joined + np.eye(15)
    degree = np.diag(weights.sum(axis=1) ** -0.5)
    np.testing.assert_allclose(normalise_graph(joined), degree @ weights @ degree)
    with pytest.raises(InputError, match="neighbours must be at least 1"):
        nearest_neighbours(found, 0)


@pytest.mark.parametrize("name", with_drills(KINDS, ("cnn-raw", "gru")))
def test_people_with_different_electrodes_are_joined_by_region(name):
    steps = () if name in ("cnn-raw", "eegnet") else (Spectrogram(window_samples=16, max_hz=50.0),)
    decoder = network(name, features=FeatureChain(steps))
    regions = ["x", "y", "z", "z", "v", "v"]
    train = [group(decoder, 1, regions=regions)]
    others = ["Q1", "Q2", "Q3"]
    test = [group(decoder, 3, names=others, regions=["x", "y", "z"], known=False)]
    held_out = [group(decoder, 2, names=others, regions=["x", "y", "z"])]
    decoder.fit(train, held_out, Context(CLASSES, (test[0].channels,)))
    assert roc_auc_score(np.arange(96) % 2, decoder.predict(test)[:, 1]) > 0.8
    assert decoder.alignment_.regions == ("x", "y", "z")


def test_an_unknown_option_is_refused():
    with pytest.raises(InputError, match=r'decoder "mlp" cannot be made: .*colour'):
        load_decoder("mlp", colour="red")


@pytest.mark.parametrize(
    ("decoder", "shape", "message"),
    [
        (CNN(), (4, 17, 38, 2), r"CNN: expected items .* got the shape \(4, 17, 38, 2\)"),
        (GRU(), (4,), r"GRU: expected items of the axes \(channel, frame\), got the shape \(4,\)"),
        (STGCN(), (4, 0, 38), r"STGCN: expected items .* got the shape \(4, 0, 38\)"),
    ],
)
def test_items_that_do_not_suit_a_network_are_refused(decoder, shape, message):
    with pytest.raises(InputError, match=message):
        decoder.build(np.zeros((2, *shape), dtype=np.float32), 2)


def test_a_network_says_what_is_missing_when_torch_is():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from neuroarena.decoders import load_decoder\n"
        f"for name in {NETWORKS!r}:\n"
        "    try:\n        load_decoder(name).fit([])\n"
        "    except Exception as error:\n        print(type(error).__name__, error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    lines = said.splitlines()
    assert len(lines) == len(NETWORKS)
    for line in lines:
        assert line.startswith("MissingDependency The decoder ")
        assert line.endswith(
            'needs PyTorch, which is not installed. Install it with: pip install "neuroarena[torch]"'
        )


def test_naming_and_describing_the_networks_does_not_load_torch():
    code = (
        "import sys\nfrom neuroarena.decoders import DECODERS, describe_decoder, load_decoder\n"
        "[describe_decoder(name) for name in DECODERS.names()]\n"
        f"[load_decoder(name) for name in {list(NETWORKS)}]\nprint('torch' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "False"
    assert set(NETWORKS) <= set(DECODERS.names())


@pytest.fixture(scope="module")
def twin(tmp_path_factory):
    folder = tmp_path_factory.mktemp("networks") / "twin"
    load_dataset("braintreebank").simulate(
        folder, electrodes=16, minutes=4, subjects=1, sessions=2, ideal=0.97
    )
    return load_benchmark("neuroprobe/speech", data=str(folder))


@pytest.mark.parametrize(
    ("name", "narrow"),
    [
        ("gru", {"hidden": 32}),
        pytest.param("mlp", {"hidden": (64, 64)}, marks=pytest.mark.drill),
        pytest.param("cnn", {"maps": (8, 16, 16), "hidden": 32}, marks=pytest.mark.drill),
        pytest.param("cnn-raw", {"maps": (8, 8, 8), "hidden": 16}, marks=pytest.mark.drill),
        pytest.param("stgcn", {}, marks=pytest.mark.drill),
    ],
)
def test_a_network_finds_what_is_planted_in_a_small_twin(name, narrow, twin, tmp_path_factory, monkeypatch):
    # One cache for all: the features are computed once.
    monkeypatch.setenv("NEUROARENA_CACHE", str(tmp_path_factory.getbasetemp() / "networks-cache"))
    decoder = load_decoder(name, learning_rate=2e-3, max_epochs=8, batch_size=32, **narrow)
    result = evaluate(decoder, twin, "cross-session")
    assert result.complete
    assert result.score > 0.65
