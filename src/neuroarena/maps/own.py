"""Maps of one's own recordings: events, a target, and folds that are contiguous in time."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from neuroarena.benchmarks import Benchmark, Fold, Split
from neuroarena.benchmarks.own.definition import Definition
from neuroarena.benchmarks.own.making import make_benchmark
from neuroarena.benchmarks.own.pieces import Piece
from neuroarena.benchmarks.own.sources import Reading, find_pieces
from neuroarena.errors import InputError
from neuroarena.maps.filtered import HIGH_PASS_HZ, high_passed
from neuroarena.maps.grid import MapGrid
from neuroarena.maps.labels import label_tasks
from neuroarena.maps.settings import MapSettings
from neuroarena.recordings import Recording

FIRST_S, LAST_S, FOLDS = -0.5, 1.5, 5
# Fewer trials of a class than these in a fold, and its AUROC is a matter of single trials.
LEAST_TEST, LEAST_TRAIN = 2, 8
# A column of this many different numbers or more is a quantity; of fewer, names of classes.
QUANTITY_FROM = 11
_MOST_CLASSES = 20
_NOT_BRAIN = re.compile(r"[hv]?eog\d*([-_].*)?|(ecg|ekg|emg|gsr|resp)\d*", re.IGNORECASE)
_WHERE = "neuroarena map --recording"


@dataclass(frozen=True)
class OwnQuestion:
    """What is asked of one's own recordings.

    Attributes
    ----------
    target : str
        Column of the events. Two values are decoded from each other, more each against the rest, and of a quantity
        the highest quarter against the lowest.
    classes : tuple of str
        Only these values; all where there are none.
    folds : int
        The most folds; fewer are taken where that leaves enough trials in each.
    high_pass_hz : float or None
        Slow drifts below it are removed; 0 leaves them. By default 0.5 Hz where voltages are decoded.
    """

    target: str
    classes: tuple[str, ...] = ()
    folds: int = FOLDS
    high_pass_hz: float | None = None


def own_benchmark(
    recording: str | Path, events: str | Path | None, question: OwnQuestion, settings: MapSettings
) -> tuple[Benchmark, MapSettings]:
    """Make a benchmark of one's own recordings to compute a map of.

    Parameters
    ----------
    recording : path
        A file, or a BIDS folder.
    events : path or None
        A table with ``onset`` (seconds) or ``sample``; by default the events of the recordings.
    question : OwnQuestion
    settings : MapSettings
        Where it says nothing, bins run from -0.5 to 1.5 s.

    Returns
    -------
    benchmark, settings

    Raises
    ------
    InputError
        When no session has enough trials, with their number and a remedy; and for whatever is wrong with the files.
    """
    if question.folds < 2:
        raise InputError(f"--folds is 2 or more, got {question.folds}.")
    filled = settings.filled(MapSettings(first_s=FIRST_S, last_s=LAST_S))
    assert filled.first_s is not None
    assert filled.last_s is not None
    if filled.first_s >= filled.last_s:
        raise InputError(f"--tmin {filled.first_s:g} is not before --tmax {filled.last_s:g}.")
    reading = Reading(events=None if events is None else str(Path(events).absolute()))
    pieces = find_pieces(str(recording), reading)
    if all(piece.events.empty for piece in pieces):
        raise InputError(
            f"{recording}: there are no events in it, so that nothing can be decoded. Name a table of them with "
            "--events events.tsv (onset in seconds, and the column of --target)."
        )
    quantity = not question.classes and _is_quantity(pieces, question.target)
    definition = Definition(
        name=f"own/{question.target}",
        target=question.target,
        classes=question.classes or None,
        window_s=(filled.first_s, filled.last_s),
        split="contiguous-folds",
        metric="mae" if quantity else "auroc",
    )
    cut = functools.partial(_cut, n_folds=question.folds, target=question.target)
    benchmark = make_benchmark(
        pieces, definition, _WHERE, rules={"contiguous-folds": lambda table: cut(table)[0]}
    )
    _check_classes(benchmark, question)
    notes = [*benchmark.notes, *cut(benchmark.examples)[1]]
    if quantity:
        notes.append(f"{question.target}: its highest quarter against its lowest, in every session.")
    benchmark, left_out = _leave_out_eyes(benchmark)
    benchmark, drifts = _remove_drifts(benchmark, question, filled)
    return replace(benchmark, notes=(*notes, *left_out, *drifts)), filled


def name_source(grid: MapGrid, recording: str | Path, question: OwnQuestion) -> MapGrid:
    """Write into a map which recordings and which column of their events it is of, for the title of its page."""
    told = {**grid.provenance, "recording": Path(recording).absolute().name, "target": question.target}
    text = json.dumps(told, sort_keys=True)
    return MapGrid(grid.data.assign_attrs(provenance=text), grid.nulls)


def _is_quantity(pieces: Sequence[Piece], target: str) -> bool:
    """Return whether a target is a number with many values; a column that is not there is refused later."""
    values = pd.concat([piece.events[target] for piece in pieces if target in piece.events] or [pd.Series()])
    numbers = pd.to_numeric(values.dropna(), errors="coerce")
    return bool(np.isfinite(numbers).all() and numbers.nunique() >= QUANTITY_FROM)


def _check_classes(benchmark: Benchmark, question: OwnQuestion) -> None:
    if len(benchmark.manifest.classes) > _MOST_CLASSES:
        raise InputError(
            f'{_WHERE}: the column "{question.target}" has {len(benchmark.manifest.classes)} values, each of which '
            "would be a map. Name those to decode with --classes a,b."
        )


def _leave_out_eyes(benchmark: Benchmark) -> tuple[Benchmark, tuple[str, ...]]:
    """Leave out channels that are named as eyes, heart or muscles, whatever kind the file says they are."""
    found: dict[str, None] = {}
    for key in benchmark.examples["recording"].unique():
        found |= dict.fromkeys(_named_otherwise(benchmark.recording(str(key))))
    if not found:
        return benchmark, ()
    opened: Callable[[str], Recording] = functools.partial(_open_brain, benchmark.open_recording)
    said = f"Channels that record eyes, heart or muscles are not on the map: {', '.join(found)}."
    return replace(benchmark, open_recording=opened), (said,)


def _remove_drifts(
    benchmark: Benchmark, question: OwnQuestion, settings: MapSettings
) -> tuple[Benchmark, tuple[str, ...]]:
    """Filter what is read, where voltages are decoded or a filter is asked for."""
    edge_hz = question.high_pass_hz
    if edge_hz is None:
        rate_hz = benchmark.recording(str(benchmark.examples["recording"].iloc[0])).rate_hz
        edge_hz = HIGH_PASS_HZ if settings.kind_at(rate_hz) == "voltage" else 0.0
    if edge_hz == 0:
        return benchmark, ()
    opened = functools.partial(_open_filtered, benchmark.open_recording, edge_hz)
    said = f"Drifts below {edge_hz:g} Hz were removed (zero phase), which can carry a slow response back in time."
    return replace(benchmark, open_recording=opened), (said,)


def _open_filtered(opener: Callable[[str], Recording], edge_hz: float, key: str) -> Recording:
    return high_passed(opener(key), edge_hz)


def _named_otherwise(recording: Recording) -> list[str]:
    return [name for name in recording.channels["name"] if _NOT_BRAIN.fullmatch(name)]


def _open_brain(opener: Callable[[str], Recording], key: str) -> Recording:
    recording = opener(key)
    dropped = set(_named_otherwise(recording))
    names = [name for name in recording.channels["name"] if name not in dropped]
    return recording.select(names) if dropped and names else recording


def _cut(examples: pd.DataFrame, n_folds: int, target: str) -> tuple[Split, list[str]]:
    """Cut every session into folds that are contiguous in time; also return what was decided.

    Raises
    ------
    InputError
        When no session has enough trials of every class.
    """
    classes = () if pd.api.types.is_float_dtype(examples["target"]) else sorted(set(examples["target"]))
    folds: list[Fold] = []
    notes, problems = [], []
    for (subject, session), own in examples.groupby(["subject", "session"], sort=True):
        items, labels = label_tasks(own.sort_values(["recording", "start", "id"]), classes, target)
        sides = np.stack(list(labels.values())) if labels else np.zeros((0, len(items)), dtype=int)
        name = f"{subject}/{session}"
        for count in range(n_folds, 1, -1):
            parts = contiguous_folds(items, count)
            if all(_enough(sides, train, test) for train, test in parts):
                break
        else:
            problems.append(_describe_lack(name, sides, items))
            continue
        if count < n_folds:
            notes.append(
                f"Session {name} is cut into {count} folds in place of {n_folds}: it has few trials."
            )
        ids = items["id"].to_numpy()
        folds += [
            Fold(f"{name}/{number + 1}", tuple(ids[train]), tuple(ids[test]))
            for number, (train, test) in enumerate(parts)
        ]
    if not folds:
        raise InputError(problems[0])
    return Split("contiguous-folds", tuple(folds)), [*notes, *problems]


def contiguous_folds(items: pd.DataFrame, n_folds: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Cut items into stretches of equally many; training items keep a whole window away from the judged ones.

    Parameters
    ----------
    items : DataFrame
        ``recording, start, stop``, in time order.
    n_folds : int

    Returns
    -------
    list of (train, test)
        Bool arrays (items,). Between the samples of a training item and those of a judged one of the same recording
        lies at least one window.

    Examples
    --------
    >>> table = pd.DataFrame({"recording": "a", "start": [0, 10, 20, 30, 40, 50]})
    >>> train, test = contiguous_folds(table.assign(stop=table["start"] + 10), 3)[1]
    >>> train.astype(int).tolist(), test.astype(int).tolist()
    ([1, 0, 0, 0, 0, 1], [0, 0, 1, 1, 0, 0])
    """
    starts, names = items["start"].to_numpy(), items["recording"].to_numpy()
    apart = 2 * int((items["stop"] - items["start"]).max())
    folds = []
    for rows in np.array_split(np.arange(len(items)), n_folds):
        test = np.zeros(len(items), dtype=bool)
        test[rows] = True
        train = ~test
        for name in set(names[rows]):
            judged = starts[rows][names[rows] == name]
            near = (starts > judged.min() - apart) & (starts < judged.max() + apart)
            train &= ~((names == name) & near)
        folds.append((train, test))
    return folds


def _enough(sides: np.ndarray, train: np.ndarray, test: np.ndarray) -> bool:
    """Return whether both sides of every task have enough trials in both parts."""
    return len(sides) > 0 and all(
        (side[part] == label).sum() >= least
        for side in sides
        for label in (0, 1)
        for part, least in ((train, LEAST_TRAIN), (test, LEAST_TEST))
    )


def _describe_lack(session: str, sides: np.ndarray, items: pd.DataFrame) -> str:
    """Return how many trials there are, how many are needed, and what can be done."""
    if pd.api.types.is_float_dtype(items["target"]):
        there = f"{int(sides[:1].sum())} high and {int((sides[:1] == 0).sum())} low"
    else:
        counts = items["target"].value_counts().sort_index()
        there = ", ".join(f"{count} of {name}" for name, count in counts.items())
    epoch = int((items["stop"] - items["start"]).max()) if len(items) else 0
    return (
        f"session {session} has too few trials for a map: {there}. Every fold needs {LEAST_TEST} of each class to "
        f"judge and {LEAST_TRAIN} to train, and has fewer even with 2 folds, once trials within one window ({epoch} "
        "samples) of a cut are left out. Record more, choose other classes with --classes, or shorten the windows "
        "with --tmin and --tmax."
    )
