"""Encoders: how they are found, what they must give, and what their weights are."""

from __future__ import annotations

import copy
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuroarena.decoders import Context, Group, load_decoder
from neuroarena.decoders.networks.saved import read_note
from neuroarena.errors import InputError, NeuroarenaError, UnknownName
from neuroarena.families.transfer.decoders import ENCODERS, EncoderProbe, encoded, find_encoder, pretrain
from neuroarena.families.transfer.decoders.selfsupervised import SelfSupervised
from neuroarena.recordings import channel_table
from transfer_encoders import Broken, ChangesWeights, Means, SaysTheSame, WritesIntoItsInput

EEG = channel_table(["C3", "C4", "Cz"], kind="eeg")
EMG = channel_table([f"L{number}" for number in range(4)], kind="emg")
SUBMISSION = """
from __future__ import annotations
import hashlib
from dataclasses import dataclass
import numpy as np
from shape import LENGTH

@dataclass
class Mine:
    matrix: np.ndarray

    def weights_hash(self):
        return hashlib.sha256(self.matrix.tobytes()).hexdigest()

    def encode(self, signals, channels, rate_hz):
        return signals[:, :, :LENGTH].reshape(len(signals), -1) @ self.matrix[: LENGTH * signals.shape[1]]

def load_encoder(meta):
    return Mine(np.load(meta.folder / "weights.npy"))
"""


def noise(n: int = 5, channels: int = 3, samples: int = 200, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, channels, samples)).astype(np.float32)


def part(n: int = 24, seed: int = 0) -> list[Group]:
    known = pd.DataFrame({"id": [str(row) for row in range(n)], "subject": "1", "session": "1"})
    targets = np.array(["yes", "no"] * (n // 2))
    return [Group(noise(n, seed=seed), EEG, 100.0, known, targets)]


CONTEXT = Context(classes=("yes", "no"), kind="label")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "submission"
    root.mkdir()
    (root / "encoder.py").write_text(SUBMISSION)
    (root / "shape.py").write_text("LENGTH = 10\n")
    np.save(root / "weights.npy", np.random.default_rng(0).standard_normal((60, 7)))
    return root


# --- the encoders of the house ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ENCODERS.names())
@pytest.mark.parametrize(
    ("channels", "rate_hz", "samples"), [(1, 100.0, 100), (17, 250.0, 250), (63, 100.0, 400)]
)
def test_an_encoder_takes_any_channels_and_any_rate(name, channels, rate_hz, samples):
    table = channel_table([f"E{number}" for number in range(channels)], kind="eeg")
    encoder = find_encoder(name).encoder
    rows = encoded(encoder, noise(3, channels, samples), table, rate_hz)
    alone = encoded(encoder, noise(3, channels, samples)[1:2], table, rate_hz)
    assert rows.shape[0] == 3
    np.testing.assert_allclose(alone[0], rows[1], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ENCODERS.names())
def test_emg_gets_a_vector_for_each_of_125_frames_a_second(name):
    rows = encoded(find_encoder(name).encoder, noise(2, 4, 4000), EMG, 2000.0, frames=True)
    assert rows.shape[:2] == (2, 250)


@pytest.mark.parametrize("name", ENCODERS.names())
def test_silence_and_dead_electrodes_give_finite_numbers(name):
    silent = noise(2)
    silent[0] = 0
    silent[1, 1] = 7
    assert np.isfinite(encoded(find_encoder(name).encoder, silent, EEG, 100.0)).all()


@pytest.mark.parametrize("name", ENCODERS.names())
def test_the_weights_are_the_same_whenever_an_encoder_is_made(name):
    assert find_encoder(name).weights == find_encoder(name).weights
    assert re.fullmatch("[0-9a-f]{64}", find_encoder(name).weights)


def test_only_random_weights_are_called_untrained():
    assert [name for name in ENCODERS.names() if EncoderProbe(name).untrained] == ["random"]


def test_the_shipped_weights_are_small_and_say_that_they_are_simulated():
    path = Path(SelfSupervised().path)
    assert path.stat().st_size < 2_000_000
    note = read_note(path)
    assert note["simulated"] is True
    assert note["filled_in_error"] < 0.95  # filling in zeros is 1


def test_an_encoder_hears_that_a_rhythm_is_louder():
    time = np.arange(400) / 100
    loud = noise(40, 3, 400)
    loud[:20] += 3 * np.sin(2 * np.pi * 10 * time + np.arange(20)[:, None, None]).astype(np.float32)
    for name in ENCODERS.names():
        rows = encoded(find_encoder(name).encoder, loud, EEG, 100.0)
        rows = (rows - rows.mean(0)) / (rows.std(0) + 1e-9)
        apart = np.abs(rows[:20].mean(0) - rows[20:].mean(0)).max()
        assert apart > 1.5, name


@pytest.mark.drill
def test_pretraining_learns_and_is_repeatable(tmp_path):
    first, second = (pretrain(tmp_path / f"{name}.safetensors", steps=200) for name in "ab")
    assert SelfSupervised(first).weights_hash() == SelfSupervised(second).weights_hash()
    assert read_note(first)["filled_in_error"] < 0.97  # filling in zeros is 1


# --- finding ------------------------------------------------------------------------------------------------


def test_an_encoder_is_found_by_name_by_address_and_in_a_folder(folder):
    assert find_encoder("random").encoder.weights_hash()
    assert isinstance(find_encoder("transfer_encoders:Means").encoder, Means)
    assert find_encoder("transfer_encoders:load_encoder").encoder.factor == 3.0
    rows = encoded(find_encoder(str(folder)).encoder, noise(), EEG, 100.0)
    assert rows.shape == (5, 7)


def test_the_registered_decoders_are_probes():
    for name in ("random", "handcrafted", "selfsupervised"):
        decoder = load_decoder(f"neuroarena.families.transfer.decoders:encoder_{name}")
        assert decoder.encoder_weights == find_encoder(name).weights


REFUSED = {
    "an unknown name": ("handcraftd", UnknownName, "handcrafted"),
    "a folder without encoder.py": ("./nothing", InputError, "encoder.py"),
    "no weights_hash": ("transfer_encoders:NoHash", InputError, "lacks weights_hash"),
    "an empty hash": ("transfer_encoders:EmptyHash", InputError, "Expected a hash"),
    "a maker that needs more": ("transfer_encoders:needs_more", InputError, "cannot be made"),
    "something else": ("transfer_encoders:hashlib", InputError, "lacks encode and weights_hash"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_encoder_is_refused(case):
    source, kind, words = REFUSED[case]
    with pytest.raises(kind, match=words):
        EncoderProbe(source)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1 / 0", "ZeroDivisionError"),
        ("import sys; sys.exit(3)", "SystemExit"),
        ("def load_encoder(meta): raise KeyError('weights')", "KeyError"),
        ("encoder = 3", "lacks encode and weights_hash"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_refused_by_name(folder, text, words):
    (folder / "encoder.py").write_text(text)
    with pytest.raises(InputError, match=words) as caught:
        find_encoder(str(folder))
    assert "submission" in str(caught.value)


# --- what is given ------------------------------------------------------------------------------------------

WRONG = {
    "one row too few": (np.zeros((4, 3)), False, r"4 rows for 5 windows"),
    "one row too many": (np.zeros((6, 3)), False, r"6 rows for 5 windows"),
    "a number a window": (np.zeros(5), False, r"shape \(5,\); expected \(5, d\)"),
    "frames where vectors are asked for": (
        np.zeros((5, 2, 3)),
        False,
        r"shape \(5, 2, 3\); expected \(5, d\)",
    ),
    "vectors where frames are asked for": (np.zeros((5, 3)), True, r"expected \(5, frames, d\)"),
    "NaN": (
        np.where(np.eye(5, 3) * np.arange(5)[:, None] == 2, np.nan, 1.0),
        False,
        "NaN or infinity for window 2",
    ),
    "infinity": (np.full((5, 3), np.inf), False, "NaN or infinity for window 0"),
    "nothing": (np.zeros((5, 0)), False, "vectors of 0 numbers"),
    "too much": (np.zeros((5, 4097)), False, "vectors of 4097 numbers; expected 1 to 4096"),
    "words": ("a vector", False, "returned 'a vector'"),
    "None": (None, False, r"expected \(5, d\)"),
    "ragged rows": ([[1.0], [1.0, 2.0]], False, "expected float32"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_breaks_the_contract_is_named(case):
    answer, frames, words = WRONG[case]
    with pytest.raises(NeuroarenaError, match=words):
        encoded(Broken(answer), noise(), EEG, 100.0, frames=frames)


@given(st.integers(1, 6), st.integers(1, 9))
def test_any_finite_matrix_of_the_right_length_is_taken(n, length):
    answer = np.random.default_rng(n).standard_normal((n, length))
    assert encoded(Broken(answer), noise(n), EEG, 100.0).dtype == np.float32


def test_an_encoder_cannot_change_what_others_see():
    signals = noise()
    before = signals.copy()
    encoded(WritesIntoItsInput(), signals, EEG, 100.0)
    assert np.array_equal(signals, before)
    assert list(EEG["name"]) == ["C3", "C4", "Cz"]


@pytest.mark.parametrize(
    ("name", "words"),
    [("LearnsWhileEncoding", "Encoders must be frozen"), ("CountsCalls", "must keep nothing")],
)
def test_an_encoder_that_is_not_frozen_is_refused(name, words):
    with pytest.raises(NeuroarenaError, match=words):
        EncoderProbe(f"transfer_encoders:{name}").fit(part(), None, CONTEXT)


# --- weights ------------------------------------------------------------------------------------------------


def test_what_an_encoder_holds_counts_whatever_it_says():
    SaysTheSame.made = 0
    first, second = (find_encoder("transfer_encoders:SaysTheSame") for _ in range(2))
    assert first.encoder.weights_hash() == second.encoder.weights_hash()
    assert first.weights != second.weights


@pytest.mark.parametrize("file", ["encoder.py", "shape.py", "weights.npy", "more.bin"])
def test_every_file_of_a_folder_counts(folder, file):
    before = find_encoder(str(folder)).weights
    assert find_encoder(str(folder)).weights == before
    path = folder / file
    if file.endswith("npy"):
        np.save(path, np.random.default_rng(1).standard_normal((60, 7)))
    else:
        path.write_bytes((path.read_bytes() if path.exists() else b"") + b"\n")
    assert find_encoder(str(folder)).weights != before


def test_a_probe_travels_without_its_encoder_and_finds_the_same_again(folder):
    probe = EncoderProbe(str(folder)).fit(part(), None, CONTEXT)
    sent = pickle.loads(pickle.dumps(probe))
    assert np.array_equal(sent.predict(part(seed=1)), probe.predict(part(seed=1)))
    np.save(folder / "weights.npy", np.zeros((60, 7)))
    with pytest.raises(NeuroarenaError, match="changed its weights since the run was planned"):
        pickle.loads(pickle.dumps(probe)).predict(part(seed=1))


def test_an_encoder_whose_weights_change_when_it_is_made_anew_stops_the_run():
    ChangesWeights.made = 0
    probe = EncoderProbe("transfer_encoders:ChangesWeights")
    with pytest.raises(NeuroarenaError, match="changed its weights"):
        pickle.loads(pickle.dumps(probe)).fit(part(), None, CONTEXT)


def test_a_copy_of_a_probe_has_an_encoder_of_its_own():
    probe = EncoderProbe("transfer_encoders:Means")
    twin = copy.deepcopy(probe)
    assert twin.encoder_ is not probe.encoder_
    assert twin.encoder_weights == probe.encoder_weights
