"""Made-up transcripts for the simulated BrainTreebank: when words are spoken and what they are like.

Time is cut into slots of half a second; every word starts on a slot. Lengths, steps and all other
properties of words are drawn independently of each other and of a word's position in its sentence:
this is what makes the best possible score of every task known (see
:mod:`neuroarena.families.neuroprobe.braintreebank.twin_signal`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.families.neuroprobe.braintreebank import twin_spelling as spelling

SLOT_S = 0.5
WINDOW_SLOTS = 2
LEAD_IN_SLOTS = 4
CLOSING_SLOTS = 4
SILENCE_SLOTS = 44
WORDS_A_SENTENCE = 5
# One word in eight waits two slots after the previous word of its sentence, all others one.
LONG_STEP_SHARE = 0.125

# A non-verbal window starts 2 s after a word's end and ends 3 s before the next word. A word before a
# silence ends one slot after its start, so n slots from its start to the next hold n - 12 windows.
SILENCE_COST_SLOTS = 12

VOCABULARY: dict[str, tuple[str, ...]] = {
    "NOUN": ("captain", "river", "engine", "garden", "letter", "signal", "mountain", "window", "planet"),
    "VERB": ("runs", "finds", "opens", "follows", "builds", "remembers", "carries", "leaves", "hears"),
    "PRON": ("she", "he", "they", "it", "you", "we"),
    "DET": ("the", "a", "this", "every", "some"),
    "ADJ": ("quiet", "bright", "old", "heavy", "strange", "small"),
    "ADV": ("slowly", "never", "again", "quickly", "still", "almost"),
}
POS_SHARES = {"NOUN": 0.24, "VERB": 0.24, "PRON": 0.16, "DET": 0.14, "ADJ": 0.11, "ADV": 0.11}
DEPENDENCIES = {"NOUN": "obj", "VERB": "root", "PRON": "nsubj", "DET": "det", "ADJ": "amod", "ADV": "advmod"}


@dataclass(frozen=True)
class Transcript:
    """The words of one film.

    Attributes
    ----------
    movie : str
        The film's id.
    n_slots : int
        Length of the film in slots.
    table : DataFrame
        The words with their properties, one row each; features.csv has rows for suffixes too.
    pitch : dict
        Pitch and volume of the words, by their start.
    slots : int array (words,)
        Slot of the film in which each word starts.
    first : bool array (words,)
        Whether the word opens a sentence.
    steps : int array (words,)
        Slots since the previous word of the sentence; 0 for the first word.
    silences : int array
        Rows of the words that are followed by a long silence.
    suffixed : bool array (words,)
        Whether the word is written with a suffix.
    """

    movie: str
    n_slots: int
    table: pd.DataFrame
    pitch: dict[str, dict[str, Any]]
    slots: np.ndarray
    first: np.ndarray
    steps: np.ndarray
    silences: np.ndarray
    suffixed: np.ndarray

    def written_features(self) -> pd.DataFrame:
        """Return what features.csv holds: a row for every word and for every suffix."""
        return spelling.add_suffixes(self.table, self.suffixed)

    def written_pitch(self) -> dict[str, dict[str, Any]]:
        """Return what the pitch and volume file holds."""
        return spelling.add_suffix_pitch(self.pitch, self.written_features())


def sentence_count(n_slots: int) -> int:
    """Count the sentences that fit into a film of `n_slots` slots, long silences included."""
    count = 0
    while slots_needed(count + 1) <= n_slots:
        count += 1
    return count


def silence_count(n_sentences: int) -> int:
    """Count the long silences: enough for 1.4 non-verbal windows per sentence, and never just one."""
    return max(2, math.ceil(1.4 * n_sentences / (SILENCE_SLOTS - SILENCE_COST_SLOTS)))


def slots_needed(n_sentences: int) -> int:
    """Return the length of the shortest film that holds `n_sentences` sentences, in slots."""
    steps = n_sentences * (WORDS_A_SENTENCE - 1) + _long_steps(n_sentences)
    tails = WINDOW_SLOTS * n_sentences + (SILENCE_SLOTS - WINDOW_SLOTS) * silence_count(n_sentences)
    return LEAD_IN_SLOTS + steps + tails + CLOSING_SLOTS


def _long_steps(n_sentences: int) -> int:
    return int(LONG_STEP_SHARE * n_sentences * (WORDS_A_SENTENCE - 1))


def write_transcript(movie: str, n_slots: int, rng: np.random.Generator) -> Transcript:
    """Make up the words of a film of `n_slots` slots.

    Parameters
    ----------
    movie : str
        The film's id.
    n_slots : int
        Length of the film in slots of 0.5 s.
    rng : numpy.random.Generator
        Source of randomness.
    """
    # How sentences are written has its own chance, so that it can change without the words.
    (writing,) = rng.spawn(1)
    slots, first, steps, silences = _place_words(n_slots, rng)
    place = np.arange(len(first)) - np.maximum.accumulate(np.where(first, np.arange(len(first)), 0))
    suffixed = spelling.choose_suffixed(place, writing)
    table = _features(slots, first, silences, rng)
    table["sentence"] = spelling.spell_sentences(table["text"].to_numpy(), place, suffixed, writing)
    return Transcript(movie, n_slots, table, _pitch(table, rng), slots, first, steps, silences, suffixed)


def _place_words(
    n_slots: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    n_sentences = sentence_count(n_slots)
    lengths = np.full(n_sentences, WORDS_A_SENTENCE)
    offsets = np.arange(-2, 3)
    whole = n_sentences - n_sentences % len(offsets)
    lengths[:whole] += np.tile(offsets, whole // len(offsets))
    rng.shuffle(lengths)

    begins = np.cumsum(lengths) - lengths
    first = np.zeros(lengths.sum(), dtype=bool)
    first[begins] = True
    steps = np.zeros(len(first), dtype=np.int64)
    steps[~first] = 1
    steps[rng.choice(np.flatnonzero(~first), _long_steps(n_sentences), replace=False)] = 2

    n_silences = silence_count(n_sentences)
    spread = (np.arange(n_silences) + rng.uniform(0.2, 0.8, n_silences)) * (n_sentences - 1) / n_silences
    tails = np.full(n_sentences, WINDOW_SLOTS)
    tails[spread.astype(int)] = SILENCE_SLOTS
    # The remainder lengthens the pauses between sentences, one slot at a time.
    spare = n_slots - slots_needed(n_sentences)
    tails += rng.permutation(np.bincount(np.arange(spare) % n_sentences, minlength=n_sentences))

    waits = steps.copy()
    waits[begins[1:]] = tails[:-1]
    waits[0] = LEAD_IN_SLOTS
    last = np.append(begins[1:], len(first)) - 1
    return np.cumsum(waits), first, steps, last[spread.astype(int)]


def _features(
    slots: np.ndarray, first: np.ndarray, silences: np.ndarray, rng: np.random.Generator
) -> pd.DataFrame:
    """Draw the columns that tasks read and add the others; columns in alphabetical order."""
    n = len(slots)
    start = slots * SLOT_S
    length = rng.uniform(0.08, 0.46, n).round(9)
    # The word before a silence fills its slot, so that the windows counted from its end stay on slots.
    length[silences] = SLOT_S
    sentence_idx = np.cumsum(first) - 1
    pos = rng.permutation(np.repeat(list(POS_SHARES), _shares(n, list(POS_SHARES.values()))))
    text = np.array([str(rng.choice(VOCABULARY[tag])) for tag in pos])
    read = {
        "text": text,
        "sentence": "",
        "start": start,
        "end": start + length,
        "word_length": length,
        "idx_in_sentence": np.arange(n) - np.flatnonzero(first)[sentence_idx],
        "is_onset": first.astype(int),
        "pos": pos,
        "bin_head": rng.permutation(np.repeat([0, 1], _shares(n, [0.5, 0.5]))),
        "face_num": rng.permutation(np.repeat([0, 1, 2, 3], _shares(n, [0.5, 0.25, 0.15, 0.1]))),
        "rms": rng.lognormal(-3.0, 0.6, n),
        "delta_rms": rng.normal(0, 0.02, n),
        "gpt2_surprisal": rng.gamma(2.0, 3.0, n),
        "max_global_magnitude": rng.gamma(2.0, 1.5, n),
        "max_vector_magnitude": rng.gamma(2.0, 6.0, n),
        "mean_pixel_brightness": rng.uniform(10, 160, n),
    }
    between = np.diff(start, prepend=np.nan)
    table = pd.DataFrame(read | _unread_columns(text, pos, rng)).assign(
        sentence_idx=sentence_idx,
        word_idx=np.arange(n),
        prev_word_idx=np.arange(n) - 1,
        word_diff=between,
        onset_diff=np.where(first, between, np.nan),
    )
    return table[sorted(table.columns)]


def _unread_columns(text: np.ndarray, pos: np.ndarray, rng: np.random.Generator) -> dict[str, Any]:
    """Draw the columns that real files have and no task of the current definition reads."""
    n = len(text)
    return {
        "charecter_num": [len(word) for word in text],
        "phoneme_num": [max(1, len(word) - 1) for word in text],
        "syllable_num": [max(1, len(word) // 3) for word in text],
        "lemma": [word.rstrip("s") if tag == "VERB" else word for word, tag in zip(text, pos, strict=True)],
        "deprel": [DEPENDENCIES[tag] for tag in pos],
        "head": rng.integers(0, WORDS_A_SENTENCE, n),
        "speaker": rng.choice(["ada", "ben", "cleo"], n),
        "pitch": rng.normal(190, 40, n),
        "delta_pitch": rng.normal(0, 30, n),
        "mel": rng.normal(-40, 8, n),
        "delta_mel": rng.normal(0, 3, n),
        "magnitude": rng.gamma(2.0, 0.5, n),
        "delta_magnitude": rng.normal(0, 0.4, n),
        "max_global_angle": rng.uniform(0, 360, n),
        "max_vector_angle": rng.uniform(0, 360, n),
        "max_mean_magnitude": rng.gamma(2.0, 1.0, n),
        "max_median_magnitude": rng.gamma(2.0, 0.7, n),
        "max_mean_pixel_brightness": rng.uniform(90, 200, n),
        "min_mean_pixel_brightness": rng.uniform(0, 10, n),
        "max_mean_pixel_difference": rng.gamma(2.0, 4.0, n),
        "min_mean_pixel_difference": rng.gamma(2.0, 0.5, n),
    }


def _shares(n: int, shares: list[float]) -> np.ndarray:
    """Cut `n` into whole parts near the given shares; the first part takes what is left over."""
    parts: np.ndarray = np.floor(np.asarray(shares) * n).astype(int)
    parts[0] += n - parts.sum()
    return parts


def _pitch(table: pd.DataFrame, rng: np.random.Generator) -> dict[str, dict[str, Any]]:
    n = len(table)
    levels = {
        "enhanced_pitch": rng.normal(220, 60, n),
        "enhanced_volume": rng.lognormal(-2.0, 0.5, n),
        "raw_pitch": rng.normal(240, 60, n),
        "raw_volume": rng.lognormal(-1.5, 0.5, n),
    }
    levels.update({f"delta_{name}": np.diff(values, prepend=0.0) for name, values in levels.items()})
    return {
        repr(float(start)): {"word": word, "start": float(start), "end": float(end)}
        | {name: float(values[row]) for name, values in levels.items()}
        for row, (word, start, end) in enumerate(
            zip(table["text"], table["start"], table["end"], strict=True)
        )
    }


def word_scores(transcript: Transcript) -> dict[str, np.ndarray]:
    """Return each word's position between the two classes of every word-property task.

    Returns
    -------
    dict of str to float array (words,)
        +0.5 in class 1, -0.5 in class 0, between them for words that the task leaves out;
        NaN where the task has no value (the gap before a sentence's first word).
    """
    table = transcript.table
    scores = {task: _between_quarters(values) for task, values in ranked_values(transcript).items()}
    inner = ~transcript.first
    gaps = table["start"].to_numpy()[1:] - table["end"].to_numpy()[:-1]
    scores["word_gap"] = np.full(len(table), np.nan)
    scores["word_gap"][inner] = _between_quarters(gaps[inner[1:]])
    scores["face_num"] = np.where(table["face_num"] > 0, 0.5, -0.5)
    scores["word_head_pos"] = np.where(table["bin_head"] == 0, 0.5, -0.5)
    scores["word_part_speech"] = np.select([table["pos"] == "VERB", table["pos"] == "NOUN"], [0.5, -0.5], 0.0)
    return scores


def ranked_values(transcript: Transcript) -> dict[str, np.ndarray]:
    """Return the value of every word for each task that ranks all words, float (words,)."""
    table = transcript.table
    values = {
        "volume": table["rms"],
        "delta_volume": table["delta_rms"],
        "pitch": [entry["enhanced_pitch"] for entry in transcript.pitch.values()],
        "gpt2_surprisal": table["gpt2_surprisal"],
        "word_length": table["word_length"],
        "global_flow": table["max_global_magnitude"],
        "local_flow": table["max_vector_magnitude"],
        "frame_brightness": table["mean_pixel_brightness"],
    }
    return {task: np.asarray(column, dtype=float) for task, column in values.items()}


def _share_below(values: np.ndarray) -> np.ndarray:
    below = np.searchsorted(np.sort(values), values, side="left")
    return np.asarray(below / len(values))


def _between_quarters(values: np.ndarray) -> np.ndarray:
    """Rank among all words; +0.5 above the upper quarter, -0.5 below the lower, a line between."""
    return np.asarray(np.clip(2 * _share_below(values) - 1, -0.5, 0.5))


def item_counts(transcript: Transcript) -> dict[str, int]:
    """Count the items of every binary task: twice the smaller class, at most 3500.

    A scalar task takes the words strictly above the upper and below the lower quarter; word_gap takes
    the upper quarter whole.
    """
    table, first = transcript.table, transcript.first
    n_inner = int((~first).sum())
    words, pos = len(table), table["pos"].value_counts()
    steps = np.diff(transcript.slots)
    non_verbal = int(np.maximum(0, steps[transcript.silences] - SILENCE_COST_SLOTS).sum())
    smaller = {
        "onset": min(int(first.sum()), non_verbal),
        "speech": min(words, non_verbal),
        "word_index": int(first.sum()),
        "word_gap": min(-(-n_inner // 4), n_inner - -(-3 * n_inner // 4)),
        "word_head_pos": int(table["bin_head"].value_counts().min()),
        "word_part_speech": int(min(pos["VERB"], pos["NOUN"])),
        "face_num": int(min((table["face_num"] > 0).sum(), (table["face_num"] == 0).sum())),
    }
    for task, values in ranked_values(transcript).items():
        share_below = _share_below(values)
        smaller[task] = int(min((share_below > 0.75).sum(), (share_below < 0.25).sum()))
    return {task: min(2 * count, 3500) for task, count in sorted(smaller.items())}
