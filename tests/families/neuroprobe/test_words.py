from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.braintreebank import nonverbal_table, word_table

REAL = Path(__file__).resolve().parents[3].parent / "shared/data/neuroprobe/annotations"
TRIGGERS = pd.DataFrame({"movie_time": [0.0, 10.0, 20.0, 60.0], "index": [1000, 21480, 51960, 133880]})


def sentence(*tokens: str, text: str, start: float = 1.0) -> pd.DataFrame:
    starts = start + 0.5 * np.arange(len(tokens))
    return pd.DataFrame({"text": tokens, "sentence": text, "start": starts, "end": starts + 0.4, "rms": 1.0})


@pytest.mark.parametrize("session", ["1_1", "2_0", "3_0", "4_0", "4_1", "10_0"])
def test_the_published_silences_come_out_of_the_published_words(session: str) -> None:
    if not REAL.is_dir():
        pytest.skip("the published annotations are not beside the project")
    stem = "subject{}_trial{}".format(*session.split("_"))
    words = pd.read_csv(REAL / f"{stem}_words_df.csv")
    published = pd.read_csv(REAL / f"{stem}_nonverbal_df.csv")
    pd.testing.assert_frame_equal(nonverbal_table(words), published, check_exact=True)


def test_a_word_is_aligned_by_the_first_trigger_at_or_after_it_not_by_the_nearest() -> None:
    # At 10.5 s the trigger at 10 s is nearer, but the one at 20 s counts; it lies 10,000 samples off.
    words = word_table(sentence("now", text="now", start=10.5), TRIGGERS)
    assert words["est_idx"].tolist() == [51960 - 9.5 * 2048]
    assert words["est_end_idx"].tolist() == [np.rint(51960 - 9.1 * 2048)]


def test_halves_of_samples_are_rounded_to_even() -> None:
    half = 0.5 / 2048
    words = word_table(sentence("a", "b", text="a b", start=1.0 + half), TRIGGERS)
    assert words["est_idx"].tolist() == [3048.0, 4072.0]  # 3048.5 and 4072.5 go down to even
    words = word_table(sentence("a", text="a", start=1.0 + 3 * half), TRIGGERS)
    assert words["est_idx"].tolist() == [3050.0]  # 3049.5 goes up to even


def test_only_rows_of_the_type_trigger_count_where_there_are_types() -> None:
    typed = TRIGGERS.assign(type="trigger")
    noise = pd.DataFrame({"type": ["pause"], "movie_time": [1.0], "index": [99999]})
    mixed = pd.concat([typed, noise]).sort_values("movie_time")
    words = sentence("a", text="a")
    assert word_table(words, mixed).equals(word_table(words, TRIGGERS))
    with pytest.raises(InputError, match="trigger table is empty"):
        word_table(words, noise)


@pytest.mark.parametrize(
    ("tokens", "text", "kept"),
    [
        (("I", "do", "n't", "know"), "I don't know", ["I", "do", "know"]),
        (("well", "known"), "well-known", ["well"]),
        (("yes", "no"), "Yes, no.", ["yes", "no"]),
        (("a", "captain"), "a captain", ["a", "captain"]),
        (("the", "the"), "the the", ["the", "the"]),
        (("not", "there"), "something else", ["not", "there"]),
    ],
)
def test_a_token_without_a_space_before_it_is_a_suffix(
    tokens: tuple[str, ...], text: str, kept: list[str]
) -> None:
    features = sentence(*tokens, text=text)
    words = word_table(features, TRIGGERS)
    assert features.loc[words["original_index"], "text"].tolist() == kept
    assert len(word_table(features, TRIGGERS, drop_suffixes=False)) == len(tokens)


def test_a_token_that_shares_its_start_or_end_with_the_one_before_is_a_suffix() -> None:
    features = sentence("a", "b", "c", "d", text="a b c d")
    features.loc[1, "start"] = features.loc[0, "start"]
    features.loc[3, "end"] = features.loc[2, "end"]
    assert word_table(features, TRIGGERS)["original_index"].tolist() == [0, 2]
    kept = word_table(features, TRIGGERS, drop_suffixes=False, drop_duplicates=False)
    assert kept["original_index"].tolist() == [0, 1, 2, 3]


def test_later_words_with_a_start_or_end_seen_before_are_left_out() -> None:
    features = pd.concat([sentence("a", "b", text="a b"), sentence("c", "d", "e", text="c d e", start=3.0)])
    features = features.reset_index(drop=True)
    features.loc[3, "start"] = 1.0
    features.loc[4, "end"] = 1.4
    assert word_table(features, TRIGGERS)["original_index"].tolist() == [0, 1, 2]
    assert len(word_table(features, TRIGGERS, drop_duplicates=False)) == 5


def test_a_row_with_an_empty_cell_is_left_out_but_not_for_the_two_difference_columns() -> None:
    features = sentence("a", "b", "c", text="a b c").assign(word_diff=np.nan, onset_diff=np.nan)
    features.loc[1, "rms"] = np.nan
    assert word_table(features, TRIGGERS)["original_index"].tolist() == [0, 2]


def test_words_outside_the_recording_are_left_out() -> None:
    late = pd.DataFrame({"movie_time": [0.0, 10.0], "index": [-4096, 16384]})
    features = sentence("a", text="a", start=1.0)
    assert word_table(features, late).empty  # starts before the recording does
    features = sentence("b", "c", text="b c", start=8.5)
    # b ends at 8.9 s, more than 1 s before the last trigger; c ends at 9.4 s.
    assert word_table(features, late)["original_index"].tolist() == [0]


@given(
    st.lists(st.tuples(st.integers(0, 40_000), st.integers(100, 3000)), min_size=2, max_size=12),
    st.one_of(st.none(), st.integers(0, 200_000)),
)
def test_silent_windows_keep_their_distance_from_words(
    waits: list[tuple[int, int]], last: int | None
) -> None:
    start = np.cumsum([wait + length for wait, length in waits])
    end = start + [length for _, length in waits]
    words = pd.DataFrame({"est_idx": start.astype(float), "est_end_idx": end.astype(float)})
    expected = []
    for row in range(len(words) - 1):  # the rule, step by step
        at = end[row] + 4096
        while at + 2048 <= start[row + 1] - 6144 and (last is None or at + 2048 <= last):
            expected.append(at)
            at += 1024
    silent = nonverbal_table(words, last)
    assert silent["est_idx"].tolist() == expected
    assert (silent["est_end_idx"] - silent["est_idx"] == 2048).all()
    assert (silent["start"] * 2048 == silent["est_idx"]).all()
