"""Asking: only the signals can answer; order, ids, lengths and counts of calls tell nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pytest

from neuroarena.benchmarks import Codebook
from neuroarena.decoders import Linear, n_examples
from neuroarena.decoders.streams import Playback
from neuroarena.errors import InputError
from neuroarena.evaluation import evaluate, evaluate_all
from neuroarena.features import FeatureChain
from neuroarena.recordings import from_array
from neuroarena.scoring import StreamRule
from stream_toy import PEOPLE, RULE, Listener, recording_of, stream_benchmark
from toy import toy_benchmark, toy_linear, toy_manifest


@dataclass
class Cheat:
    """Answers from everything but the signals."""

    by: str
    features: FeatureChain = field(default_factory=FeatureChain)
    calls: int = 0

    def fit(self, train, validation=None, context=None):
        self.targets_ = np.concatenate([group.targets for group in train]).astype(float)
        return self

    def predict(self, test):
        self.calls += 1
        n = n_examples(test)
        said = {
            "order": self.targets_[np.arange(n) % len(self.targets_)],
            "parity": np.arange(n) % 2.0,
            "ids": np.concatenate([group.table["id"].str[-1].astype(float) % 2 for group in test]),
            "calls": np.full(n, self.calls % 2.0),
            "batch": np.full(n, n % 2.0),
        }[self.by]
        return np.stack([1 - said, said], axis=1)


@pytest.mark.parametrize("by", ["order", "parity", "ids", "calls", "batch"])
def test_a_decoder_that_answers_from_order_ids_calls_or_batches_scores_as_chance(by):
    scores = [evaluate(Cheat(by), toy_benchmark(), "cross", seed=seed).score for seed in range(3)]
    assert abs(np.mean(scores) - 0.5) < 0.1


def test_every_batch_is_answered_by_a_copy_that_remembers_no_other():
    remembered = []

    class Remembering(Linear):
        def predict(self, test):
            remembered.append(getattr(self, "batches_", 0))
            self.batches_ = remembered[-1] + 1
            return super().predict(test)

    benchmark = toy_benchmark()
    evaluate(Remembering(), benchmark, "cross")
    assert len(remembered) > len(benchmark.split("cross").folds), "no fold was asked in several batches"
    assert set(remembered) == {0}


def test_a_decoder_sees_subject_and_session_and_no_id():
    seen = []

    class Looking(Linear):
        def predict(self, test):
            seen.extend(group.table for group in test)
            return super().predict(test)

    evaluate(Looking(), toy_benchmark(), "cross")
    tables = pd.concat(seen)
    assert set(tables.columns) == {"id", "subject", "session"}
    assert not set(tables["id"]) & set(toy_benchmark().examples["id"])


def test_what_a_decoder_writes_into_its_tables_reaches_no_other_decoder():
    seen = []

    class Writing(Cheat):
        def predict(self, test):
            for group in test:
                seen.append(group.table.copy())
                group.table["note"] = "mine"
                group.table.loc[:, "subject"] = "nobody"
            return super().predict(test)

    evaluate_all([("one", Writing("order")), ("other", Writing("parity"))], [toy_benchmark()], ["cross"])
    first, second = seen[: len(seen) // 2], seen[len(seen) // 2 :]
    for one, other in zip(first, second, strict=True):
        pd.testing.assert_frame_equal(one, other)
    assert set(pd.concat(seen)["subject"]) == {"1", "2"}


def test_batches_change_no_prediction_of_an_honest_decoder():
    benchmark = toy_benchmark()
    one, other = (evaluate(toy_linear(), benchmark, "cross", seed=seed).predictions for seed in (0, 1))
    pd.testing.assert_frame_equal(one, other, rtol=1e-5)


def test_a_stream_decoder_finds_what_a_constant_cannot():
    benchmark = stream_benchmark()
    assert evaluate(Listener(), benchmark).score < 1.5
    assert evaluate(Listener("constant"), benchmark).score > 8


def test_counting_windows_tells_nothing_although_every_recording_ends_twenty_seconds_after_its_answer():
    benchmark = stream_benchmark()
    constant, counted = (evaluate(Listener(mode), benchmark).score for mode in ("constant", "count"))
    assert counted > constant


def test_training_parts_of_streams_carry_recordings_and_events():
    decoder = Listener()
    benchmark = stream_benchmark()

    class Keeping(Listener):
        def fit(self, train, validation=None, context=None):
            decoder.fit(train)
            assert context.stream == RULE
            assert list(train[0].table.columns) == ["id", "subject", "session", "start", "stop"]
            return super().fit(train, validation, context)

    evaluate(Keeping(), benchmark)
    assert decoder.seen_ == [((1, 2, 0), 1, recording_of(person).n_samples) for person in PEOPLE[:6]]


@pytest.mark.parametrize(
    ("decoder", "sentence"),
    [
        (Listener("silent"), "returned no answer in"),
        (Listener("words"), "expected a finite number or None"),
    ],
)
def test_a_stream_that_is_not_answered_is_a_named_failure(decoder, sentence):
    result = evaluate(decoder, stream_benchmark())
    assert result.score is None
    assert sentence in result.record.cells[0].error


@pytest.mark.parametrize(
    ("decoder", "make", "sentence"),
    [
        (Cheat("order"), stream_benchmark, "needs a decoder with start() and step()"),
        (Listener(), toy_benchmark, "needs a decoder with predict()"),
        (Cheat("order", features=()), toy_benchmark, "no FeatureChain in its attribute features"),
    ],
)
def test_a_decoder_of_the_wrong_kind_is_refused_before_anything_is_computed(decoder, make, sentence):
    with pytest.raises(InputError, match=re.escape(sentence)):
        evaluate(decoder, make())


def test_labels_are_never_made_of_nan():
    benchmark = toy_benchmark()
    manifest = toy_manifest(metric="accuracy", prediction="label")
    named = type(benchmark)(**{**benchmark.__dict__, "manifest": manifest})

    class Nothing(Cheat):
        def predict(self, test):
            return np.full((n_examples(test), 2), np.nan)

    result = evaluate(Nothing("order"), named, "cross")
    assert result.score is None
    assert "NaN or infinity" in result.record.cells[0].error


def test_a_played_stream_has_the_horizons_length_and_holds_the_stretch_whole():
    recording = recording_of("a")
    rng = np.random.default_rng(3)
    playback = Playback(recording, 0, recording.n_samples, RULE, rng)
    assert len(playback) == 119
    delay = round(playback.delay_s * recording.rate_hz)
    played = playback.read(delay, delay + recording.n_samples)
    np.testing.assert_array_equal(played, recording.read(0, recording.n_samples))
    assert len(list(playback)) == 119


def test_joined_streams_cover_every_sample_once_with_silence_round_them():
    recording = from_array(
        np.arange(1, 24, dtype=np.float32)[np.newaxis], rate_hz=1.0, channels=["a"], name="ramp"
    )
    rule = StreamRule(window_s=4, hop_s=4, before_s=2, after_s=1, answer="joined")
    playback = Playback(recording, 1, 23, rule, np.random.default_rng(0))
    windows = [window[0].tolist() for window in playback]
    assert windows[0] == [0, 0, 2, 3, 4, 5, 6]
    assert windows[-1] == [20, 21, 22, 23, 0, 0, 0]
    assert np.concatenate([window[2:6] for window in windows]).tolist() == [*range(2, 24), 0, 0]


def test_targets_of_a_codebook_reach_training_and_truth_as_vectors():
    book = Codebook(["0", "1"], np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32))
    benchmark = toy_benchmark()
    named = type(benchmark)(**{**benchmark.__dict__, "codebook": book})
    truth = named.truth(named.split("cross"))
    expected = book.vectors(benchmark.truth(benchmark.split("cross"))["target"])
    np.testing.assert_array_equal(np.stack(truth["target"]), expected)


@pytest.mark.parametrize(
    ("names", "values", "sentence"),
    [
        (["a", "a"], np.zeros((2, 3)), '"a" occurs more than once'),
        (["a", "b"], np.zeros((3, 3)), "expected 2 rows of numbers"),
        (["a", "b"], "no-such-file.npy", "cannot be read"),
    ],
)
def test_a_codebook_that_does_not_fit_is_refused(names, values, sentence):
    with pytest.raises(InputError, match=sentence):
        Codebook(names, values)


def test_a_codebook_names_what_it_lacks():
    book = Codebook(["a", "b"], np.array([[0.0], [np.nan]]))
    with pytest.raises(InputError, match='no vector for "c"'):
        book.vectors(["a", "c"])
    with pytest.raises(InputError, match='vector of "b" holds NaN'):
        book.vectors(["b"])
