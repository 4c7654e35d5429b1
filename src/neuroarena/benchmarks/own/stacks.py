"""Windows that were cut already, as pieces: epochs of MNE-Python, and arrays with a table of metadata."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.benchmarks.own.definition import Definition
from neuroarena.benchmarks.own.file_names import match_name, parse_name
from neuroarena.benchmarks.own.pieces import Piece, check_apart
from neuroarena.benchmarks.own.sources import find_pattern
from neuroarena.benchmarks.split_rules import natural_order
from neuroarena.errors import InputError
from neuroarena.recordings import Recording
from neuroarena.recordings.fif_tags import leave_out_parts
from neuroarena.recordings.mne_files import bad_channels, holds_epochs, import_mne, mne_failures
from neuroarena.recordings.mne_objects import from_epochs
from neuroarena.recordings.paths import existing_file
from neuroarena.recordings.stacked import check_stack, from_windows

LEVELS = ("subject", "session", "run")
# Files that may hold epochs.
SUFFIXES = (".fif", ".set")


@dataclass(frozen=True)
class Cutting:
    """How windows that were cut already are read.

    Attributes
    ----------
    metadata : DataFrame, or a list or mapping of these, optional
        One row per window; by default that of the epochs. Of several sets of windows, one for each.
    rate_hz : float, optional
        Samples per second of arrays.
    channel_names : sequence of str, optional
        Names of the channels of arrays.
    names : str, optional
        What names of files, or keys of a mapping, say, as in ``S{subject}R{run}``.
    folder : Path
        Where relative paths begin.
    owners : tuple of str
        Columns whose values own windows; windows of different owners are different recordings.
    """

    metadata: Any = None
    rate_hz: float | None = None
    channel_names: Sequence[str] | None = None
    names: str | None = None
    folder: Path = Path()
    owners: tuple[str, ...] = LEVELS

    def owned_as(self, definition: Definition) -> Cutting:
        """Return the same with the owners that a definition names."""
        return replace(self, owners=tuple(getattr(definition, level) or level for level in LEVELS))


def find_stacks(data: Any, cutting: Cutting) -> list[Piece]:
    """Find windows that were cut already: one piece for each subject, session and run.

    Parameters
    ----------
    data
        ``mne.Epochs``, an array (windows, channels, time), a file of epochs, a folder or a pattern of them, a list of
        these, or a mapping of names to them.
    cutting : Cutting

    Raises
    ------
    InputError
        When windows and metadata differ in number, or an array has no rate.
    """
    sets = _name_apart(list(_sets(data, cutting.folder)))
    tables = _match_metadata(cutting.metadata, [key for key, _ in sets])
    pieces = [
        piece
        for (key, item), table in zip(sets, tables, strict=True)
        for piece in _split(key, item, table, cutting)
    ]
    check_apart(pieces)
    return pieces


def _sets(data: Any, folder: Path) -> Iterator[tuple[str, Any]]:
    """List sets of windows with their names; a single one that is not a file has none."""
    if isinstance(data, Mapping):
        yield from ((str(key), folder / item if _is_path(item) else item) for key, item in data.items())
    elif isinstance(data, list | tuple) or (isinstance(data, Iterator) and not hasattr(data, "info")):
        for place, item in enumerate(data):
            yield from _files(item, folder) if _is_path(item) else [(str(place), item)]
    elif _is_path(data):
        files = _files(data, folder)
        yield from files if len(files) > 1 else [("", files[0][1])]
    else:
        yield "", data


def _files(place: str | Path, folder: Path) -> list[tuple[str, Path]]:
    return [(file.stem, file) for file in find_epochs(folder / Path(place).expanduser())]


def _name_apart(sets: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Call files of the same name in different folders by their folders too."""
    keys = [key for key, _ in sets]
    alike = [
        item.absolute()
        for key, item in sets
        if isinstance(item, Path) and key == item.stem and keys.count(key) > 1
    ]
    twice = next((file for file in alike if alike.count(file) > 1), None)
    if twice is not None:
        raise InputError(f"{twice}: this file is named twice, so that its windows would count twice.")
    if not alike:
        return sets
    above = Path(os.path.commonpath([file.parent for file in alike]))
    return [
        (item.absolute().relative_to(above).with_suffix("").as_posix(), item)
        if isinstance(item, Path) and item.absolute() in alike
        else (key, item)
        for key, item in sets
    ]


def _is_path(item: Any) -> bool:
    return isinstance(item, str | Path)


def find_epochs(place: Path) -> list[Path]:
    """List the files of epochs at a place: a file, a folder, or a pattern such as ``epochs/*-epo.fif``.

    Raises
    ------
    InputError
        When there is none.
    """
    if place.is_dir():
        found = [file for file in sorted(place.rglob("*")) if file.suffix.lower() in SUFFIXES]
        found = leave_out_parts(file for file in found if holds_epochs(file))
    else:
        found = [place] if place.exists() else find_pattern(place)
    if not found:
        what = (
            "holds no file of epochs (FIF or EEGLAB)" if place.is_dir() else "there is no such file or folder"
        )
        raise InputError(f"{place}: {what}.")
    return sorted(found, key=lambda file: natural_order(str(file)))


def _match_metadata(metadata: Any, keys: list[str]) -> list[Any]:
    """Return the table of each set of windows."""
    if isinstance(metadata, Mapping) and all(isinstance(table, pd.DataFrame) for table in metadata.values()):
        named = {str(key): table for key, table in metadata.items()}
        if keys == [""] and len(named) == 1:
            return list(named.values())
        absent = [key for key in keys if key not in named]
        if absent:
            raise InputError(f'There are no metadata for "{absent[0]}"; there are: {", ".join(named)}.')
        return [named[key] for key in keys]
    if isinstance(metadata, list | tuple) and len(metadata) == len(keys):
        return list(metadata)
    if metadata is not None and len(keys) > 1:
        raise InputError(
            f"There are {len(keys)} sets of windows, which need a table of metadata each: pass as many, in a list or a "
            "mapping."
        )
    return [metadata] * len(keys)


def _split(name: str, data: Any, metadata: Any, cutting: Cutting) -> list[Piece]:
    make: Callable[..., Recording]
    entities = _say_names(cutting.names, name, data)
    data = _read_epochs(data) if isinstance(data, Path) else data
    if hasattr(data, "drop_bad") and hasattr(data, "get_data"):
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
        if hasattr(data, "info"):
            raise InputError(
                f"Benchmark.from_epochs takes epochs, got {type(data).__name__}. Pass a recording to "
                "Benchmark.from_events, which cuts windows around its events."
            )
        stack, rate_hz = check_stack(data, name or "windows"), cutting.rate_hz
        if rate_hz is None or metadata is None:
            raise InputError(
                "Windows in an array need rate_hz, their samples per second, and metadata, one row each."
            )
        make = functools.partial(from_windows, stack, rate_hz, cutting.channel_names)
        table, before, length, rate, n_windows = metadata, 0, stack.shape[2], float(rate_hz), len(stack)
    if not isinstance(table, pd.DataFrame):
        raise InputError(
            f"The metadata must be a pandas.DataFrame, a row for each window, got {type(table).__name__}."
        )
    if len(table) != n_windows:
        raise InputError(f"{name or 'windows'}: {n_windows} windows, but {len(table)} rows of metadata.")
    table = table.reset_index(drop=True)
    table = table.assign(**{level: value for level, value in entities.items() if level not in table})
    present = [column for column in cutting.owners if column in table]
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


def _say_names(pattern: str | None, name: str, data: Any) -> dict[str, str]:
    if pattern is None:
        return {}
    return (
        parse_name(pattern, data) if isinstance(data, Path) else match_name(pattern, name, name or "epochs")
    )


def _read_epochs(path: Path) -> Any:
    """Open a file of epochs, -epo.fif or .set, without loading it."""
    mne = import_mne(path)
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(
            f"{path}: is not a file of epochs, which end in {' or '.join(SUFFIXES)}. Pass a recording to "
            "Benchmark.from_events; load an array and pass it with metadata and rate_hz."
        )
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
