"""Goals: the same network learns classes, numbers and vectors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from neuroarena.decoders import Context, Group, check_decoder
from neuroarena.decoders.networks import EEGNet
from neuroarena.decoders.networks.saved import read_note
from neuroarena.errors import InputError
from neuroarena.recordings import channel_table
from stream_toy import Listener

QUICK = {"max_epochs": 25, "learning_rate": 5e-3, "batch_size": 32}


def waves(seed: int, n: int = 160, targets: bool = True) -> tuple[Group, np.ndarray]:
    """Windows in which the power of a 10 Hz rhythm follows a number."""
    rng = np.random.default_rng(seed)
    numbers = rng.uniform(1.0, 3.0, size=n)
    signals = rng.standard_normal((n, 3, 100)).astype(np.float32)
    phase = rng.uniform(0, 2 * np.pi, size=(n, 1))
    signals[:, 1] += 2 * numbers[:, np.newaxis] * np.sin(2 * np.pi * 10 * np.arange(100) / 100 + phase)
    table = pd.DataFrame({"id": [f"{row:03d}" for row in range(n)], "subject": "1", "session": "1"})
    channels = channel_table(["a", "b", "c"], kind="eeg")
    return Group(signals, channels, 100.0, table, numbers if targets else None), numbers


def context(kind: str, **more: object) -> Context:
    return Context(kind=kind, rng=np.random.default_rng(0), **more)


def test_a_number_is_learned_on_its_own_scale():
    train, test = waves(0)[0], waves(1)
    said = EEGNet(**QUICK).fit([train], None, context("number")).predict([test[0]])
    assert said.shape == (160,)
    error = np.sqrt(np.mean((said - test[1]) ** 2)) / test[1].std()
    assert error < 0.6


def test_a_vector_is_learned_with_all_its_numbers():
    train, numbers = waves(0)
    test, truth = waves(1)
    directions = np.array([[1.0, -2.0, 0.0, 5.0]])
    vectors = Group(train.signals, train.channels, 100.0, train.table, numbers[:, np.newaxis] * directions)
    said = EEGNet(**QUICK).fit([vectors], None, context("vector", vector_length=4)).predict([test])
    assert said.shape == (160, 4)
    correlation = np.corrcoef(said[:, 3], truth)[0, 1]
    assert correlation > 0.8
    np.testing.assert_allclose(said[:, 2], 0, atol=0.5)


def test_texts_are_no_goal_of_a_window_network():
    with pytest.raises(InputError, match="not text"):
        EEGNet(**QUICK).fit([waves(0)[0]], None, context("text"))


def test_a_window_that_is_too_short_is_refused_by_name():
    group, numbers = waves(0)
    short = Group(group.signals[:, :, :20], group.channels, 100.0, group.table, numbers)
    with pytest.raises(InputError, match="at least 32 samples"):
        EEGNet(**QUICK).fit([short], None, context("number"))


def test_scaling_is_learned_from_the_training_items_alone():
    train, test = waves(0)[0], waves(1)[0]
    decoder = EEGNet(max_epochs=1).fit([train], None, context("number"))
    n_fitted = 160 - 32
    np.testing.assert_allclose(decoder.mean_[:, 0], train.signals[:n_fitted].mean(axis=(0, 2)), atol=1e-4)
    before = decoder.predict([test])
    louder = Group(100 * test.signals, test.channels, 100.0, test.table)
    assert not np.allclose(before, decoder.predict([louder]))
    np.testing.assert_array_equal(before, decoder.predict([test]))


@pytest.mark.parametrize(("kind", "length"), [("number", None), ("vector", 5)])
def test_the_contract_check_imagines_numbers_and_vectors(kind, length):
    decoder = EEGNet(max_epochs=1)
    checks = check_decoder(decoder, channel_table(["a", "b"]), 100.0, 64, kind=kind, vector_length=length)
    assert [check for check in checks if not check.passed] == []


def test_the_contract_check_names_what_a_stream_decoder_lacks():
    form, _ = check_decoder(EEGNet(), channel_table(["a"]), 100.0, 64, kind="number", stream=True)
    assert form.detail == "it lacks start, step"
    good, travels = check_decoder(Listener(), channel_table(["a"]), 100.0, 64, kind="number", stream=True)
    assert (good.passed, travels.passed) == (True, True)


@pytest.mark.parametrize("kind", ["number", "probabilities"])
def test_a_saved_network_gives_the_same_numbers_without_learning(kind, tmp_path):
    train, test = waves(0)[0], waves(1)[0]
    classes = ("high", "low") if kind == "probabilities" else ()
    asked = context(kind, classes=classes)
    if classes:
        train = Group(
            train.signals, train.channels, 100.0, train.table, np.where(train.targets > 2, "high", "low")
        )
    fitted = EEGNet(max_epochs=2, filters=4).fit([train], None, asked)
    fitted.save(tmp_path / "net.safetensors", simulated=True)
    loaded = EEGNet(weights=tmp_path / "net.safetensors").fit([train], None, asked)
    np.testing.assert_array_equal(fitted.predict([test]), loaded.predict([test]))
    assert read_note(tmp_path / "net.safetensors")["simulated"] is True


def test_a_saved_network_that_does_not_fit_is_refused_by_name(tmp_path):
    path = tmp_path / "net.safetensors"
    train = waves(0)[0]
    EEGNet(max_epochs=1).fit([train], None, context("number")).save(path)
    short = Group(train.signals[:, :2], train.channels[:2], 100.0, train.table, train.targets)
    with pytest.raises(InputError, match=r"windows of the shape \[3, 100\], these have \[2, 100\]"):
        EEGNet(weights=path).fit([short], None, context("number"))
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(InputError, match="not a complete safetensors file"):
        EEGNet(weights=path).fit([train], None, context("number"))
    with pytest.raises(InputError, match="nowhere"):
        EEGNet(weights=tmp_path / "nowhere.safetensors")
