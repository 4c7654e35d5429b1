"""Windows that were cut already, as pieces: epochs of MNE-Python, and arrays with a table of metadata."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.benchmarks.own.pieces import Piece
from neuroarena.errors import InputError
from neuroarena.recordings import Recording
from neuroarena.recordings.mne_files import bad_channels, import_mne, mne_failures
from neuroarena.recordings.mne_objects import from_epochs
from neuroarena.recordings.paths import existing_file
from neuroarena.recordings.stacked import check_stack, from_windows


def find_stacks(
    data: Any,
    metadata: pd.DataFrame | None,
    rate_hz: float | None,
    channels: Sequence[str] | None,
    owners: Sequence[str],
) -> list[Piece]:
    """Find windows that were cut already: one piece for each subject, session and run.

    Parameters
    ----------
    data : mne.Epochs, array (windows, channels, time), or a mapping of names to these
    metadata : DataFrame, optional
        One row per window; by default that of the epochs. Of a mapping, each has its own.
    rate_hz : float, optional
        Samples per second of an array.
    channels : sequence of str, optional
        Names of the channels of an array.
    owners : sequence of str
        Columns whose values own windows; windows of different owners are different recordings.

    Raises
    ------
    InputError
        When windows and metadata differ in number, or an array has no rate.
    """
    if isinstance(data, Mapping | list | tuple):
        named = (
            data.items()
            if isinstance(data, Mapping)
            else ((str(place), item) for place, item in enumerate(data))
        )
        return [
            piece
            for key, item in named
            for piece in _split(
                str(key), item, metadata if len(data) == 1 else None, rate_hz, channels, owners
            )
        ]
    return _split("", data, metadata, rate_hz, channels, owners)


def _split(
    name: str,
    data: Any,
    metadata: pd.DataFrame | None,
    rate_hz: float | None,
    channels: Sequence[str] | None,
    owners: Sequence[str],
) -> list[Piece]:
    make: Callable[..., Recording]
    data = _read_epochs(Path(data)) if isinstance(data, str | Path) else data
    if hasattr(data, "tmin") and hasattr(data, "get_data"):
        if not data._bad_dropped:
            data.drop_bad(verbose="error")
        table = _metadata_of(data) if metadata is None else metadata
        make = functools.partial(from_epochs, data)
        before, length, rate = (
            round(-data.tmin * data.info["sfreq"]),
            len(data.times),
            float(data.info["sfreq"]),
        )
        n_windows = len(data)
    else:
        stack = check_stack(data, name or "windows")
        if rate_hz is None or metadata is None:
            raise InputError(
                "Windows in an array need rate_hz, their samples per second, and metadata, one row each."
            )
        make = functools.partial(from_windows, stack, rate_hz, channels)
        table, before, length, rate, n_windows = metadata, 0, stack.shape[2], float(rate_hz), len(stack)
    if not isinstance(table, pd.DataFrame):
        raise InputError(
            f"The metadata must be a pandas.DataFrame, a row for each window, got {type(table).__name__}."
        )
    if len(table) != n_windows:
        raise InputError(f"{name or 'windows'}: {n_windows} windows, but {len(table)} rows of metadata.")
    table = table.reset_index(drop=True)
    present = [column for column in owners if column in table]
    groups = (
        table.groupby(present, sort=True, dropna=False).indices if present else {(): np.arange(n_windows)}
    )
    pieces = []
    for owner, rows in groups.items():
        words = [str(part) for part in (owner if isinstance(owner, tuple) else (owner,))]
        key = "-".join([*([name] if name else []), *words]) or "epochs"
        events = table.iloc[rows].reset_index(drop=True)
        events.insert(0, "sample", np.arange(len(rows)) * length + before)
        opener = functools.partial(make, rows=[int(row) for row in rows], name=key)
        opened = opener()
        stretch = (before, length - before)
        shape = rate, opened.n_samples, opened.channels
        pieces.append(Piece(key, opener, events, *shape, bad=tuple(bad_channels(opened)), stretch=stretch))
    return pieces


def _read_epochs(path: Path) -> Any:
    """Open a file of epochs, -epo.fif or .set, without loading it."""
    mne = import_mne(path)
    reader = (
        mne.read_epochs_eeglab
        if path.suffix.lower() == ".set"
        else functools.partial(mne.read_epochs, preload=False)
    )
    with mne_failures(f"{path.name}: cannot be read as epochs"):
        return reader(existing_file(path), verbose="error")


def _metadata_of(epochs: Any) -> pd.DataFrame:
    """Return the metadata of epochs, with the name of each event in the column ``event``."""
    names = {number: name for name, number in epochs.event_id.items()}
    events = pd.Series([names.get(number, str(number)) for number in epochs.events[:, 2]], name="event")
    table = pd.DataFrame() if epochs.metadata is None else epochs.metadata.reset_index(drop=True)
    return table.assign(event=events) if "event" not in table else table
