"""Stretches that annotations mark as bad: windows that overlap one are left out, as MNE-Python does."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from neuroarena.benchmarks.own.pieces import Piece

# Where annotations say what they are: files and objects of MNE-Python, then BIDS.
_COLUMNS = ("description", "trial_type", "value")
# What MNE-Python never takes for an event; a seam between two recordings rejects nothing by itself.
_MARKS = ("bad", "edge")
_REJECTING = "bad"


def without_marks(piece: Piece, kept: Collection[str] = ()) -> Piece:
    """Return a piece without those of its events that mark a stretch, where its events are annotations.

    Parameters
    ----------
    piece : Piece
    kept : collection of str
        Values that are events after all, because somebody decodes them.
    """
    if not piece.annotated:
        return piece
    said = _descriptions(piece.events)
    events = piece.events[~said.str.lower().str.startswith(_MARKS) | said.isin(list(kept))]
    return replace(piece, events=events.reset_index(drop=True))


def hint_at_marks(pieces: Sequence[Piece], kept: Collection[str] = ()) -> str:
    """Return a sentence, for messages, that names events which :func:`without_marks` leaves out; "" where none is."""
    said = pd.concat(
        [_descriptions(piece.events) for piece in pieces if piece.annotated] or [pd.Series(dtype=str)]
    )
    marks = said[said.str.lower().str.startswith(_MARKS) & ~said.isin(list(kept))].unique()
    if not len(marks):
        return ""
    return (
        f" Events called {', '.join(marks[:4])} mark stretches; to decode them, list them in the key classes."
    )


def bad_stretches(piece: Piece, kept: Collection[str] = ()) -> pd.DataFrame:
    """List the stretches of a recording that its annotations mark as bad.

    Parameters
    ----------
    piece : Piece
    kept : collection of str
        Values that are events after all.

    Returns
    -------
    DataFrame
        begin_s and end_s, in seconds from the first sample, and description.
    """
    found = piece.annotations()
    said = _descriptions(found)
    marked = said.str.lower().str.startswith(_REJECTING) & ~said.isin(list(kept))
    begin = found.loc[marked, "onset_s"].to_numpy(dtype=np.float64)
    lasting = np.nan_to_num(found.loc[marked, "duration_s"].to_numpy(dtype=np.float64))
    return pd.DataFrame({"begin_s": begin, "end_s": begin + lasting, "description": said[marked].to_numpy()})


def find_overlaps(begin_s: np.ndarray, end_s: np.ndarray, stretches: pd.DataFrame) -> np.ndarray:
    """Return the description of a bad stretch that each window overlaps, and None for windows that overlap none.

    Parameters
    ----------
    begin_s, end_s : array (n,)
        Windows, in seconds from the first sample.
    stretches : DataFrame
        As :func:`bad_stretches` lists them.

    Examples
    --------
    >>> blink = pd.DataFrame({"begin_s": [1.0], "end_s": [1.5], "description": ["BAD_blink"]})
    >>> find_overlaps(np.array([0.0, 1.2, 1.5]), np.array([1.0, 2.2, 2.5]), blink).tolist()
    [None, 'BAD_blink', None]
    """
    found = np.full(len(begin_s), None, dtype=object)
    for begin, end, description in stretches.itertuples(index=False):
        # A stretch that ends where a window begins does not touch it, and one without duration still does inside.
        found[(begin < end_s) & (end > begin_s)] = description
    return found


def _descriptions(table: pd.DataFrame) -> pd.Series:
    column = next((name for name in _COLUMNS if name in table), None)
    if column is None:
        return pd.Series("", index=table.index, dtype=str)
    return table[column].fillna("").astype(str)
