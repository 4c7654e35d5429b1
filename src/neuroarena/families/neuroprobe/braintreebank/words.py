"""From film time to samples: when each word was heard, and when nobody spoke."""

from __future__ import annotations

import numpy as np
import pandas as pd

from neuroarena.errors import InputError

RATE_HZ = 2048
WINDOW = RATE_HZ
AFTER_WORD = 2 * RATE_HZ
BEFORE_WORD = 3 * RATE_HZ
STEP = RATE_HZ // 2


def word_table(
    features: pd.DataFrame,
    triggers: pd.DataFrame,
    *,
    drop_suffixes: bool = True,
    drop_duplicates: bool = True,
) -> pd.DataFrame:
    """Align the words of a film with the samples of a recording.

    Parameters
    ----------
    features : DataFrame
        The words in transcript order: text, sentence, start, end (film seconds) and more; a row with an
        empty cell in any column but word_diff and onset_diff is left out.
    triggers : DataFrame
        movie_time (film seconds) and index (samples); where there is a column "type", only the rows
        "trigger" count.
    drop_suffixes : bool
        Leave out tokens that continue the token before ("n't"): no space between them in the sentence, or
        the same start or end time. The first definition of the benchmark (2025.07) keeps them.
    drop_duplicates : bool
        Leave out words whose start, then whose end, occurred before; 2025.07 keeps them.

    Returns
    -------
    DataFrame
        original_index (row label in `features`), est_idx and est_end_idx (samples, float), start and
        end (film seconds); transcript order.

    Raises
    ------
    InputError
        When there is no usable trigger.

    Examples
    --------
    >>> words = pd.DataFrame({"text": ["hi", "you"], "sentence": ["hi you"] * 2, "start": [1.0, 2.0],
    ...                       "end": [1.5, 2.5]})
    >>> triggers = pd.DataFrame({"movie_time": [0.0, 60.0], "index": [4096, 126976]})
    >>> word_table(words, triggers)["est_idx"].tolist()
    [6144.0, 8192.0]
    """
    table = _usable(features, drop_suffixes, drop_duplicates)
    times, samples = _trigger_arrays(triggers)
    table = table[table["start"].to_numpy(dtype=float) < times[-1]]
    start = table["start"].to_numpy(dtype=float)
    end = table["end"].to_numpy(dtype=float)
    words = pd.DataFrame(
        {
            "original_index": table.index.to_numpy(),
            "est_idx": _to_samples(start, times, samples),
            "est_end_idx": _to_samples(end, times, samples),
            "start": start,
            "end": end,
        }
    )
    inside = (words["est_idx"] >= 0) & (words["est_end_idx"] <= samples[-1] - WINDOW)
    kept: pd.DataFrame = words[inside].reset_index(drop=True)
    return kept


def _usable(features: pd.DataFrame, drop_suffixes: bool, drop_duplicates: bool) -> pd.DataFrame:
    table = features.drop(columns=["word_diff", "onset_diff"], errors="ignore")
    if drop_suffixes:
        table = table[~_suffixes(table)]
    table = table.dropna()
    if drop_duplicates:
        table = table[~table["start"].duplicated()]
        table = table[~table["end"].duplicated()]
    return table


def trigger_rows(triggers: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows of a trigger table that are triggers and have both time and sample."""
    if "type" in triggers.columns:
        triggers = triggers[triggers["type"] == "trigger"]
    return triggers.dropna(subset=["movie_time", "index"])


def _trigger_arrays(triggers: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    rows = trigger_rows(triggers)
    if rows.empty:
        raise InputError("The trigger table is empty, so words cannot be aligned with the recording.")
    return rows["movie_time"].to_numpy(dtype=float), rows["index"].to_numpy(dtype=float)


def _to_samples(seconds: np.ndarray, times: np.ndarray, samples: np.ndarray) -> np.ndarray:
    # The first trigger at or after the moment, not the nearest one: this is how the tables were made.
    following = np.minimum(np.searchsorted(times, seconds, side="left"), len(times) - 1)
    aligned: np.ndarray = np.rint(samples[following] + (seconds - times[following]) * RATE_HZ)
    return aligned


def _suffixes(table: pd.DataFrame) -> np.ndarray:
    """Mark the tokens that continue the token of the row before, bool (rows,)."""
    suffix = np.zeros(len(table), dtype=bool)
    if len(table) < 2:
        return suffix
    same_time = [
        table[column].to_numpy(dtype=float)[1:] == table[column].to_numpy(dtype=float)[:-1]
        for column in ("start", "end")
    ]
    suffix[1:] = same_time[0] | same_time[1] | _glued(table)[1:]
    return suffix


def _glued(table: pd.DataFrame) -> np.ndarray:
    """Mark the tokens that follow the row before without a space in the text of their common sentence."""
    glued = np.zeros(len(table), dtype=bool)
    texts = table["text"].fillna("").astype(str).str.lower().to_numpy()
    sentences = table["sentence"].fillna("").astype(str).str.lower().to_numpy()
    opens = (
        table["idx_in_sentence"].to_numpy() == 0
        if "idx_in_sentence" in table.columns
        else np.zeros(len(table), dtype=bool)
    )
    cursor: int | None = None
    for row, (text, sentence) in enumerate(zip(texts, sentences, strict=True)):
        same = row > 0 and sentence == sentences[row - 1] and not opens[row]
        before = cursor if same else None
        found = sentence.find(text, before or 0) if text else -1
        if found < 0:
            cursor = before
            continue
        glued[row] = before is not None and not any(letter.isspace() for letter in sentence[before:found])
        cursor = found + len(text)
    return glued


def nonverbal_table(words: pd.DataFrame, last_trigger_index: float | None = None) -> pd.DataFrame:
    """List the windows of one second in which nobody spoke.

    A window starts at least 2 s after the end of a word and ends at least 3 s before the start of the
    next row's word; windows of one silence start half a second apart.

    Parameters
    ----------
    words : DataFrame
        A word table; est_idx and est_end_idx are used, in row order.
    last_trigger_index : float, optional
        No window ends after this sample.

    Returns
    -------
    DataFrame
        start and end (seconds of the recording), est_idx and est_end_idx (samples, int64).

    Examples
    --------
    >>> words = pd.DataFrame({"est_idx": [0.0, 20480.0], "est_end_idx": [1024.0, 21504.0]})
    >>> nonverbal_table(words)["est_idx"].tolist()
    [5120, 6144, 7168, 8192, 9216, 10240, 11264, 12288]
    """
    first = words["est_end_idx"].to_numpy(dtype=np.int64)[:-1] + AFTER_WORD
    last = words["est_idx"].to_numpy(dtype=np.int64)[1:] - BEFORE_WORD - WINDOW
    if last_trigger_index is not None:
        last = np.minimum(last, int(last_trigger_index) - WINDOW)
    counts = np.maximum(0, (last - first) // STEP + 1)
    number = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    begin = np.repeat(first, counts) + STEP * number
    end = begin + WINDOW
    return pd.DataFrame(
        {"start": begin / RATE_HZ, "end": end / RATE_HZ, "est_idx": begin, "est_end_idx": end}
    )
