"""Pieces of one's own data: a recording with its events, whatever it came from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.recordings import Recording

# How a table says where an event is: in seconds, or in samples from the first.
ONSETS = ("onset_s", "onset", "sample")


def no_annotations() -> pd.DataFrame:
    """Return the annotations of a recording that has none."""
    return pd.DataFrame({"onset_s": [], "duration_s": [], "description": []}, dtype=object)


def as_text(values: pd.Series) -> pd.Series:
    """Return values as text; missing ones stay missing, and whole numbers are written without ".0".

    pandas makes floats of whole numbers beside a missing one; whether 2 is called "2" must not depend on the others.

    Examples
    --------
    >>> as_text(pd.Series([1.0, 0.5, None])).tolist()
    ['1', '0.5', nan]
    """
    words = values.map(_write) if values.dtype.kind in "fO" else values
    return words.astype(str).where(values.notna())


def _write(value: Any) -> Any:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else value


@dataclass(frozen=True)
class Piece:
    """A recording and its events.

    Attributes
    ----------
    key : str
        What the column ``recording`` calls it.
    open : callable
        ``() -> Recording`` with all its channels; asked again in every process.
    events : DataFrame
        ``sample``, where the event is, and whatever else is known about it.
    rate_hz : float
    n_samples : int
    channels : DataFrame
        The channel table.
    entities : mapping of str to str
        What is the same for all its events: subject, session, run, task.
    bad : tuple of str
        Channels marked as bad.
    stretch : pair of int, optional
        Where the recording is a stack of windows: samples of a window before the event, and from it on.
    annotations : callable
        ``() -> DataFrame`` with onset_s, duration_s and what the recording itself says of these stretches.
    annotated : bool
        Whether the events are these annotations.
    """

    key: str
    open: Callable[[], Recording]
    events: pd.DataFrame
    rate_hz: float
    n_samples: int
    channels: pd.DataFrame
    entities: Mapping[str, str] = field(default_factory=dict)
    bad: tuple[str, ...] = ()
    stretch: tuple[int, int] | None = None
    annotations: Callable[[], pd.DataFrame] = no_annotations
    annotated: bool = False

    def table(self) -> pd.DataFrame:
        """Return the events with what is known about the recording in columns of its own."""
        table = self.events.copy()
        for name, value in self.entities.items():
            if name not in table:
                table[name] = value
        return table.assign(recording=self.key)


def check_apart(pieces: Sequence[Piece]) -> None:
    """Refuse two recordings of one name: the signals of one would stand for both.

    Raises
    ------
    InputError
        Naming it.
    """
    counts = Counter(piece.key for piece in pieces)
    repeated = next((key for key, count in counts.items() if count > 1), None)
    if repeated is not None:
        raise InputError(
            f'Two recordings are called "{repeated}". Pass them with names: {{"first": ..., "second": ...}}.'
        )


def place_events(events: Any, rate_hz: float, where: str, first_sample: int = 0) -> pd.DataFrame:
    """Return events with the column ``sample``, in the order of time.

    Parameters
    ----------
    events : DataFrame or int array (n, 3)
        With one of the columns onset_s, onset (seconds) or sample; or MNE's own events, whose last column is the value.
    rate_hz : float
    where : str
        What messages begin with.
    first_sample : int
        What MNE's own events count the first sample as.

    Raises
    ------
    InputError
        When the table does not say where events are, or a place is not a number; the message names the row.
    """
    if isinstance(events, np.ndarray):
        if events.ndim != 2 or events.shape[1] != 3 or events.dtype.kind not in "iu":
            raise InputError(
                f"{where}: expected a table of events, or MNE's own events (n, 3), got an array of {events.shape}."
            )
        events = pd.DataFrame(
            {"sample": events[:, 0] - first_sample, "value": [str(value) for value in events[:, 2]]}
        )
    if not isinstance(events, pd.DataFrame):
        raise InputError(f"{where}: expected a table of events, got {type(events).__name__}.")
    said, places = check_onsets(events, where)
    samples = np.round(places if said == "sample" else places * rate_hz).astype(np.int64)
    table = events.drop(columns="sample", errors="ignore").reset_index(drop=True)
    table.insert(0, "sample", samples)
    return table.sort_values("sample", kind="stable", ignore_index=True)


def check_onsets(events: pd.DataFrame, where: str, first_line: int | None = None) -> tuple[str, np.ndarray]:
    """Return the column that says when events are, and its numbers.

    Parameters
    ----------
    events : DataFrame
    where : str
        What messages begin with.
    first_line : int, optional
        The line of the file that the first row stands in, where the events are of a file.

    Raises
    ------
    InputError
        When there is no such column, or a place is not a number; the message names the row.
    """
    said = next((name for name in ONSETS if name in events.columns), None)
    if said is None:
        raise InputError(
            f"{where}: the events say nowhere when they are. Expected a column {', '.join(ONSETS[:-1])} (seconds) or "
            f"{ONSETS[-1]}; there are: {', '.join(map(str, events.columns))}."
        )
    places = pd.to_numeric(events[said], errors="coerce").to_numpy(dtype=np.float64)
    wrong = np.flatnonzero(~np.isfinite(places))
    if wrong.size:
        row = f"row {wrong[0]}" if first_line is None else f"line {wrong[0] + first_line}"
        raise InputError(f'{where}: {row}: {said} is "{events[said].iloc[wrong[0]]}"; expected a number.')
    return said, places
