"""Results that were published elsewhere: what an importer is, and how one is found.

Families provide importers (their face ``importers``: name -> :class:`Importer`); this module knows none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from neuroarena.benchmarks.faces import choose_face, named_faces
from neuroarena.board.entries import Entry
from neuroarena.errors import InputError

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
    """

    title: str
    recognises: Callable[[Path], bool]
    read: Callable[..., Imported | PublishedBoard]
    options: Mapping[str, str] = field(default_factory=dict)
    rankable: bool = True


def find_importer(name: str) -> Importer:
    """Return the importer with this name.

    Raises
    ------
    UnknownName
        With the closest names.
    """
    importer: Importer = choose_face("importers", name, "importer")
    return importer


def recognise(paths: Iterable[Path]) -> str | None:
    """Return the name of the importer that recognises all of these paths, or None."""
    given = list(paths)
    for name, importer in named_faces("importers").items():
        if given and all(importer.recognises(path) for path in given):
            return name
    return None


def import_results(
    name: str, paths: Sequence[Path], *, split: str | None, allow_mixed: bool, options: Mapping[str, Any]
) -> Imported | PublishedBoard:
    """Read published results with the importer of a name.

    Raises
    ------
    InputError
        For an option that the importer does not have, and for what it refuses.
    """
    importer = find_importer(name)
    for option in options:
        if option not in importer.options:
            offered = ", ".join(importer.options) or "none"
            raise InputError(f'The importer "{name}" has no option "{option}"; it has {offered}.')
    return importer.read(paths, split=split, allow_mixed=allow_mixed, **options)
