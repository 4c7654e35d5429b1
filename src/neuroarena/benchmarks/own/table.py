"""Examples from events: which take part, what is decoded, where their windows lie, and to whom they belong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuroarena.benchmarks.benchmark import EXAMPLE_COLUMNS
from neuroarena.benchmarks.own.bad_stretches import bad_stretches, find_overlaps, hint_at_marks, without_marks
from neuroarena.benchmarks.own.definition import Definition
from neuroarena.benchmarks.own.pieces import Piece, as_text
from neuroarena.benchmarks.own.splitting import LEVELS, nested_values
from neuroarena.benchmarks.split_rules import natural_order
from neuroarena.errors import InputError

# Columns that usually say what an event is, in the order in which they are looked for.
TARGETS = ("target", "label", "trial_type", "description", "value", "event")


@dataclass(frozen=True)
class OwnExamples:
    """Examples made of events.

    Attributes
    ----------
    table : DataFrame
        As :data:`~neuroarena.benchmarks.benchmark.EXAMPLE_COLUMNS` say, and the columns of the events.
    classes : tuple of str
        The classes in order; empty where numbers are decoded.
    target, unit : str
        The columns they came from.
    cluster : str or None
        What owns units; None where units are independent.
    window_s : pair of float
        In seconds from the event.
    notes : tuple of str
        What was left out.
    """

    table: pd.DataFrame
    classes: tuple[str, ...]
    target: str
    unit: str
    cluster: str | None
    window_s: tuple[float, float]
    notes: tuple[str, ...]


def make_examples(pieces: Sequence[Piece], definition: Definition, numbers: bool, where: str) -> OwnExamples:
    """Make examples of the events of all pieces.

    Parameters
    ----------
    pieces : sequence of Piece
    definition : Definition
    numbers : bool
        Whether the target is a number rather than a class.
    where : str
        What messages begin with.

    Raises
    ------
    InputError
        For a column or a class that is not there, a window that fits nowhere, or no event at all.
    """
    window_s = _find_window(pieces, definition, where)
    parts = [_place_windows(piece, window_s, definition) for piece in pieces]
    table = pd.concat(parts, ignore_index=True)
    marks = hint_at_marks(pieces, tuple(definition.classes or ()))
    if table.empty:
        raise InputError(f"{where}: there are no events. Name a table of events, or a stim_channel.{marks}")
    for column, values in definition.where.items():
        words = as_text(_column(table, column, where))
        table = table[words.isin(values)]
        if table.empty:
            raise InputError(
                f'{where}: no event is left of those that the key "where" selects: none has the {column} '
                f"{' or '.join(values)}; there are: {_count_values(words)}."
            )
    target = definition.target or _guess_target(table, where, marks)
    table, classes = _targets(table, target, definition, numbers, where)
    if table.empty:
        raise InputError(f'{where}: no event has a value in the column "{target}", which is decoded.')
    if not numbers and len(classes) < 2:
        raise InputError(
            f'{where}: the column "{target}" has one class, {classes[0]}; two or more are needed. '
            f"Choose another column as the target, or more classes.{marks}"
        )
    inside = table["start"].ge(0) & table["stop"].le(table["n_samples"])
    notes = (*_notes_on_silent(pieces), *_notes_on_edges(table, inside))
    if not inside.any():
        first = table.iloc[0]
        raise InputError(
            f"{where}: no window lies inside its recording. The first would be samples {first['start']} to "
            f"{first['stop']} of {first['recording']}, which has {first['n_samples']}."
        )
    table, rejected = _reject(table[inside].drop(columns="n_samples"), where)
    table, unit, cluster = _owners(table, definition, where)
    table["id"] = _ids(table)
    rest = [column for column in table.columns if column not in (*EXAMPLE_COLUMNS, "sample")]
    table = table[[*EXAMPLE_COLUMNS, *rest]].sort_values("id", ignore_index=True)
    return OwnExamples(table, classes, target, unit, cluster, window_s, (*notes, *rejected))


def _find_window(pieces: Sequence[Piece], definition: Definition, where: str) -> tuple[float, float]:
    stacks = [piece for piece in pieces if piece.stretch is not None]
    if definition.window_s is None:
        if not stacks or len(stacks) < len(pieces):
            raise InputError(
                f'{where}: the key "window_s" is missing; say which seconds around an event to use, as in [0, 1].'
            )
        if definition.pad_s:
            raise InputError(
                f"{where}: pad_s needs window_s: epochs that are used whole have nothing around them."
            )
    if stacks and "reject_by_annotation" in definition.model_fields_set:
        raise InputError(
            f"{where}: reject_by_annotation is for recordings; epochs were rejected, or kept, as they were cut."
        )
    shortest = min((piece.stretch for piece in stacks if piece.stretch), default=None)
    rate = pieces[0].rate_hz
    window = definition.window_s
    if window is None:
        assert shortest is not None
        return -shortest[0] / rate, shortest[1] / rate
    for piece in stacks:
        assert piece.stretch is not None
        begin, end = -piece.stretch[0] / piece.rate_hz, piece.stretch[1] / piece.rate_hz
        if window[0] - definition.pad_s < begin - 1e-9 or window[1] + definition.pad_s > end + 1e-9:
            padded = f" with pad_s {definition.pad_s:g}" if definition.pad_s else ""
            raise InputError(
                f"{where}: window_s {window[0]:g} to {window[1]:g} s{padded} lies outside of the epochs of "
                f"{piece.key}, which are {begin:g} to {end:g} s."
            )
    return window


def _place_windows(piece: Piece, window_s: tuple[float, float], definition: Definition) -> pd.DataFrame:
    """Return the events of a piece with start and stop, in samples, and the bad stretch that each overlaps.

    The ends of recordings are not looked at. What is read besides a window to let filters settle may be bad.
    """
    named = tuple(definition.classes or ())
    table, rate = without_marks(piece, named).table(), piece.rate_hz
    pad = round(definition.pad_s * rate)
    length = round((window_s[1] - window_s[0]) * rate)
    if length < 1:
        raise InputError(
            f"{piece.key}: window_s {window_s[0]:g} to {window_s[1]:g} s is shorter than one sample at {rate:g} Hz."
        )
    start = table["sample"] + round(window_s[0] * rate) - pad
    table = table.assign(start=start, stop=start + length + 2 * pad, n_samples=piece.n_samples, spoilt=None)
    if definition.reject_by_annotation:
        begin = (start + pad).to_numpy()
        table["spoilt"] = find_overlaps(begin / rate, (begin + length) / rate, bad_stretches(piece, named))
    return table


def _column(table: pd.DataFrame, name: str, where: str) -> pd.Series:
    if name not in table:
        raise InputError(f'{where}: the events have no column "{name}"; there are: {_list_columns(table)}.')
    return table[name]


def _list_columns(table: pd.DataFrame) -> str:
    """List the columns that somebody could have meant, without those that were made here."""
    made = ("sample", "start", "stop", "n_samples", "spoilt")
    return ", ".join(str(column) for column in table.columns if column not in made)


def _guess_target(table: pd.DataFrame, where: str, marks: str) -> str:
    """Choose the column that says what an event is; one that is the same for all events says nothing."""
    for name in TARGETS:
        if name in table and table[name].nunique() > 1:
            return name
    raise InputError(
        f"{where}: say which column of the events is decoded, as the target; there are: "
        f"{_list_columns(table)}.{marks}"
    )


def _targets(
    table: pd.DataFrame, target: str, definition: Definition, numbers: bool, where: str
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the events that take part with their target, and the classes in order."""
    stated = _column(table, target, where)
    table = table[stated.notna()]
    if numbers:
        values = pd.to_numeric(table[target], errors="coerce")
        wrong = table.index[~np.isfinite(values)]
        if len(wrong):
            raise InputError(
                f'{where}: {definition.metric} judges numbers, and the column "{target}" holds '
                f'"{table.loc[wrong[0], target]}". Choose another target, or a metric of classes.'
            )
        return table.assign(target=values.astype(np.float64)), ()
    words = as_text(table[target])
    asked = definition.classes
    if asked is None:
        classes = tuple(sorted(words.unique(), key=natural_order))
        mapping = {name: name for name in classes}
    else:
        mapping = dict(asked) if isinstance(asked, dict) else {name: name for name in asked}
        classes = tuple(dict.fromkeys(mapping.values()))
        counts = words.value_counts()
        absent = [name for name in mapping if name not in counts]
        if absent:
            raise InputError(
                f'{where}: no event has the {target} "{absent[0]}"; there are: {_count_values(words)}.'
            )
    return table.assign(target=words.map(mapping)).dropna(subset="target"), classes


def _count_values(words: pd.Series) -> str:
    return ", ".join(f"{name} ({count})" for name, count in words.value_counts().head(10).items())


def _notes_on_silent(pieces: Sequence[Piece]) -> tuple[str, ...]:
    """Name the recordings without an event, because a misspelt name in a table of events makes one."""
    silent = [piece.key for piece in pieces if piece.events.empty]
    if not silent:
        return ()
    said = "has no event and takes no part" if len(silent) == 1 else "have no event and take no part"
    return (f"{len(silent)} of {len(pieces)} recordings {said}: {', '.join(silent[:4])}.",)


def _notes_on_edges(table: pd.DataFrame, inside: pd.Series) -> tuple[str, ...]:
    outside = int((~inside).sum())
    if not outside:
        return ()
    first = table[~inside].iloc[0]
    place = f"at sample {first['sample']} of {first['recording']}."
    if outside == 1:
        said = "its window reaches beyond its recording, "
    else:
        said = "their windows reach beyond their recording, the first "
    return (f"{_left_out(outside, len(table))} because {said}{place}",)


def _left_out(count: int, of: int) -> str:
    return f"{count} of {of} events {'was' if count == 1 else 'were'} left out"


def _reject(table: pd.DataFrame, where: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Leave out windows that overlap a bad stretch, and say how many, by what was written there."""
    spoilt = table["spoilt"].dropna().astype(str)
    kept = table.drop(columns="spoilt")
    if spoilt.empty:
        return kept, ()
    counts = ", ".join(f"{name} ({count})" for name, count in spoilt.value_counts().head(5).items())
    if len(spoilt) == len(table):
        raise InputError(
            f"{where}: every window overlaps a stretch that is annotated as bad: {counts}. Keep them with "
            "reject_by_annotation = false."
        )
    one = len(spoilt) == 1
    said = "its window overlaps a stretch that is" if one else "their windows overlap stretches that are"
    left_out = _left_out(len(spoilt), len(table))
    note = f"{left_out} because {said} annotated as bad: {counts}. reject_by_annotation = false keeps them."
    return kept.drop(index=spoilt.index), (note,)


def _owners(table: pd.DataFrame, definition: Definition, where: str) -> tuple[pd.DataFrame, str, str | None]:
    """Add subject, session, unit and cluster."""
    table = table.copy()
    for level in ("subject", "session", "run"):
        said = getattr(definition, level)
        if said is not None:
            table[level] = _column(table, said, where)
    for level in ("subject", "session"):
        table[level] = as_text(table[level]) if level in table else "1"
    unit = definition.unit or _guess_unit(table)
    _column(table, unit, where)
    several = table["subject"].nunique() > 1
    values = nested_values(table, unit)
    owned = unit in (*LEVELS[1:], "recording")
    table["unit"] = table["subject"] + "/" + values if several and owned and unit != "recording" else values
    cluster = definition.cluster or ("subject" if several and owned else None)
    table["cluster"] = table["unit"] if cluster is None else as_text(_column(table, cluster, where))
    return table, unit, cluster


def _guess_unit(table: pd.DataFrame) -> str:
    for level in (*LEVELS, "recording"):
        if level in table and table[level].nunique() > 1:
            return level
    return "recording"


def _ids(table: pd.DataFrame) -> list[str]:
    """Name examples by recording and place; a second event at the same place is numbered."""
    names = table["recording"].astype(str) + "/" + table["sample"].map("{:09d}".format)
    again = names.groupby(names).cumcount()
    return [f"{name}-{count + 1}" if count else name for name, count in zip(names, again, strict=True)]
