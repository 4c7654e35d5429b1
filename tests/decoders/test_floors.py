"""Floors for every kind of prediction, for windows and for streams."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from neuroarena.decoders import Chance, Context, Dummy, Group, check_decoder, drive
from neuroarena.recordings import channel_table, from_array
from neuroarena.scoring import StreamRule

CHANNELS = channel_table(["Pz", "Oz"], kind="eeg")
TEXTS = np.array(["abc", "de", "abc", "f"], dtype=object)
NUMBERS = np.array([10.0, 20.0, 60.0, 70.0])
VECTORS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 2.0]], dtype=np.float32)
LAST = StreamRule(window_s=1, hop_s=1, answer="last", start_jitter_s=4)
JOINED = StreamRule(window_s=1, hop_s=0.5, answer="joined")


def group(targets: Any, n: int = 4) -> Group:
    table = pd.DataFrame({"id": [f"e{row}" for row in range(n)], "subject": "1", "session": "1"})
    table = table.assign(start=0, stop=200)
    return Group(np.zeros((n, 2, 0), dtype=np.float32), CHANNELS, 100.0, table, targets)


def fitted(decoder: Any, targets: Any, kind: Any, stream: StreamRule | None = None, seed: int = 0) -> Any:
    length = targets.shape[1] if targets.ndim == 2 else None
    context = Context((), (CHANNELS,), np.random.default_rng(seed), kind, length, stream)
    return decoder.fit([group(targets)], None, context)


def test_the_dummy_answers_with_what_is_usual() -> None:
    test = [group(None, 3)]
    assert fitted(Dummy(), NUMBERS, "number").predict(test).tolist() == [40.0] * 3
    assert fitted(Dummy(), VECTORS, "vector").predict(test).tolist() == [[1.0, 1.0]] * 3
    assert fitted(Dummy(), TEXTS, "text").predict(test) == ["abc"] * 3
    assert fitted(Dummy(), np.array(["b", "a"] * 2, dtype=object), "text").predict(test) == ["a"] * 3


def test_chance_answers_with_what_occurs() -> None:
    test = [group(None, 200)]
    assert set(fitted(Chance(), NUMBERS, "number").predict(test)) == set(NUMBERS)
    assert set(fitted(Chance(), TEXTS, "text").predict(test)) == set(TEXTS)
    vectors = fitted(Chance(), VECTORS, "vector").predict(test)
    assert vectors.shape == (200, 2)
    assert abs(vectors.mean()) < 0.2


@pytest.mark.parametrize("make", [Chance, Dummy])
@pytest.mark.parametrize("kind", ["probabilities", "label", "number", "vector"])
def test_the_floors_keep_the_contract_for_every_kind(make: Any, kind: Any) -> None:
    classes = ("a", "b", "c") if kind in ("probabilities", "label") else ()
    checks = check_decoder(make(), CHANNELS, 100.0, 50, classes, kind=kind, vector_length=5)
    assert [check for check in checks if not check.passed] == []


def stream(seed: int) -> Any:
    signal = np.random.default_rng(seed).standard_normal((2, 2000)).astype(np.float32)
    return from_array(signal, 100.0, CHANNELS)


def played(decoder: Any, rule: StreamRule, seed: int) -> Any:
    return drive(decoder, stream(seed), 0, 1000, rule, np.random.default_rng(seed))


def test_a_stream_of_numbers_is_answered_by_the_mean_and_by_random_numbers() -> None:
    # The start is moved by up to four seconds, so that answers count from two seconds before on average.
    dummy, chance = (fitted(each, NUMBERS, "number", LAST) for each in (Dummy(), Chance()))
    answers = [played(dummy, LAST, seed) for seed in range(100)]
    assert np.mean(answers) == pytest.approx(40.0, abs=0.3)
    guesses = [played(chance, LAST, seed) for seed in range(100)]
    nearest = {float(NUMBERS[np.abs(NUMBERS - guess).argmin()]) for guess in guesses}
    assert nearest == set(NUMBERS)


def test_a_stream_of_text_is_answered_by_nothing_and_by_random_letters() -> None:
    assert played(fitted(Dummy(), TEXTS, "text", JOINED), JOINED, 0) == ""
    # Nine letters in eight seconds of training: about eleven in ten seconds.
    said = [played(fitted(Chance(), TEXTS, "text", JOINED), JOINED, seed) for seed in range(100)]
    assert len(set(said)) > 50
    assert np.mean([len(text) for text in said]) == pytest.approx(11.25, abs=1.5)
    assert set("".join(said)) == set("abcdef")


def test_chance_gives_the_same_answer_for_the_same_seed_and_stream() -> None:
    one, two = (played(fitted(Chance(), TEXTS, "text", JOINED), JOINED, 5) for _ in range(2))
    assert one == two
    assert played(fitted(Chance(), TEXTS, "text", JOINED, seed=1), JOINED, 5) != one


def test_a_part_without_targets_is_refused() -> None:
    with pytest.raises(ValueError, match="no targets"):
        Dummy().fit([group(None)], None, Context(kind="number"))
