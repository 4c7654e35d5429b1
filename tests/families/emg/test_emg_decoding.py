"""Greedy CTC, listening across window borders, and the plain decoders of EMG-to-text."""

from __future__ import annotations

import copy
import itertools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emg_sessions import SMALL, context, load, parts, small_twin
from neuroarena.decoders.ctc import frame_labels
from neuroarena.decoders.streams import Playback, StreamMeta, drive
from neuroarena.errors import InputError
from neuroarena.families.emg.decoders import CtcLinear, GreedyText, MostFrequentKey, greedy_text
from neuroarena.families.emg.decoders.linear import LOOKBACK, frame_features
from neuroarena.families.emg.decoders.listening import TRACK_RULE, Listener
from neuroarena.families.emg.decoders.spectra import log_spectrogram, n_frames
from neuroarena.families.emg.decoders.stretches import TAUGHT
from neuroarena.families.emg.emg2qwerty import DATASET
from neuroarena.families.emg.emg2qwerty.characters import BLANK, CHARACTERS
from neuroarena.recordings import from_array
from neuroarena.scoring import StreamRule, score

labels = st.lists(st.sampled_from([0, 1, 2, 96, BLANK, BLANK]), max_size=40)


def plain_collapse(frames: list[int]) -> str:
    """The definition, word for word: drop what equals the frame before, then drop blanks."""
    runs = [label for label, _ in itertools.groupby(frames)]
    return "".join(CHARACTERS[label] for label in runs if label != BLANK)


@pytest.fixture(scope="module")
def planted() -> Path:
    return small_twin()


@pytest.fixture(scope="module")
def chance() -> Path:
    return small_twin(strength=0.0)


@pytest.fixture(scope="module")
def linear(planted: Path) -> CtcLinear:
    train, validation, _ = parts(load(planted))
    return CtcLinear(max_iter=40).fit(train, validation, context())


def error(decoder, root: Path) -> float:
    """Mean character error rate over the test blocks, through the driver and the scorer."""
    benchmark = load(root)
    split = benchmark.split("other-people")
    table = benchmark.examples.set_index("id")
    rows = [
        (
            each,
            drive(
                decoder,
                benchmark.recording(each),
                0,
                int(table.loc[each, "stop"]),
                benchmark.manifest.stream,
                np.random.default_rng(0),
            ),
        )
        for each in split.folds[0].test
    ]
    predictions = pd.DataFrame(rows, columns=["id", "text"])
    return float(score(predictions, benchmark.truth(split), benchmark.manifest).table["score"].mean())


def guess(root: Path) -> float:
    """What a text with the right keys, in no order, scores: the edit distance finds likenesses by chance."""
    return float(json.loads((root / "simulated.json").read_text())["random_text_cer"])


# --- collapsing ------------------------------------------------------------------------------------


@given(labels)
def test_greedy_decoding_is_argmax_then_collapse_then_drop_blanks(frames):
    outputs = np.full((len(frames), 99), -5.0)
    outputs[np.arange(len(frames)), frames] = -0.1
    assert greedy_text(outputs) == plain_collapse(frames)


@given(labels, st.lists(st.integers(0, 40), max_size=5))
def test_a_text_decoded_in_pieces_is_the_text_decoded_at_once(frames, cuts):
    text, pieces = GreedyText(), []
    for piece in np.split(np.array(frames, dtype=int), sorted(cut for cut in cuts if cut <= len(frames))):
        pieces.append(text.take(piece))
    assert "".join(pieces) == plain_collapse(frames)


def test_a_key_held_across_a_border_is_one_key_and_a_blank_makes_it_two():
    held, twice = GreedyText(), GreedyText()
    assert held.take(np.array([BLANK, 5])) + held.take(np.array([5, 5])) == "f"
    assert twice.take(np.array([5, BLANK])) + twice.take(np.array([5])) == "ff"
    assert twice.take(np.array([], dtype=int)) == ""


def test_equal_outputs_go_to_the_lowest_label():
    assert greedy_text(np.zeros((1, 99))) == "a"


# --- listening -------------------------------------------------------------------------------------


def played(n_samples: int, rule: StreamRule = TRACK_RULE, silent: slice = slice(0, 0)):
    signal = np.random.default_rng(n_samples).normal(0, 10, (32, n_samples)).astype(np.float32)
    signal[:, silent] = 0
    recording = from_array(signal, 2000.0, [f"c{row}" for row in range(32)])
    return signal, Playback(recording, 0, n_samples, rule, np.random.default_rng(0))


@pytest.mark.parametrize("n_samples", [8000, 8001, 7999, 24_000, 25_111, 16_100, 16_400, 700, 64, 63])
def test_the_frames_of_a_stream_are_the_frames_of_the_recording(n_samples):
    signal, playback = played(n_samples)
    listener = Listener(TRACK_RULE, 2000.0)
    heard = np.concatenate([listener.take(window) for window in playback])
    assert len(heard) == n_frames(n_samples)
    np.testing.assert_array_equal(heard, log_spectrogram(signal))


@pytest.mark.parametrize(
    "rule",
    [
        StreamRule(window_s=1.0, hop_s=0.5, before_s=0.0, after_s=0.0, answer="joined"),
        StreamRule(window_s=0.3, hop_s=0.3, before_s=0.2, after_s=0.7, answer="joined"),
        StreamRule(window_s=4.0, hop_s=4.0, answer="joined"),
    ],
)
def test_how_the_recording_is_cut_changes_nothing(rule):
    signal, playback = played(21_010, rule)
    listener = Listener(rule, 2000.0)
    heard = np.concatenate([listener.take(window) for window in playback])
    np.testing.assert_array_equal(heard, log_spectrogram(signal))


def test_silence_in_the_middle_of_a_recording_is_heard_as_it_is():
    signal, playback = played(30_000, silent=slice(7000, 18_000))
    listener = Listener(TRACK_RULE, 2000.0)
    heard = np.concatenate([listener.take(window) for window in playback])
    np.testing.assert_array_equal(heard, log_spectrogram(signal))


def test_each_frame_is_judged_once_with_its_past_and_its_future():
    signal, playback = played(18_000)
    frames = log_spectrogram(signal)
    listener = Listener(TRACK_RULE, 2000.0, lookback=6, lookahead=2)
    judged = []
    for window in playback:
        given_frames = listener.take(window)
        judged += [given_frames[place - 6 : place + 3] for place in range(6, len(given_frames) - 2)]
    expected = [frames[place - 6 : place + 3] for place in range(6, len(frames) - 2)]
    assert len(judged) == len(expected)
    np.testing.assert_array_equal(np.stack(judged), np.stack(expected))


def test_windows_of_another_shape_or_that_do_not_meet_are_refused():
    with pytest.raises(
        InputError, match=r"Expected a window of 32 channels x 10000 samples, got \(32, 8000\)"
    ):
        Listener(TRACK_RULE, 2000.0).take(np.zeros((32, 8000), np.float32))
    with pytest.raises(InputError, match="windows leave gaps"):
        Listener(StreamRule(window_s=1, hop_s=2, answer="joined"), 2000.0)


# --- what frames are taught, and the linear features -----------------------------------------------


def test_frames_are_taught_the_latest_key_within_40_ms():
    places = np.array([90, 100, 116, 164, 179, 180, 181, 200, 259, 400])
    taught = frame_labels(places, np.array([100, 180]), np.array([3, 4]), TAUGHT)
    assert taught.tolist() == [BLANK, 3, 3, 3, 3, 4, 4, 4, 4, BLANK]
    assert frame_labels(places, np.array([], int), np.array([], int), TAUGHT).tolist() == [BLANK] * 10


def test_the_features_of_a_frame_do_not_depend_on_where_a_piece_begins():
    frames = log_spectrogram(np.random.default_rng(1).normal(0, 10, (32, 3000)).astype(np.float32))
    whole = frame_features(frames)
    assert whole.shape == (len(frames) - LOOKBACK, 288)
    np.testing.assert_array_equal(frame_features(frames[40:90]), whole[40 : 90 - LOOKBACK])
    assert frame_features(frames[:LOOKBACK]).shape == (0, 288)


# --- the decoders ----------------------------------------------------------------------------------


def test_decoding_window_by_window_is_decoding_the_whole_recording(planted, linear):
    benchmark = load(planted)
    for example in benchmark.split("other-people").folds[0].test:
        recording = benchmark.recording(example)
        signal = recording.read(0, recording.n_samples)
        at_once = GreedyText().take(linear.judge(log_spectrogram(signal)))
        streamed = drive(
            linear, recording, 0, recording.n_samples, benchmark.manifest.stream, np.random.default_rng(0)
        )
        assert streamed == at_once
        assert len(streamed) > 50


def test_the_linear_decoder_finds_what_was_planted_and_chance_where_nothing_was(planted, chance, linear):
    train, validation, _ = parts(load(chance))
    blind = CtcLinear(max_iter=40).fit(train, validation, context())
    dummy = MostFrequentKey().fit(train, validation, context())
    assert error(linear, planted) < 30
    # Without a signal the best that can be done is to guess.
    assert error(dummy, chance) > guess(chance)
    assert error(blind, chance) > guess(chance) - 8


def test_the_dummy_types_the_commonest_key_at_the_speed_of_training(planted):
    benchmark = load(planted)
    train, validation, test = parts(benchmark)
    dummy = MostFrequentKey().fit(train, validation, context())
    joined = "".join(group.targets[0] for group in train)
    assert dummy.key_ == max(set(joined), key=joined.count)
    recording = benchmark.recording(test[0])
    text = drive(dummy, recording, 0, recording.n_samples, TRACK_RULE, np.random.default_rng(0))
    assert set(text) == {dummy.key_}
    # Eight windows are played of a session of thirty seconds.
    assert len(text) == pytest.approx(32 * len(joined) / 60, abs=1)


def test_the_same_seed_gives_the_same_answers_whatever_was_decoded_before(planted, linear):
    train, validation, test = parts(load(planted))
    again = CtcLinear(max_iter=40).fit(train, validation, context())
    np.testing.assert_array_equal(again.weights_, linear.weights_)
    recordings = [load(planted).recording(each) for each in test]
    rng = np.random.default_rng(0)
    first = [drive(linear, each, 0, each.n_samples, TRACK_RULE, rng) for each in recordings]
    back = [drive(linear, each, 0, each.n_samples, TRACK_RULE, rng) for each in reversed(recordings)]
    assert first == back[::-1]


def test_learning_from_a_part_without_keystrokes_is_refused():
    with pytest.raises(InputError, match="the training part has none"):
        CtcLinear().fit([], None, context())
    with pytest.raises(InputError, match="holds no text"):
        MostFrequentKey().fit([], None, context())


# --- decoders that do not listen -------------------------------------------------------------------


class Cheat:
    """Remembers the training texts, and tells them by something that is not the signal."""

    features = CtcLinear().features

    def fit(self, train, validation=None, context=None):
        self.texts_ = [group.targets[0] for group in train]
        self.lengths_ = [int(group.table["stop"].iloc[0]) for group in train]
        self.streams_ = self.calls_ = 0
        return self

    def start(self, meta: StreamMeta) -> None:
        self.meta_ = meta
        self.streams_ += 1

    def step(self, window: np.ndarray) -> str:
        self.calls_ += 1
        text = self.texts_[self.streams_ % len(self.texts_)]
        return text[10 * (self.calls_ - 1) : 10 * self.calls_]


def test_a_decoder_that_counts_calls_and_streams_gains_nothing(planted):
    benchmark = load(planted)
    train, validation, test = parts(benchmark)
    cheat = Cheat().fit(train, validation, context())
    assert error(cheat, planted) > guess(planted) - 8
    # Every stream was played to a fresh copy: the fitted decoder counted nothing.
    assert (cheat.streams_, cheat.calls_) == (0, 0)
    texts = {
        drive(cheat, benchmark.recording(each), 0, 60_000, TRACK_RULE, np.random.default_rng(0))
        for each in test
    }
    assert len(texts) == 1


def test_a_stream_is_told_neither_its_length_nor_whose_it_is(planted):
    benchmark = load(planted)
    _, _, test = parts(benchmark)
    seen = []

    class Nosy(MostFrequentKey):
        def start(self, meta):
            seen.append(meta)
            super().start(meta)

        def __deepcopy__(self, memo):
            other = Nosy()
            other.__dict__ |= {name: copy.deepcopy(value) for name, value in self.__dict__.items()}
            return other

    nosy = Nosy().fit(*parts(benchmark)[:2], context())
    for each in test:
        drive(nosy, benchmark.recording(each), 0, 60_000, TRACK_RULE, np.random.default_rng(0))
    assert all(set(vars(meta)) == {"channels", "rate_hz"} for meta in seen)
    assert all(meta.channels.equals(seen[0].channels) for meta in seen)


def test_an_order_that_is_the_same_everywhere_is_a_leak_that_a_deaf_decoder_finds(tmp_path, planted):
    leaky = tmp_path / "order"
    DATASET.simulate(leaky, **SMALL, plant_leak="order")

    class Parrot(Cheat):
        def step(self, window):
            self.calls_ += 1
            return self.texts_[0] if self.calls_ == 1 else ""

    found = {}
    for name, root in (("leaky", leaky), ("clean", planted)):
        train, validation, _ = parts(load(root))
        found[name] = error(Parrot().fit(train, validation, context()), root)
    assert found["leaky"] < 20
    assert found["clean"] > guess(planted) - 8
