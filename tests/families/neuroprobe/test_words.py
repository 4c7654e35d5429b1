from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.braintreebank import nonverbal_table, word_table
from neuroarena.families.neuroprobe.braintreebank.words import find_suffixes

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


def test_a_word_is_aligned_by_the_first_row_at_or_after_it_not_by_the_nearest() -> None:
    # At 10.5 s the row at 10 s is nearer, but the one at 20 s counts; it lies 10,000 samples off.
    words = word_table(sentence("now", text="now", start=10.5), TRIGGERS)
    assert words["est_idx"].tolist() == [51960 - 9.5 * 2048]
    assert words["est_end_idx"].tolist() == [np.rint(51960 - 9.1 * 2048)]


def test_halves_of_samples_are_rounded_to_even() -> None:
    half = 0.5 / 2048
    words = word_table(sentence("a", "b", text="a b", start=1.0 + half), TRIGGERS)
    assert words["est_idx"].tolist() == [3048.0, 4072.0]  # 3048.5 and 4072.5 go down to even
    words = word_table(sentence("a", text="a", start=1.0 + 3 * half), TRIGGERS)
    assert words["est_idx"].tolist() == [3050.0]  # 3049.5 goes up to even


def test_every_row_of_the_timings_counts_whatever_its_type() -> None:
    # Paused at 4 s for 3000 samples: the pause and the unpause are the first rows at or after the words near it.
    typed = pd.DataFrame(
        {
            "type": ["beginning", "trigger", "pause", "unpause", "trigger", "end"],
            "movie_time": [0.0, 3.0, 4.0, 4.0, 5.0, 60.0],
            "index": [1000, 7144, 9192, 12192, 14240, 126880],
        }
    )
    words = sentence("a", "b", text="a b", start=3.8)
    aligned = word_table(words, typed)
    # "a" begins before the pause and ends after it, so that it lasts 3000 samples longer than 0.4 s.
    assert aligned["est_idx"].tolist() == [np.rint(9192 - 0.2 * 2048), np.rint(14240 - 0.7 * 2048)]
    assert aligned["est_end_idx"].tolist() == [np.rint(14240 - 0.8 * 2048), np.rint(14240 - 0.3 * 2048)]
    assert aligned["est_end_idx"][0] - aligned["est_idx"][0] == pytest.approx(3000 + 0.4 * 2048, abs=1)
    only_triggers = word_table(words, typed[typed["type"] == "trigger"])
    assert only_triggers["est_idx"].tolist() != aligned["est_idx"].tolist()
    # A word that begins at the very moment of the pause belongs to the pause, not to what follows it.
    assert word_table(sentence("c", text="c", start=4.0), typed)["est_idx"].tolist() == [9192.0]


def test_the_end_of_the_film_is_a_row_too() -> None:
    ended = pd.DataFrame({"type": ["trigger", "end"], "movie_time": [0.0, 30.0], "index": [0, 61440]})
    assert word_table(sentence("a", text="a", start=20.0), ended)["est_idx"].tolist() == [40960.0]


def test_the_end_of_a_word_is_aligned_by_no_row_after_the_one_with_the_largest_index() -> None:
    # The index goes back once, at 10 s. The word ends at 7 s: by the row at 10 s that is sample 5356, by the row at
    # 5 s it is 16096, after the end of the recording.
    back = pd.DataFrame({"movie_time": [0.0, 5.0, 10.0], "index": [0, 12000, 11500]})
    words = sentence("a", "b", text="a b", start=2.0)
    words.loc[1, "end"] = 7.0
    aligned = word_table(words, back)
    assert aligned["original_index"].tolist() == [0]
    assert aligned["est_end_idx"].tolist() == [np.rint(12000 - 2.6 * 2048)]


def test_a_word_aligned_by_a_row_without_an_index_is_left_out() -> None:
    holed = TRIGGERS.assign(index=[1000, np.nan, 51960, 133880])
    features = pd.concat([sentence("a", text="a"), sentence("b", text="b", start=11.0)], ignore_index=True)
    assert word_table(features, holed)["original_index"].tolist() == [1]


@pytest.mark.parametrize(
    ("timings", "message"),
    [
        (TRIGGERS.iloc[:0], "has no rows"),
        (TRIGGERS.assign(movie_time=[0.0, np.nan, 20.0, 60.0]), '"movie_time" is empty in row 2'),
        (TRIGGERS.assign(index=[1.0, 2.0, 3.0, np.nan]), r'"index" is empty in the last row \(4\)'),
    ],
)
def test_timings_that_cannot_align_anything_are_refused(timings: pd.DataFrame, message: str) -> None:
    with pytest.raises(InputError, match=message):
        word_table(sentence("a", text="a"), timings)


@pytest.mark.parametrize(
    ("tokens", "text", "kept"),
    [
        (("I", "do", "n't", "know"), "I don't know", ["I", "do", "know"]),
        (("you", "ca", "n't"), "you can't", ["you", "ca"]),
        (("gon", "na", "go"), "gonna go", ["gon", "go"]),
        (("he", "'d", "'ve", "gone"), "he'd've gone", ["he", "gone"]),
        (("Middle", "earth"), "Middle-earth.", ["Middle", "earth"]),
        (("well", "known"), "well-known", ["well", "known"]),
        (("so", "what"), "so... what", ["so", "what"]),
        (("yes", "no"), "Yes, no.", ["yes", "no"]),
        (("a", "captain"), "a captain", ["a", "captain"]),
        (("the", "the"), "the the", ["the", "the"]),
        (("bye", "bye"), "byebye", ["bye"]),
        (("not", "there"), "something else", ["not", "there"]),
        # Letters must match: the sentence goes on with "N't".
        (("do", "n't"), "doN't", ["do", "n't"]),
        # "xyz" is not found and counts as ending at -1 + 3, where "llo" follows at once.
        (("xyz", "llo"), "hello", ["xyz"]),
        # Found where the token before ended: the second "na" of "na na" is a word, that of "gonna" is not.
        (("na", "na", "gon", "na"), "na na gonna", ["na", "na", "gon"]),
    ],
)
def test_a_token_that_the_sentence_goes_on_with_at_once_is_a_suffix(
    tokens: tuple[str, ...], text: str, kept: list[str]
) -> None:
    features = sentence(*tokens, text=text)
    words = word_table(features, TRIGGERS)
    assert features.loc[words["original_index"], "text"].tolist() == kept
    assert len(word_table(features, TRIGGERS, drop_suffixes=False)) == len(tokens)


def test_a_token_is_searched_for_from_the_start_of_a_new_sentence() -> None:
    features = pd.concat(
        [sentence("we", "go", text="we go"), sentence("go", "ne", text="gone", start=3.0)], ignore_index=True
    )
    assert word_table(features, TRIGGERS)["original_index"].tolist() == [0, 1, 2]


def test_a_token_without_text_is_passed_over_and_the_next_is_searched_for_from_the_start() -> None:
    features = sentence("can", "x", "ca", "n't", text="can can't")
    features.loc[1, "text"] = np.nan
    # After the empty token "ca" is found at 0, in "can", so that "n't" does not follow it at once.
    assert word_table(features, TRIGGERS)["original_index"].tolist() == [0, 2, 3]
    features.loc[1, "text"] = "x"
    assert word_table(features, TRIGGERS)["original_index"].tolist() == [0, 1, 2]


def test_a_suffix_is_found_before_rows_with_empty_cells_are_left_out() -> None:
    features = sentence("ca", "n't", "go", text="can't go")
    features.loc[0, "rms"] = np.nan
    assert word_table(features, TRIGGERS)["original_index"].tolist() == [2]


def test_a_token_that_shares_its_start_or_end_with_the_one_before_is_a_suffix() -> None:
    features = sentence("a", "b", "c", "d", text="a b c d")
    features.loc[1, "start"] = features.loc[0, "start"]
    features.loc[3, "end"] = features.loc[2, "end"]
    assert find_suffixes(features).tolist() == [False, True, False, True]
    assert word_table(features, TRIGGERS)["original_index"].tolist() == [0, 2]
    # Where the sentence ends with the token before, nothing can continue it.
    features["sentence"] = ["a", "b", "c", "d"]
    assert not find_suffixes(features).any()
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
