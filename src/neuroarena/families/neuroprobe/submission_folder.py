"""The folder of a submission before anything in it is read: plain files, of bounded size, and no links."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from neuroarena.families.neuroprobe.submission_checks import SubmissionError
from neuroarena.progress import readable_size

# A published file has 8 kB; with the scores of 120 single electrodes it would have one MB.
MOST_FILE_BYTES = 16 * 2**20
MOST_FOLDER_BYTES = 256 * 2**20
MOST_ENTRIES = 1000
MOST_PUBLICATION = 20_000
_FILES = (".json", ".txt", ".bib")


def require_readable(folder: Path) -> None:
    """Refuse a submission folder that must not be read.

    Raises
    ------
    SubmissionError
        At the first link, folder in place of a file, device, or excess of size; the message names it.
    """
    for file, words in folder_problems(folder):
        where = folder.name if file == "." else f"{folder.name}/{file}"
        raise SubmissionError("structure", where, "", words)


def folder_problems(folder: Path) -> Iterator[tuple[str, str]]:
    """Iterate over what forbids reading a submission folder: file or folder in it, and what is wrong with it.

    Links are not followed, and nothing is opened. The walk ends after a thousand entries.

    Parameters
    ----------
    folder : Path
        The submission.
    """
    if folder.is_symlink():
        yield ".", "the folder is a link; name the folder itself"
        return
    total, entries = 0, 0
    for place, folders, files in os.walk(folder):
        for name in sorted((*folders, *files)):
            entries += 1
            if entries > MOST_ENTRIES:
                yield ".", f"the folder holds more than {MOST_ENTRIES} files and folders"
                return
            path = Path(place, name)
            state = path.lstat()
            words = _wrong_kind(path, state)
            if words is None and stat.S_ISREG(state.st_mode):
                total += state.st_size
                if state.st_size > MOST_FILE_BYTES:
                    limit = readable_size(MOST_FILE_BYTES)
                    words = f"the file has {readable_size(state.st_size)}, more than the {limit} allowed"
            if words is not None:
                yield path.relative_to(folder).as_posix(), words
    if total > MOST_FOLDER_BYTES:
        limit = readable_size(MOST_FOLDER_BYTES)
        yield ".", f"the files have {readable_size(total)} in all, more than the {limit} allowed"


def read_publication(folder: Path) -> str | None:
    """Return the BibTeX of a submission that was found readable; None where it has none, or more than a page of it."""
    path = folder / "PUBLICATION.bib"
    if not path.is_file():
        return None
    text = path.read_text(encoding="utf-8", errors="replace").strip()
    return text if "@" in text and len(text) <= MOST_PUBLICATION else None


def _wrong_kind(path: Path, state: os.stat_result) -> str | None:
    if stat.S_ISLNK(state.st_mode):
        return "it is a link; a submission holds plain files"
    if stat.S_ISDIR(state.st_mode):
        return "it is a folder, expected a file" if path.suffix in _FILES else None
    return None if stat.S_ISREG(state.st_mode) else "it is not a plain file"
