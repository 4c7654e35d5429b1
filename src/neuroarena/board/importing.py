"""Results that were published elsewhere: what an importer is, and how one is found.

Families provide importers (their face ``importers``: name -> :class:`Importer`); this module knows none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from neuroarena.benchmarks.faces import choose_face, named_faces
from neuroarena.board.entries import Entry, entries_from_results
from neuroarena.errors import InputError
from neuroarena.evaluation.results import find_results, holds_results, load_result
from neuroarena.registry import unknown_name

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ExtraTable:
    """A table that is printed below a board."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Imported:
    """Published results as entries of a board.

    Attributes
    ----------
    entries : list of Entry
    notes : tuple of str
        What a reader of the board must know about them.
    extra : mapping
        More keys of ``board --json``.
    tables : tuple of ExtraTable
        Printed below the board.
    """

    entries: list[Entry]
    notes: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    tables: tuple[ExtraTable, ...] = ()


class PublishedBoard(Protocol):
    """A board that was published without unit scores: it is shown as it is, and cannot be ranked again."""

    @property
    def table(self) -> pd.DataFrame:
        """The rows, as published."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Return the board as plain data for JSON."""
        ...

    def print(self) -> None:
        """Print the first rows and what is known about the whole."""
        ...


@dataclass(frozen=True)
class Importer:
    """How results of one published form are read.

    Attributes
    ----------
    title : str
        What it reads, in a few words.
    recognises : callable
        ``path -> bool``: whether a file or folder looks like it; never raises.
    read : callable
        ``read(paths, *, split=None, allow_mixed=False, **options)`` returns :class:`Imported` or a
        :class:`PublishedBoard`; it refuses what does not fit by name.
    options : mapping of str to str
        Its own options, with a line of help each.
    rankable : bool
        False where unit scores were not published: what is read is a :class:`PublishedBoard`.
    sort : callable, optional
        ``paths -> [(paths, options), ...]``: what can stand on one board, and the options to read it with, for
        those who show several boards beside each other.
    """

    title: str
    recognises: Callable[[Path], bool]
    read: Callable[..., Imported | PublishedBoard]
    options: Mapping[str, str] = field(default_factory=dict)
    rankable: bool = True
    sort: Callable[[Sequence[Path]], Sequence[tuple[Sequence[Path], Mapping[str, Any]]]] | None = None


def find_importer(name: str) -> Importer:
    """Return the importer with this name.

    Raises
    ------
    UnknownName
        With the closest names.
    """
    importer: Importer = choose_face("importers", name, "importer")
    return importer


def sort_paths(paths: Iterable[Path]) -> dict[str | None, list[Path]]:
    """Sort files and folders by who reads them.

    Returns
    -------
    dict of str or None to list of Path
        By the name of the importer that recognises them; None for results of ours, and for what nobody recognises.
    """
    readers: dict[str | None, list[Path]] = {}
    for path in paths:
        names = [] if holds_results(path) else named_faces("importers")
        name = next((each for each in names if find_importer(each).recognises(path)), None)
        readers.setdefault(name, []).append(path)
    return readers


def merge_imported(parts: Mapping[str | None, Imported]) -> Imported:
    """Put what several readers read onto one board.

    Parameters
    ----------
    parts : mapping of str or None to Imported
        By reader, as :func:`sort_paths` names them. A team whose name an earlier reader has too is shown with its
        reader, as in "linear (neuroprobe)": it is another entry, not another attempt.
    """
    entries: list[Entry] = []
    for reader, part in parts.items():
        taken = {entry.team for entry in entries}
        entries += [
            replace(entry, team=f"{entry.team} ({reader or 'run'})") if entry.team in taken else entry
            for entry in part.entries
        ]
    return Imported(
        entries,
        tuple(note for part in parts.values() for note in part.notes),
        {key: value for part in parts.values() for key, value in part.extra.items()},
        tuple(table for part in parts.values() for table in part.tables),
    )


def import_results(
    name: str, paths: Sequence[Path], *, split: str | None, allow_mixed: bool, options: Mapping[str, Any]
) -> Imported | PublishedBoard:
    """Read published results with the importer of a name.

    Raises
    ------
    UnknownName
        For an option that the importer does not have, with those it has.
    InputError
        For what it refuses.
    """
    importer = find_importer(name)
    for option in options:
        if option not in importer.options:
            raise unknown_name(f"{name} importer option", option, importer.options, None)
    return importer.read(paths, split=split, allow_mixed=allow_mixed, **options)


def read_results(paths: Sequence[Path], split: str | None = None) -> Imported:
    """Read results of ours, all or those of one split.

    Raises
    ------
    InputError
        When no result has the split.
    """
    results = [load_result(folder) for folder in find_results(list(paths))]
    entries = [entry for entry in entries_from_results(results) if split is None or entry.split == split]
    if not entries:
        known = sorted({result.record.split.name for result in results})
        raise InputError(f'No result has the split "{split}"; there are {", ".join(known)}.')
    return Imported(entries)


def read_together(
    readers: Mapping[str | None, Sequence[Path]],
    *,
    split: str | None = None,
    allow_mixed: bool = False,
    options: Mapping[str, Any] | None = None,
    every_view: bool = False,
) -> Imported | PublishedBoard:
    """Read results of ours and those that importers read, for one board, or for several beside each other.

    Parameters
    ----------
    readers : mapping of str or None to sequence of Path
        As :func:`sort_paths` sorts them.
    split : str, optional
        Only this split.
    allow_mixed : bool
        Whether entries of different definitions may stand side by side.
    options : mapping, optional
        Of the importer.
    every_view : bool
        Whether to read all that an importer can read of the paths, such as every level of its scores.

    Raises
    ------
    InputError
        For what a reader refuses, or a board without unit scores beside others.
    """
    parts: dict[str | None, Imported] = {}
    for name, paths in readers.items():
        if name is None:
            parts[None] = read_results(paths, split)
            continue
        sort = find_importer(name).sort if every_view else None
        if sort is not None:
            views = [
                import_results(name, own, split=split, allow_mixed=allow_mixed, options=each)
                for own, each in sort(paths)
            ]
            parts[name] = _join_views([view for view in views if isinstance(view, Imported)])
            continue
        read = import_results(name, paths, split=split, allow_mixed=allow_mixed, options=options or {})
        if isinstance(read, Imported):
            parts[name] = read
        elif len(readers) == 1:
            return read
        else:
            raise InputError(
                f"{paths[0]}: this board was published without unit scores, so nothing can be ranked beside it. "
                "Pass it alone."
            )
    return merge_imported(parts)


def _join_views(views: Sequence[Imported]) -> Imported:
    """Put several views of the same paths together; in all but the first, what has no scores is left out."""
    first, *others = views
    more = [entry for view in others for entry in view.entries if entry.unit_scores is not None]
    notes = dict.fromkeys(note for view in views for note in view.notes)
    return Imported([*first.entries, *more], tuple(notes), first.extra, first.tables)
