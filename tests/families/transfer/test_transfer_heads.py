"""The organiser's heads, against scikit-learn written out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler

from neuroarena.decoders import Context, Group, StreamMeta
from neuroarena.decoders.contract_check import check_decoder
from neuroarena.decoders.streams import drive
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.families.transfer.decoders import EncoderProbe
from neuroarena.families.transfer.decoders.heads import FrameHead, LabelHead, RidgeHead
from neuroarena.families.transfer.decoders.onset_head import EncodedStream, OnsetHead
from neuroarena.recordings import channel_table, from_array
from neuroarena.scoring import StreamRule
from transfer_encoders import Means

EEG = channel_table(["C3", "C4", "Cz"], kind="eeg")
SLEEP = StreamRule(window_s=30.0, hop_s=10.0, answer="last")
TYPING = StreamRule(window_s=4.0, hop_s=4.0, before_s=0.9, after_s=0.1, answer="joined")
MEANS = "transfer_encoders:Means"


def group(targets: np.ndarray | None, n: int, seed: int, shift: np.ndarray | None = None) -> Group:
    signals = np.random.default_rng(seed).standard_normal((n, 3, 50)).astype(np.float32)
    if shift is not None:
        signals += shift[:, :, None].astype(np.float32)
    known = pd.DataFrame({"id": [str(row) for row in range(n)], "subject": "1", "session": "1"})
    return Group(signals, EEG, 100.0, known, targets)


def rows_of(part: Group) -> np.ndarray:
    return Means().encode(part.signals, part.channels, part.rate_hz).astype(np.float64)


def test_the_image_head_is_ridge_on_standardised_numbers_without_the_mean():
    rng = np.random.default_rng(0)
    targets = rng.standard_normal((60, 9)) + 5
    train, test = group(targets, 60, 1, targets[:, :3]), group(None, 10, 2)
    context = Context(kind="vector", vector_length=9)
    said = EncoderProbe(MEANS).fit([train], None, context).predict([test])
    scaler = StandardScaler().fit(rows_of(train))
    model = Ridge(alpha=1.0 * 60).fit(scaler.transform(rows_of(train)), targets - targets.mean(0))
    np.testing.assert_allclose(said, model.predict(scaler.transform(rows_of(test))), atol=1e-5)


def test_the_command_head_is_logistic_regression_on_standardised_numbers():
    labels = np.array(["a", "b", "c"] * 20)
    shift = np.eye(3)[np.arange(60) % 3]
    train, test = group(labels, 60, 3, shift), group(None, 12, 4, np.eye(3)[np.arange(12) % 3])
    probe = EncoderProbe(MEANS).fit([train], None, Context(classes=("c", "a", "b"), kind="label"))
    scaler = StandardScaler().fit(rows_of(train))
    model = LogisticRegression(C=0.01, max_iter=1000).fit(scaler.transform(rows_of(train)), labels)
    expected = model.predict_proba(scaler.transform(rows_of(test)))[:, [2, 0, 1]]
    np.testing.assert_allclose(probe.predict([test]), expected, atol=1e-4)


@pytest.mark.parametrize("shape", [(40, 6), (6, 40)])
def test_ridge_is_the_same_with_fewer_examples_than_numbers(shape):
    rng = np.random.default_rng(5)
    x, y, new = rng.standard_normal(shape), rng.standard_normal(shape[0]), rng.standard_normal((4, shape[1]))
    scaler = StandardScaler().fit(x)
    expected = Ridge(alpha=0.1 * len(x)).fit(scaler.transform(x), y).predict(scaler.transform(new))
    np.testing.assert_allclose(RidgeHead(x, y, 0.1).predict(new), expected, atol=1e-8)


def test_the_frame_head_is_weighted_logistic_regression():
    rng = np.random.default_rng(6)
    labels = rng.integers(0, 3, 300)
    x = rng.standard_normal((300, 4)) + 2 * np.eye(4)[labels]
    weights = np.where(labels == 2, 4.0, 1.0)
    scaler = StandardScaler().fit(x)
    model = LogisticRegression(C=1.0, max_iter=100, tol=1e-3).fit(scaler.transform(x), labels, weights)
    head = FrameHead(x, labels, weights)
    assert np.array_equal(head.predict(x), model.predict(scaler.transform(x)))
    two = labels < 2
    head = FrameHead(x[two], labels[two], weights[two])
    assert np.mean(head.predict(x[two]) == labels[two]) > 0.8


def test_numbers_that_never_vary_are_left_alone():
    x = np.concatenate([np.full((20, 1), 3.7e5), np.arange(20.0)[:, None]], axis=1).astype(np.float32)
    said = RidgeHead(x, np.arange(20.0), 0.0001).predict(x)
    np.testing.assert_allclose(said, np.arange(20.0), atol=0.01)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: LabelHead(np.eye(3), np.zeros(3, int), 2), "two classes"),
        (lambda: FrameHead(np.eye(3), np.zeros(3, int), np.ones(3)), "keys and blanks"),
        (lambda: EncoderProbe(MEANS).fit([group(None, 3, 0)], None, Context(kind="text")), "no head"),
        (lambda: EncoderProbe(MEANS).fit([group(None, 3, 0)], None, Context(stream=SLEEP)), "has none"),
    ],
)
def test_nothing_to_learn_from_is_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()


@pytest.mark.parametrize(
    ("kind", "classes", "length"), [("label", ("a", "b"), None), ("vector", (), 5), ("number", (), None)]
)
def test_a_probe_keeps_the_contract_of_decoders(kind, classes, length):
    checks = check_decoder(
        EncoderProbe("handcrafted"), EEG, 100.0, 100, classes, kind=kind, vector_length=length
    )
    assert [check for check in checks if not check.passed] == []


# --- sleep --------------------------------------------------------------------------------------------------


def streams(n: int, told: float, seed: int = 0) -> list[EncodedStream]:
    """Make streams of 1800 s whose first number tells, more or less, on which side of the onset a window lies."""
    rng = np.random.default_rng(seed)
    made = []
    for place in range(n):
        onset = float(rng.uniform(300, 1500))
        middles = np.arange(178) * 10 + 15
        rows = rng.standard_normal((178, 4))
        rows[:, 0] += told * np.sign(onset - middles)
        made.append(EncodedStream(rows, onset, f"p{place // 2}"))
    return made


def answers(head: OnsetHead, test: list[EncodedStream]) -> np.ndarray:
    found = []
    for stream in test:
        tracker = head.tracker()
        found.append([tracker.add(row) for row in stream.rows][-1])
    return np.array(found)


def test_the_onset_is_where_the_running_sum_is_highest():
    test = streams(20, 3.0, seed=1)
    errors = np.abs(answers(OnsetHead(streams(20, 3.0), SLEEP), test) - [stream.target_s for stream in test])
    assert errors.mean() < 10


def test_an_encoder_that_hears_nothing_is_near_the_median():
    train, test = streams(40, 0.0), streams(40, 0.0, seed=1)
    targets = np.array([stream.target_s for stream in test])
    floor = np.abs(np.median([stream.target_s for stream in train]) - targets).mean()
    assert np.abs(answers(OnsetHead(train, SLEEP), test) - targets).mean() < 1.25 * floor


def test_an_answer_never_changes_by_what_comes_later():
    head, (stream,) = OnsetHead(streams(10, 1.0), SLEEP), streams(1, 1.0, seed=2)
    whole, part = head.tracker(), head.tracker()
    said = [whole.add(row) for row in stream.rows]
    assert [part.add(row) for row in stream.rows[:90]] == said[:90]


# --- typing -------------------------------------------------------------------------------------------------


def typed(seconds: float, seed: int) -> tuple[Group, str]:
    """Make a session in which each of three keys, pressed every 200 ms or so, is loud on a channel of its own."""
    rng = np.random.default_rng(seed)
    samples = int(seconds * 2000)
    signal = rng.normal(0, 1, (3, samples)).astype(np.float32)
    onsets = np.cumsum(rng.integers(300, 600, size=samples))
    onsets = onsets[onsets < samples - 400]
    keys = rng.integers(0, 3, size=len(onsets))
    for onset, key in zip(onsets, keys, strict=True):
        signal[key, onset : onset + 80] *= 20
    text = "".join("abc"[key] for key in keys)
    recording = from_array(signal, 2000.0, ["e1", "e2", "e3"], kind="emg", name=f"session {seed}")
    table = pd.DataFrame(
        {"id": [str(seed)], "subject": [str(seed)], "session": "1", "start": 0, "stop": samples}
    )
    events = pd.DataFrame({"onset_s": onsets / 2000, "duration_s": 0.0, "value": list(text)})
    nothing = np.empty((1, 3, 0), np.float32)
    made = Group(nothing, recording.channels, 2000.0, table, np.array([text], object), recording, events)
    return made, text


def test_frames_of_windows_join_to_the_text_that_was_typed():
    context = Context(kind="text", stream=TYPING)
    probe = EncoderProbe(MEANS).fit([typed(21, 1)[0], typed(9.5, 2)[0]], None, context)
    test, text = typed(15.3, 3)
    assert test.recording is not None
    said = drive(probe, test.recording, 0, test.recording.n_samples, TYPING, np.random.default_rng(0))
    assert said == text


def test_every_frame_is_judged_once():
    probe = EncoderProbe(MEANS).fit([typed(21, 1)[0]], None, Context(kind="text", stream=TYPING))
    seen = []
    probe.head_.predict = lambda rows: seen.append(len(rows)) or np.full(len(rows), 98)
    probe.start(StreamMeta(channel_table(["e1", "e2", "e3"], kind="emg"), 2000.0))
    for _ in range(3):
        probe.step(np.zeros((3, 10_000), np.float32))
    assert seen == [500, 500, 500]


def test_too_few_frames_are_refused():
    probe = EncoderProbe("transfer_encoders:FewFrames")
    with pytest.raises(NeuroarenaError, match="5 frames for 5 s of EMG; expected at least 25 per second"):
        probe.fit([typed(9, 1)[0]], None, Context(kind="text", stream=TYPING))
