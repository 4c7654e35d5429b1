"""Describe a folder of recordings: what there is, and the file that one would write next."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from neuroarena.benchmarks.own.bad_stretches import bad_stretches, without_marks
from neuroarena.benchmarks.own.file_names import parse_name
from neuroarena.benchmarks.own.pieces import Piece
from neuroarena.benchmarks.own.sources import Reading, is_bids, pieces_at
from neuroarena.benchmarks.own.stacks import SUFFIXES as EPOCHS
from neuroarena.benchmarks.own.stacks import Cutting, find_stacks
from neuroarena.benchmarks.own.table import TARGETS
from neuroarena.benchmarks.split_rules import natural_order
from neuroarena.errors import InputError
from neuroarena.recordings.mne_files import holds_epochs

# Columns with more values than this are not classes; of those below, this many values are listed.
MOST_CLASSES = 20
MOST_SUGGESTED = 6
# Beginnings of words in file names, and what they stand for; longer ones first.
_WORDS = (
    ("ses", "session"),
    ("day", "session"),
    ("d", "session"),
    ("run", "run"),
    ("r", "run"),
    ("b", "run"),
)
_PEOPLE = ("s", "p", "subject", "sub", "subj", "participant", "part", "vp", "id")


@dataclass(frozen=True)
class Description:
    """What a folder or a file holds.

    Attributes
    ----------
    path : str
    bids : bool
    recordings : list of dict
        key, file, entities, rate_hz, seconds, channels (kind -> count), names, stim (channels of markers), bad,
        n_events, window_s (of epochs, else null), bad_stretches (what they are called -> how many, and seconds); or
        file and problem.
    events : dict of str to dict
        Column -> value -> count, for columns with few values; of others the number of values.
    suggestion : str or None
        A file of a benchmark to begin with; None where there is nothing to decode.
    """

    path: str
    bids: bool
    recordings: list[dict[str, Any]]
    events: dict[str, dict[str, Any]]
    suggestion: str | None

    @property
    def problems(self) -> list[str]:
        """What could not be read, and why."""
        return [each["problem"] for each in self.recordings if "problem" in each]

    @property
    def mixed(self) -> bool:
        """Whether there are recordings and epochs, which are two benchmarks."""
        return len({each["window_s"] is None for each in self.recordings if "problem" not in each}) > 1

    def to_dict(self) -> dict[str, Any]:
        """Return the description as plain values."""
        return {"schema_version": 1, **{name: getattr(self, name) for name in self.__dataclass_fields__}}


def describe(path: str | Path, stim_channel: str | None = None) -> Description:
    """Describe a folder of recordings or epochs, BIDS or not, or one file; what cannot be read is reported.

    Parameters
    ----------
    path : path
    stim_channel : str, optional
        Take events from this channel.

    Raises
    ------
    InputError
        When there is nothing, or nothing that can be read.
    """
    place = Path(path)
    found = pieces_at(place, Reading(stim_channel=stim_channel))
    bids = place.is_dir() and is_bids(place)
    pattern = None if bids else guess_pattern([file.stem for file, _ in found])
    rows: list[dict[str, Any]] = []
    pieces: list[Piece] = []
    for file, make in found:
        try:
            piece = _read(file, make)
            entities = {**(parse_name(pattern, file) if pattern else {}), **piece.entities}
            rows.append(_row(piece, file, entities))
        except InputError as error:
            rows.append({"file": str(file), "problem": str(error)})
            continue
        pieces.append(piece)
    if not pieces and len(rows) == 1:
        raise InputError(rows[0]["problem"])
    if not pieces:
        raise InputError(
            f"{place}: none of its {len(rows)} recordings can be read. The first: {rows[0]['problem']}"
        )
    table = pd.concat([piece.events.assign(recording=piece.key) for piece in pieces], ignore_index=True)
    events = _count_events(table)
    read = [row for row in rows if "problem" not in row]
    described = Description(str(path), bids, rows, events, None)
    if described.mixed:
        return described
    whole = place.is_dir() and len(pieces) == len(rows)
    data = [str(place)] if whole else [row["file"] for row in read]
    head = [f"names = {_quote(pattern)}"] if pattern else []
    head += [f"stim_channel = {_quote(stim_channel)}"] if stim_channel else []
    head += ["epochs = true"] if read[0]["window_s"] is not None else []
    return replace(described, suggestion=_suggest(data, head, read, events, table))


def _read(file: Path, make: Callable[[], Piece]) -> Piece:
    """Read a file as a recording or, where it holds epochs, as those."""
    try:
        return without_marks(make())
    except InputError:
        if file.suffix.lower() not in EPOCHS or not holds_epochs(file):
            raise
    (piece,) = find_stacks({file.stem: file}, Cutting(owners=()))
    return piece


def _row(piece: Piece, file: Path, entities: dict[str, str]) -> dict[str, Any]:
    kinds = piece.channels["kind"].value_counts().to_dict()
    marked = bad_stretches(piece)
    return {
        "key": piece.key,
        "file": str(file),
        "entities": dict(entities),
        "rate_hz": piece.rate_hz,
        "seconds": round(piece.n_samples / piece.rate_hz, 3),
        "channels": {str(kind): int(count) for kind, count in kinds.items()},
        "names": piece.channels["name"].tolist(),
        "stim": piece.channels.loc[piece.channels["kind"] == "stim", "name"].tolist(),
        "bad": list(piece.bad),
        "n_events": len(piece.events),
        "window_s": None if piece.stretch is None else _span(piece.stretch, piece.rate_hz),
        "bad_stretches": {
            str(name): {"count": len(own), "seconds": round(float((own["end_s"] - own["begin_s"]).sum()), 3)}
            for name, own in marked.groupby("description")
        },
    }


def _span(stretch: tuple[int, int], rate_hz: float) -> list[float]:
    before, after = stretch
    return [round(-before / rate_hz, 6), round(after / rate_hz, 6)]


def _count_events(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Count the values of the columns that could be a target."""
    counted: dict[str, dict[str, Any]] = {}
    for name in table.columns:
        if name in ("sample", "onset_s", "duration_s", "recording", "onset"):
            continue
        values = table[name].dropna().astype(str).value_counts()
        if 0 < len(values) <= MOST_CLASSES:
            counted[str(name)] = {
                str(value): int(values[value]) for value in sorted(values.index, key=natural_order)
            }
        elif len(values):
            counted[str(name)] = {"number of values": len(values)}
    return counted


def guess_pattern(stems: Sequence[str]) -> str | None:
    """Guess what names of files say, where they differ in numbers only.

    Examples
    --------
    >>> guess_pattern(["S001R04", "S001R08"])
    'S{subject}R{run}'
    >>> guess_pattern(["sub01_day1", "sub01_day2"])
    'sub{subject}_day{session}'
    >>> guess_pattern(["anna", "berta"]) is None
    True
    """
    parts = [re.split(r"(\d+)", stem) for stem in stems]
    skeletons = {tuple(part[::2]) for part in parts}
    if len(skeletons) != 1 or len(parts[0]) < 3:
        return None
    texts, named = list(next(iter(skeletons))), []
    for text in texts[:-1]:
        word = re.sub(r"[^a-z]+", " ", text.lower()).split()[-1:] or [""]
        named.append(_entity(word[0]))
    free = [name for name in ("subject", "session", "run") if name not in named]
    made = texts[0]
    for place, (name, text) in enumerate(zip(named, texts[1:], strict=True)):
        varies = len({part[2 * place + 1] for part in parts}) > 1
        known = name or (free.pop(0) if varies and free else None)
        made += (f"{{{known}}}" if known else parts[0][2 * place + 1]) + text
    names = re.findall(r"\{(\w+)\}", made)
    return made if names and len(set(names)) == len(names) else None


def _entity(word: str) -> str | None:
    if word in _PEOPLE:
        return "subject"
    return next(
        (name for begin, name in _WORDS if word == begin or (len(begin) > 1 and word.startswith(begin))), None
    )


def _suggest(
    data: list[str],
    head: list[str],
    rows: list[dict[str, Any]],
    events: dict[str, dict[str, Any]],
    table: pd.DataFrame,
) -> str | None:
    """Write a file of a benchmark to begin with."""
    able = [name for name, counts in events.items() if len(counts) > 1 and "number of values" not in counts]
    target = next((name for name in TARGETS if name in able), able[0] if able else None)
    if target is None:
        return None
    named = _quote(data[0]) if len(data) == 1 else "[" + ", ".join(_quote(name) for name in data) + "]"
    lines = [f"data = {named}", *head, f"target = {_quote(target)}"]
    if "epochs = true" not in head:
        end = _window_end(table[table[target].notna()])
        lines.append(f"window_s = [0.0, {end:g}]  # seconds from the event")
    lines += [
        f"split = {_quote(_suggest_split(rows, table))}",
        'metric = "balanced_accuracy"',
    ]
    if len({row["rate_hz"] for row in rows}) > 1:
        lines.append(f"resample_hz = {min(row['rate_hz'] for row in rows):g}")
    lines.append("\n[classes]  # value = class; leave out what is not to be told apart")
    common = sorted(events[target], key=lambda value: -events[target][value])
    for value in events[target]:
        mark = "" if value in common[:MOST_SUGGESTED] else "# "
        lines.append(f"{mark}{_quote(value)} = {_quote(value)}  # {_count(events[target][value], 'event')}")
    return "\n".join(lines) + "\n"


def _suggest_split(rows: list[dict[str, Any]], table: pd.DataFrame) -> str:
    for level in ("subject", "session", "run"):
        if len({row["entities"].get(level) for row in rows}) > 1:
            return f"leave-one-{level}-out"
        if level in table and table[level].nunique() > 1:
            return f"leave-one-{level}-out"
    return "leave-one-recording-out" if len(rows) > 1 else "blocked-5-folds"


def _window_end(events: pd.DataFrame) -> float:
    """Choose the end of a window: what events last where they say so, else a second."""
    lasting = pd.to_numeric(events.get("duration_s", pd.Series(dtype=float)), errors="coerce")
    lasting = lasting[lasting > 0]
    return round(min(float(lasting.median()), 10.0), 2) if len(lasting) and lasting.median() >= 0.1 else 1.0


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _quote(text: str) -> str:
    """Write text as TOML does."""
    return '"' + str(text).replace("\\", "\\\\").replace('"', '\\"') + '"'
