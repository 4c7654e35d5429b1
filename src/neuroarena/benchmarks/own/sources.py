"""Find the pieces of one's own data: in folders, files, objects of MNE-Python, and arrays."""

from __future__ import annotations

import functools
import glob
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.benchmarks.own.file_names import match_name, parse_name
from neuroarena.benchmarks.own.pieces import (
    Piece,
    as_text,
    check_apart,
    check_onsets,
    no_annotations,
    place_events,
)
from neuroarena.benchmarks.split_rules import natural_order
from neuroarena.errors import InputError
from neuroarena.recordings import Recording, from_array, mne_files, open_file
from neuroarena.recordings.bids import (
    bids_channels,
    bids_events,
    bids_recordings,
    find_bids_root,
    find_sidecar,
    open_bids,
    participants,
    read_bids_name,
)
from neuroarena.recordings.content import keeper_of
from neuroarena.recordings.fif_tags import leave_out_parts
from neuroarena.recordings.markers import channel_events
from neuroarena.recordings.mne_files import SUFFIXES, bad_channels
from neuroarena.recordings.mne_objects import from_raw, name_raw, raw_annotations
from neuroarena.recordings.tsv import read_tsv

# What names of BIDS files end in, in the order in which they are looked for.
BIDS_SUFFIXES = ("eeg", "ieeg", "emg", "meg")


@dataclass(frozen=True)
class Reading:
    """How data are read.

    Attributes
    ----------
    events : DataFrame, array, path, or a list or mapping of these, optional
        Events, where they are not in the files; of several recordings with a column ``recording``, or one for each.
    names : str, optional
        What names of files say, as in ``S{subject}R{run}``.
    task : str, optional
        Only recordings of this task of a BIDS folder.
    subjects : tuple of str, optional
        Only these people of a BIDS folder.
    stim_channel : str, optional
        Take events from this channel.
    rate_hz : float, optional
        Samples per second of arrays.
    channel_names : sequence of str, optional
        Names of the channels of arrays.
    montage : str, optional
        Template that places channels by their names.
    folder : Path
        Where relative paths begin.
    """

    events: Any = None
    names: str | None = None
    task: str | None = None
    subjects: tuple[str, ...] | None = None
    stim_channel: str | None = None
    rate_hz: float | None = None
    channel_names: Sequence[str] | None = None
    montage: str | None = None
    folder: Path = Path()


def find_pieces(data: Any, reading: Reading) -> list[Piece]:
    """Find recordings and their events.

    Parameters
    ----------
    data
        A folder (BIDS or of files), a file, a pattern such as ``S001/*.edf``, an ``mne.io.Raw``, a recording, an array
        (channels, time), a list of these, or a mapping of names to them.
    reading : Reading

    Raises
    ------
    InputError
        When nothing is found, or a file or an event is not as expected.
    """
    items, listed = list(_items(data)), reading.events
    one_each = isinstance(listed, list | tuple)
    if one_each and len(listed) != len(items):
        raise InputError(
            f"Events are a list of {len(listed)}, and recordings of {len(items)}. Pass one table for each, in the same "
            "order."
        )
    tables = [_read_events(table, reading.folder) for table in (listed if one_each else [listed])]
    found = [
        list(_pieces(key, item, replace(reading, events=table)))
        for (key, item), table in zip(items, tables if one_each else tables * len(items), strict=True)
    ]
    pieces = [piece for own in found for piece in own]
    if not pieces:
        raise InputError(f"{data}: holds no recording.")
    # One item of a list may be a folder of several recordings, too.
    for table, own in zip(tables, found if one_each else [pieces], strict=True):
        _check_recordings(table, own)
    check_apart(pieces)
    return pieces


def _read_events(events: Any, folder: Path) -> Any:
    """Read events that are the name of a file; those of a mapping are named by text, as recordings are."""
    if isinstance(events, Mapping):
        return {str(key): _read_events(table, folder) for key, table in events.items()}
    if not isinstance(events, str | Path):
        return events
    place = folder / events
    table = read_table(place)
    check_onsets(table, str(place), first_line=2)
    return table


def _check_recordings(events: Any, pieces: list[Piece]) -> None:
    """Refuse one table for several recordings that does not say, or misspells, which one an event is of."""
    if len(pieces) < 2 or not isinstance(events, pd.DataFrame | np.ndarray):
        return
    keys = [piece.key for piece in pieces]
    shown = ", ".join(keys[:4]) + (", ..." if len(keys) > 4 else "")
    if isinstance(events, np.ndarray) or "recording" not in events:
        raise InputError(
            f"There are {len(pieces)} recordings and one table of events, which does not say of which each is. Add a "
            f'column "recording" with {shown}, or pass one table for each.'
        )
    lacking = int(events["recording"].isna().sum())
    if lacking:
        raise InputError(f'{lacking} of {len(events)} events name no recording in the column "recording".')
    strange = [name for name in as_text(events["recording"]).unique() if name not in keys]
    spelt = {_spell(key): key for key in keys}
    for name in strange:
        # Other recordings may be in the table, but not this one in another spelling: its events would be dropped.
        if _spell(name) in spelt:
            raise InputError(
                f'The events are of a recording "{name}", which is not there. Did you mean "{spelt[_spell(name)]}"?'
            )
    silent = [piece.key for piece in pieces if piece.events.empty]
    if strange and silent:
        raise InputError(
            f'The events are of a recording "{strange[0]}", which is not there, and none is of "{silent[0]}". The '
            f"recordings are called {shown}."
        )


def _spell(name: str) -> str:
    """Return a name without what people write in different ways: capitals, spaces around it, the ending of a file."""
    plain = name.strip().casefold()
    ending = next((suffix for suffix in SUFFIXES if plain.endswith(suffix)), "")
    return plain.removesuffix(ending)


def _items(data: Any) -> Iterator[tuple[str | None, Any]]:
    # Epochs of MNE-Python are an iterator too, and have an info.
    if isinstance(data, Iterator) and not hasattr(data, "info"):
        data = list(data)
    if isinstance(data, Mapping):
        yield from ((str(key), item) for key, item in data.items())
    elif isinstance(data, list | tuple):
        for number, item in enumerate(data):
            yield (None if isinstance(item, str | Path) or hasattr(item, "first_samp") else str(number)), item
    else:
        yield None, data


def _pieces(key: str | None, item: Any, reading: Reading) -> Iterator[Piece]:
    if isinstance(item, str | Path):
        yield from (make() for _, make in pieces_at(Path(os.path.expanduser(item)), reading, key))
    elif hasattr(item, "first_samp") and hasattr(item, "annotations"):
        yield _raw_piece(key or name_raw(item), item, reading)
    elif isinstance(item, Recording):
        named = key or Path(item.name).stem
        yield _recording_piece(named, lambda: item, _say_name(reading, named), reading)
    elif hasattr(item, "tmin") and hasattr(item, "get_data"):
        raise InputError(
            "These are epochs, whose windows are cut already. Pass them to Benchmark.from_epochs."
        )
    else:
        if not hasattr(item, "shape") and not isinstance(item, list | tuple):
            raise InputError(
                f"A recording is a file, a folder, an mne.io.Raw or an array (channels, time), got "
                f"{type(item).__name__}."
            )
        if reading.rate_hz is None:
            raise InputError("An array needs rate_hz, its samples per second.")
        named = key or "array"
        made = from_array(item, reading.rate_hz, reading.channel_names, name=named, kind="eeg")
        yield _recording_piece(named, lambda: made, _say_name(reading, named), reading)


def _say_name(reading: Reading, name: str) -> dict[str, str]:
    return match_name(reading.names, name, name) if reading.names else {}


def pieces_at(path: Path, reading: Reading, key: str | None = None) -> list[tuple[Path, Callable[[], Piece]]]:
    """List the recordings at a place, a folder or a file or a pattern, each with what reads it.

    Parameters
    ----------
    path : Path
    reading : Reading
    key : str, optional
        What to call a file, in place of its name.

    Raises
    ------
    InputError
        When nothing is there.
    """
    place = reading.folder / path
    if place.is_dir():
        return (
            _bids_pieces(place, reading)
            if is_bids(place)
            else _file_pieces(find_files(place), place, reading)
        )
    files = [place] if place.exists() or keeper_of(place) else find_pattern(place)
    if not files:
        raise InputError(f"{place}: there is no such file or folder.")
    if key is not None:
        return [(files[0], functools.partial(_file_piece, key, files[0], reading))]
    return _file_pieces(files, place.parent, reading)


def find_pattern(pattern: Path) -> list[Path]:
    """List the files that fit a pattern such as ``S001/*.edf``, in natural order."""
    found = sorted(glob.glob(str(pattern), recursive=True), key=natural_order)
    return leave_out_parts(Path(name) for name in found)


def is_bids(folder: Path) -> bool:
    """Return whether a folder looks like a BIDS dataset: it has folders of subjects."""
    return any(entry.is_dir() and entry.name.startswith("sub-") for entry in os.scandir(folder))


def find_files(folder: Path) -> list[Path]:
    """List the recordings below a folder, in natural order.

    Links to content that was never fetched are among them: left out, the others would pass for the whole.

    Raises
    ------
    InputError
        When there is none.
    """
    named = (path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES)
    found = [path for path in named if path.is_file() or keeper_of(path)]
    if not found:
        raise InputError(
            f"{folder}: holds no recording. Expected files that end in {', '.join(SUFFIXES)}, or BIDS."
        )
    return sorted(leave_out_parts(found), key=lambda path: natural_order(str(path)))


def _file_pieces(files: list[Path], root: Path, reading: Reading) -> list[tuple[Path, Callable[[], Piece]]]:
    stems = [_name_file(path, reading.events) for path in files]
    keys = [
        stem if stems.count(stem) == 1 else path.relative_to(root).as_posix()
        for path, stem in zip(files, stems, strict=True)
    ]
    return [
        (path, functools.partial(_file_piece, key, path, reading))
        for key, path in zip(keys, files, strict=True)
    ]


def _name_file(path: Path, events: Any) -> str:
    """Return what to call the recording in a file; one of a BIDS dataset as there, unless events name the file."""
    short, known = path.stem.rpartition("_")[0], set(events) if isinstance(events, Mapping) else set()
    if isinstance(events, pd.DataFrame) and "recording" in events:
        known = set(as_text(events["recording"]))
    by_stem = path.stem in known and short not in known
    return path.stem if by_stem or read_bids_name(path) is None else short


def _file_piece(key: str, path: Path, reading: Reading) -> Piece:
    entities = parse_name(reading.names, path) if reading.names else {}
    named = read_bids_name(path)
    if named is not None:
        home = find_bids_root(path)
        known = named if home is None else _add_participant(named, _read_people(home))
        return _bids_piece(path, {**known, **entities}, reading, key)
    opener = functools.partial(open_file, path, montage=reading.montage)
    return _recording_piece(
        key, opener, entities, reading, functools.partial(mne_files.annotations, path), str(path)
    )


def _bids_pieces(root: Path, reading: Reading) -> list[tuple[Path, Callable[[], Piece]]]:
    people = _read_people(root)
    pieces: list[tuple[Path, Callable[[], Piece]]] = []
    for row in _bids_list(root, reading).to_dict(orient="records"):
        path = Path(str(row.pop("path")))
        entities = {str(name): str(value) for name, value in row.items() if value}
        key = path.stem.rpartition("_")[0]
        entities = _add_participant(entities, people)
        pieces.append((path, functools.partial(_bids_piece, path, entities, reading, key, whole=True)))
    return pieces


def _read_people(root: Path) -> pd.DataFrame | None:
    file = root / "participants.tsv"
    return participants(root).set_index("participant_id") if file.is_file() else None


def _add_participant(entities: dict[str, str], people: pd.DataFrame | None) -> dict[str, str]:
    """Add what participants.tsv says about the subject of a recording."""
    if people is None or entities["subject"] not in people.index:
        return entities
    known = people.loc[entities["subject"]].dropna()
    return {**{str(name): str(value) for name, value in known.items()}, **entities}


def _bids_piece(
    path: Path, entities: dict[str, str], reading: Reading, key: str, *, whole: bool = False
) -> Piece:
    """Read a recording with the tables of its dataset; a file that is not of a `whole` one may lack some."""
    opener = functools.partial(open_bids, path, montage=reading.montage)
    events = functools.partial(bids_events, path)
    if reading.events is not None or reading.stim_channel is not None:
        events = functools.partial(_bids_annotations, path)
    if not whole and find_sidecar(path, "events.tsv") is None:
        events = functools.partial(mne_files.annotations, path)
    if not whole and find_sidecar(path, "channels.tsv") is None:
        opener = functools.partial(open_file, path, montage=reading.montage)
        return _recording_piece(key, opener, entities, reading, events, str(path))
    piece = _recording_piece(key, opener, entities, reading, events, str(path))
    listing = bids_channels(path)
    if "status" not in listing:
        return piece
    marked = listing.loc[listing["status"].astype(str).str.lower() == "bad", "name"]
    return replace(piece, bad=tuple(dict.fromkeys([*piece.bad, *marked])))


def _bids_annotations(path: Path) -> pd.DataFrame:
    """Read the events.tsv of a recording whose events come from elsewhere, and which therefore may lack it."""
    return no_annotations() if find_sidecar(path, "events.tsv") is None else bids_events(path)


def _bids_list(root: Path, reading: Reading) -> pd.DataFrame:
    """List the recordings of the first kind that a BIDS folder has, each in one format."""
    kinds = [suffix for suffix in BIDS_SUFFIXES if any(root.glob(f"sub-*/**/{suffix}"))]
    listed = bids_recordings(root, kinds[0] if kinds else "eeg", reading.task, reading.subjects)
    # A header whose samples are elsewhere may lie beside the same recording in another format.
    whole = [
        path.suffix != ".vhdr" or any(path.with_suffix(end).exists() for end in (".eeg", ".dat"))
        for path in map(Path, listed["path"])
    ]
    stems = listed["path"].map(lambda path: str(Path(path).with_suffix("")))
    return listed[np.array(whole) | ~stems.duplicated(keep=False)].drop_duplicates(
        subset=["subject", "session", "task", "run"], ignore_index=True
    )


def _raw_piece(key: str, raw: Any, reading: Reading) -> Piece:
    if isinstance(reading.events, np.ndarray):
        reading = replace(
            reading, events=place_events(reading.events, raw.info["sfreq"], key, int(raw.first_samp))
        )
    made = from_raw(raw, key)
    entities = _say_name(reading, key)
    return _recording_piece(key, lambda: made, entities, reading, lambda: raw_annotations(raw))


def _recording_piece(
    key: str,
    opener: Callable[[], Recording],
    entities: Mapping[str, str],
    reading: Reading,
    own_events: Callable[[], pd.DataFrame] | None = None,
    where: str | None = None,
) -> Piece:
    """Make a piece of a recording: its events are those given, those of a channel, or its own."""
    recording, where = opener(), where or key
    annotations, annotated = own_events or no_annotations, False
    if reading.stim_channel is not None:
        events = channel_events(recording, reading.stim_channel)
    elif reading.events is not None:
        events = _own_rows(reading.events, key, where)
    elif own_events is not None:
        events, annotated = own_events(), True
        annotations = functools.partial(_same, events)
    else:
        raise InputError(f"{where}: has no events of its own. Name a table of events.")
    return Piece(
        key=key,
        open=opener,
        events=place_events(events, recording.rate_hz, where),
        rate_hz=recording.rate_hz,
        n_samples=recording.n_samples,
        channels=recording.channels,
        entities=entities,
        bad=tuple(bad_channels(recording)),
        annotations=annotations,
        annotated=annotated,
    )


def _same(table: pd.DataFrame) -> pd.DataFrame:
    return table


def _own_rows(events: Any, key: str, where: str) -> Any:
    if isinstance(events, Mapping):
        if key not in events:
            raise InputError(
                f'{where}: there are no events for "{key}"; there are: {", ".join(map(str, events))}.'
            )
        return events[key]
    if isinstance(events, pd.DataFrame) and "recording" in events:
        return events[as_text(events["recording"]) == key].drop(columns="recording").reset_index(drop=True)
    return events


def read_table(path: Path) -> pd.DataFrame:
    """Read a table of events: .tsv, .csv or .parquet; an empty cell and ``n/a`` are missing.

    Raises
    ------
    InputError
        When the file is not there, or is none of these.
    """
    if path.suffix.lower() == ".tsv":
        return read_tsv(path)
    if not path.is_file():
        raise InputError(f"{path}: there is no such file. Expected a table of events.")
    try:
        if path.suffix.lower() == ".parquet":
            return pd.read_parquet(path)
        if path.suffix.lower() == ".csv":
            # Text stays text: a subject called 001 is not the number 1.
            return pd.read_csv(path, dtype=str, na_values=["n/a"], encoding="utf-8-sig")
    except (ValueError, OSError) as error:
        raise InputError(f"{path}: cannot be read as a table: {error}.") from error
    raise InputError(
        f'{path}: cannot read a table that ends in "{path.suffix}". Expected .tsv, .csv or .parquet.'
    )
