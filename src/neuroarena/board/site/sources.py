"""What a site is built from, and the snapshot that this content is."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from neuroarena.board.entries import Entry
from neuroarena.board.importing import Imported, merge_imported, read_together, sort_paths
from neuroarena.board.site.contests import Contest, check_labels
from neuroarena.board.site.views import separate_views
from neuroarena.errors import InputError
from neuroarena.evaluation.results import find_results
from neuroarena.fingerprint import digest, file_digest

SNAPSHOT_DIGITS = 12


@dataclass(frozen=True, eq=False)
class Sources:
    """What was read for a site.

    Attributes
    ----------
    entries : tuple of Entry
    notes : tuple of str
        What the readers say about what they read.
    snapshot : str
        SHA-256 of the content: names and bytes of all files, wherever they lie and in whatever order they are named.
    readers : mapping of str to int
        Reader -> how many folders it read.
    contests : tuple of Contest
        Competitions, whose entries are among the others.
    """

    entries: tuple[Entry, ...]
    notes: tuple[str, ...]
    snapshot: str
    readers: Mapping[str, int]
    contests: tuple[Contest, ...] = ()

    @property
    def updated(self) -> datetime.datetime:
        """The newest time that is recorded in the sources; never the clock."""
        return max((*(entry.time for entry in self.entries), *(one.as_of for one in self.contests)))

    @property
    def short(self) -> str:
        """The first digits of the snapshot, as pages show it."""
        return self.snapshot[:SNAPSHOT_DIGITS]


def read_sources(
    paths: Sequence[Path], *, allow_mixed: bool = False, contests: Sequence[Contest] = ()
) -> Sources:
    """Read results folders and folders that an importer recognises, in any mix, and put competitions beside them.

    Raises
    ------
    InputError
        When a folder is missing, is named twice, holds nothing that can be read, or has no unit scores; and when two
        competitions have one name.
    """
    check_labels(contests)
    found = _distinct(paths)
    readers = sort_paths(found)
    read = read_together(readers, allow_mixed=allow_mixed, every_view=True)
    if not isinstance(read, Imported):
        raise InputError(
            f"{found[0]}: this board was published without unit scores, so no site can say which differences are "
            "real. Pass results or submissions."
        )
    separated = separate_views(read.entries, by_definition=not allow_mixed)
    parts: dict[str | None, Imported] = {None: Imported(separated)}
    parts |= {contest.name: Imported(contest.list_entries()) for contest in contests}
    content = [_digest_of_reader(name, own) for name, own in readers.items()]
    content += [contest.digest for contest in contests]
    counts = {name or "results": len(own) for name, own in readers.items()}
    return Sources(
        entries=tuple(merge_imported(parts).entries),
        notes=read.notes,
        snapshot=digest(sorted(content)),
        readers={**counts, "competitions": len(contests)} if contests else counts,
        contests=tuple(contests),
    )


def _distinct(paths: Sequence[Path]) -> list[Path]:
    known: dict[Path, Path] = {}
    for path in paths:
        if not path.exists():
            raise InputError(
                f"{path}: there is no such folder. Pass results, submissions, a competition or its export."
            )
        if path.resolve() in known:
            raise InputError(f"{path}: the folder is named twice.")
        known[path.resolve()] = path
    return list(known.values())


def _digest_of_reader(reader: str | None, paths: Sequence[Path]) -> str:
    """Digest what a reader read: of results, only the runs; hidden files are nobody's content."""
    folders = find_results(list(paths)) if reader is None else paths
    return digest([reader or "", *sorted(digest(digest_files(folder)) for folder in folders)])


def digest_files(path: Path) -> list[tuple[str, str]]:
    """Return the name and SHA-256 of every visible file of a folder, or of one file, in the order of names."""
    if path.is_file():
        return [(path.name, file_digest(path))]
    return sorted(
        (f"{path.resolve().name}/{file.relative_to(path).as_posix()}", file_digest(file))
        for file in _visible_files(path)
    )


def _visible_files(folder: Path) -> Iterable[Path]:
    for file in folder.rglob("*"):
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(folder).parts):
            yield file
