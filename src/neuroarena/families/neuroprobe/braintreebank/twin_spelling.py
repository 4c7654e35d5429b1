"""How the made-up sentences of the simulated BrainTreebank are written, and the tokens that are no words of their own.

Real transcripts cut words into tokens: "captain's" is two rows, of which only the first is a word, while both parts of
"well-known" are words although no space stands between them. The twin has both, so that a reader which confuses
them is found out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

# What stands between a word and the one before it in its sentence, with its share.
JOINTS = {" ": 0.76, "-": 0.08, "... ": 0.08, ", ": 0.08}
SUFFIX = "'s"
SUFFIX_SHARE = 1 / 16
# Where the suffix begins within its word, as a share of the word's length; both end at the same time.
SUFFIX_FROM = 0.6


def choose_suffixed(place: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Choose the words that carry a suffix, bool (words,).

    Never the first word of a sentence (`place` 0): the second word keeps its place in the sentence, which a
    task asks for.
    """
    chosen: np.ndarray = (place > 0) & (rng.random(len(place)) < SUFFIX_SHARE)
    return chosen


def spell_sentences(
    text: np.ndarray, place: np.ndarray, suffixed: np.ndarray, rng: np.random.Generator
) -> list[str]:
    """Return the sentence of every word, as written.

    Parameters
    ----------
    text : str array (words,)
    place : int array (words,)
        Place of each word in its sentence, 0 for the first.
    suffixed : bool array (words,)
    rng : numpy.random.Generator
        Draws what stands between the words.
    """
    joints = rng.choice(list(JOINTS), len(text), p=list(JOINTS.values()))
    sentences: list[str] = []
    for word, joint, where, longer in zip(text, joints, place, suffixed, strict=True):
        if where == 0:
            sentences.append("")
        sentences[-1] += ("" if where == 0 else str(joint)) + str(word) + (SUFFIX if longer else "")
    # Sentences are told apart by their text, so two neighbours must never be identical.
    marked = [f"{line}{'.' if number % 2 else '!'}" for number, line in enumerate(sentences)]
    return [marked[number] for number in np.cumsum(place == 0) - 1]


def add_suffixes(table: pd.DataFrame, suffixed: np.ndarray) -> pd.DataFrame:
    """Return the table of words with a row for every suffix, numbered anew.

    A suffix has the sentence and most properties of its word, begins within it and ends with it.
    """
    suffixes = table[suffixed].copy()
    length = suffixes["end"] - suffixes["start"]
    suffixes["start"] += (SUFFIX_FROM * length).round(9)
    suffixes["word_length"] = suffixes["end"] - suffixes["start"]
    suffixes = suffixes.assign(
        text=SUFFIX, lemma=SUFFIX, pos="PART", deprel="case", is_onset=0, charecter_num=len(SUFFIX)
    )
    whole = pd.concat([table, suffixes]).sort_index(kind="stable").reset_index(drop=True)
    first = whole["is_onset"].to_numpy() == 1
    number = np.arange(len(whole))
    return whole.assign(
        idx_in_sentence=number - np.maximum.accumulate(np.where(first, number, 0)),
        word_idx=number,
        prev_word_idx=number - 1,
    )


def add_suffix_pitch(pitch: dict[str, dict[str, Any]], written: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Return the pitch table with an entry for every suffix, which sounds as its word does."""
    entries: dict[str, dict[str, Any]] = {}
    known: dict[str, Any] = {}
    for text, start, end in zip(written["text"], written["start"], written["end"], strict=True):
        key = repr(float(start))
        known = pitch.get(key, known)
        entries[key] = {**known, "word": text, "start": float(start), "end": float(end)}
    return entries
