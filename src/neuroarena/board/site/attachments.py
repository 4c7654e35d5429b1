"""Files that organisers put beside their pages: maps, reports, slides; shown as they are, and never run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from neuroarena.errors import InputError

# Within the folder of the pages, and within a site.
FOLDER = "files"
LARGEST = 64 * 2**20
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".webp": "image/webp",
    ".pdf": "application/pdf",
    ".txt": "text/plain; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json",
    ".parquet": "application/vnd.apache.parquet",
}


def list_attachments(folder: Path | None) -> dict[str, Path]:
    """Return every file beneath ``files`` of the folder of somebody's pages, by its address within a site.

    Raises
    ------
    InputError
        Naming the file, when it is a link, too large, hidden or of a kind that is not shown.
    """
    if folder is None or not (folder / FOLDER).is_dir():
        return {}
    if (folder / FOLDER).is_symlink():
        raise InputError(f"{folder / FOLDER}: a link is not shown; put the folder itself here.")
    return dict(_walk(folder / FOLDER, FOLDER))


def _walk(folder: Path, address: str) -> Iterator[tuple[str, Path]]:
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda one: one.name)
    for entry in entries:
        path = Path(entry.path)
        if entry.name.startswith(".") or entry.is_symlink():
            raise InputError(
                f"{path}: hidden files and links are not shown; remove it, or put the file itself here."
            )
        if entry.is_dir():
            yield from _walk(path, f"{address}/{entry.name}")
            continue
        if not entry.is_file() or path.suffix.lower() not in TYPES:
            raise InputError(f"{path}: files of this kind are not shown; expected one of {', '.join(TYPES)}.")
        if entry.stat().st_size > LARGEST:
            raise InputError(f"{path}: a file beside the pages has at most {LARGEST // 2**20} MB.")
        yield f"{address}/{entry.name}", path


def find_attachment(folder: Path, name: str) -> Path | None:
    """Return one file beneath ``files`` of a folder by its name; None for anything that is not to be shown.

    Nothing of the name is followed: not upwards, not through a link, not into what is hidden.
    """
    parts = name.split("/")
    if any(not part or part.startswith(".") or "\\" in part or "\0" in part for part in parts):
        return None
    place = folder / FOLDER
    try:
        for part in parts:
            if place.is_symlink():
                return None
            place = place / part
        shown = place.suffix.lower() in TYPES and not place.is_symlink() and place.is_file()
        return place if shown and place.stat().st_size <= LARGEST else None
    except OSError:  # a name that no disk takes, or a file that goes this moment
        return None
