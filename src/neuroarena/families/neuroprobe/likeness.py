"""Statistics of what is heard, for comparing simulated films with real ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from neuroarena.datasets.likeness import describe_spread

_RATE_HZ = 2048


def describe_words(sessions: Sequence[tuple[pd.DataFrame, int]]) -> dict[str, str]:
    """Describe the words of some sessions: word tables, each with the number of its windows without speech."""
    lengths, gaps, rates, minutes, quiet, counts = [], [], [], [], [], []
    for words, windows in sessions:
        start, end = (
            words[name].to_numpy(dtype=np.float64) / _RATE_HZ for name in ("est_idx", "est_end_idx")
        )
        hours = (end[-1] - start[0]) / 3600
        lengths.append((words["end"] - words["start"]).to_numpy())
        gaps.append(start[1:] - end[:-1])
        counts.append(len(words))
        minutes.append(60 * hours)
        rates.append(len(words) / (60 * hours))
        quiet.append(windows / hours)
    gap = np.concatenate(gaps)
    return {
        "sessions": str(len(sessions)),
        "words per session": describe_spread(counts, 0),
        "minutes from the first word to the last": describe_spread(minutes, 0),
        "words per minute": describe_spread(rates, 0),
        "length of a word (s)": describe_spread(np.concatenate(lengths)),
        "from the end of a word to the next (s)": describe_spread(gap),
        "share of words that follow at once (below 0.05 s)": f"{np.mean(gap < 0.05):.2f}",
        "share of words after a pause of 1 s or more": f"{np.mean(gap >= 1):.2f}",
        "windows without speech per hour": describe_spread(quiet, 0),
    }


def describe_sounds(films: Sequence[pd.DataFrame]) -> dict[str, str]:
    """Describe the pitch and the loudness of words: tables with enhanced_pitch and enhanced_volume."""
    sounds = pd.concat(films, ignore_index=True)
    pitch, loud = (sounds[name].to_numpy(dtype=np.float64) for name in ("enhanced_pitch", "enhanced_volume"))
    known = np.isfinite(pitch) & np.isfinite(loud) & (loud > 0)
    change = np.concatenate([np.diff(film["enhanced_pitch"].to_numpy(dtype=np.float64)) for film in films])
    return {
        "films with pitch": str(len(films)),
        "pitch of a word (Hz)": describe_spread(pitch[known], 0),
        "change of pitch from word to word (Hz, absolute)": describe_spread(
            np.abs(change[np.isfinite(change)]), 0
        ),
        "loudness of a word": describe_spread(loud[known], 3),
        "correlation of pitch and loudness": f"{np.corrcoef(pitch[known], loud[known])[0, 1]:+.2f}",
    }
