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
    timings: pd.DataFrame,
    *,
    drop_suffixes: bool = True,
    drop_duplicates: bool = True,
) -> pd.DataFrame:
    """Align the words of a film with the samples of a recording, as the published tables were made.

    Parameters
    ----------
    features : DataFrame
        The words in transcript order: text, sentence, start, end (film seconds) and more; a row with an
        empty cell in any column but word_diff and onset_diff is left out.
    timings : DataFrame
        movie_time (film seconds) and index (samples). Every row counts, whatever its type: a moment is
        aligned by the first row at or after it, be that a trigger, a pause or the end.
    drop_suffixes : bool
        Leave out tokens that continue the token before (see :func:`find_suffixes`). The first definition of
        the benchmark (2025.07) keeps them.
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
        When the timings cannot align anything: no rows, a row without a time, a last row without an index.

    Examples
    --------
    >>> words = pd.DataFrame({"text": ["hi", "you"], "sentence": ["hi you"] * 2, "start": [1.0, 2.0],
    ...                       "end": [1.5, 2.5]})
    >>> timings = pd.DataFrame({"movie_time": [0.0, 60.0], "index": [4096, 126976]})
    >>> word_table(words, timings)["est_idx"].tolist()
    [6144.0, 8192.0]
    """
    check_timings(timings)
    times, samples = (timings[column].to_numpy(dtype=float) for column in ("movie_time", "index"))
    table = _usable(features, drop_suffixes, drop_duplicates)
    table = table[table["start"].to_numpy(dtype=float) < times[-1]]
    start = table["start"].to_numpy(dtype=float)
    end = table["end"].to_numpy(dtype=float)
    # A word may end after the last row; it is then aligned by the row with the largest index.
    last = int(np.nanargmax(samples))
    words = pd.DataFrame(
        {
            "original_index": table.index.to_numpy(),
            "est_idx": _to_samples(start, times, samples, len(times) - 1),
            "est_end_idx": _to_samples(end, times, samples, last),
            "start": start,
            "end": end,
        }
    )
    # A word aligned by a row without an index has no sample, and no comparison with NaN is true.
    inside = (words["est_idx"] >= 0) & (words["est_end_idx"] <= samples[-1] - WINDOW)
    kept: pd.DataFrame = words[inside].reset_index(drop=True)
    return kept


def check_timings(timings: pd.DataFrame, name: str = "The timings table") -> None:
    """Refuse a table of timings that cannot align words with a recording.

    Raises
    ------
    InputError
        For a table without rows, a row without movie_time, or a last row without an index; `name` is the
        subject of the message.
    """
    if timings.empty:
        raise InputError(f"{name}: has no rows, so words cannot be aligned with the recording.")
    untimed = np.flatnonzero(timings["movie_time"].isna().to_numpy())
    if len(untimed):
        raise InputError(
            f'{name}: "movie_time" is empty in row {untimed[0] + 1}, so the rows cannot be searched by time. '
            "Fetch the file again, or use the published word tables."
        )
    if np.isnan(float(timings["index"].iloc[-1])):
        raise InputError(
            f'{name}: "index" is empty in the last row ({len(timings)}), which says where the recording ends. '
            "Fetch the file again, or use the published word tables."
        )


def _usable(features: pd.DataFrame, drop_suffixes: bool, drop_duplicates: bool) -> pd.DataFrame:
    table = features.drop(columns=["word_diff", "onset_diff"], errors="ignore")
    if drop_suffixes:
        table = table[~find_suffixes(table)]
    table = table.dropna()
    if drop_duplicates:
        table = table[~table["start"].duplicated()]
        table = table[~table["end"].duplicated()]
    return table


def _to_samples(seconds: np.ndarray, times: np.ndarray, samples: np.ndarray, last: int) -> np.ndarray:
    # The first row at or after the moment, not the nearest one: this is how the tables were made.
    following = np.minimum(np.searchsorted(times, seconds, side="left"), last)
    aligned: np.ndarray = np.rint(samples[following] + (seconds - times[following]) * RATE_HZ)
    return aligned


def find_suffixes(tokens: pd.DataFrame) -> np.ndarray:
    """Mark the tokens that continue the token before, as "n't" continues "ca".

    A token is a suffix when its sentence goes on after the token before and either goes on with the suffix at
    once, without any character between, or the two tokens share their start or their end. Both parts of
    "well-known" and of "so... what" are words: a hyphen or dots stand between.

    Parameters
    ----------
    tokens : DataFrame
        text, sentence, start and end of every token, in transcript order, before any row is left out.

    Returns
    -------
    bool array (tokens,)

    Examples
    --------
    >>> said = {"text": ["ca", "n't", "well", "known"], "sentence": ["can't"] * 2 + ["well-known"] * 2}
    >>> find_suffixes(pd.DataFrame({**said, "start": [1, 2, 3, 4], "end": [2, 3, 4, 5]})).tolist()
    [False, True, False, False]
    """
    texts, sentences = tokens["text"].tolist(), tokens["sentence"].tolist()
    same_time = np.zeros(len(tokens), dtype=bool)
    for column in ("start", "end"):
        moments = tokens[column].to_numpy(dtype=float)
        same_time[1:] |= moments[1:] == moments[:-1]
    suffix = np.zeros(len(tokens), dtype=bool)
    end = 0
    for row, (text, sentence) in enumerate(zip(texts, sentences, strict=True)):
        begin = end if row > 0 and sentence == sentences[row - 1] else 0
        end = 0  # a token without text leaves nothing to search from
        if not isinstance(text, str) or not text or not isinstance(sentence, str):
            continue
        # A text that is not found counts as found one character before the search began, as published.
        end = begin + sentence[begin:].find(text) + len(text)
        if row + 1 < len(texts) and isinstance(texts[row + 1], str) and end < len(sentence):
            suffix[row + 1] = same_time[row + 1] or sentence[end:].startswith(texts[row + 1])
    return suffix


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
