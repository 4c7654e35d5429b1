"""The files behind a recording, checked before anything opens them."""

from __future__ import annotations

from pathlib import Path

from neuroarena.errors import InputError
from neuroarena.recordings.content import check_content


def existing_file(path: str | Path) -> Path:
    """Return `path` as a Path after checking that the file exists and is not empty.

    Raises
    ------
    InputError
        When there is no such file, it is a folder, it holds nothing, or its content was not fetched
        (DataLad, git-annex, Git LFS).
    """
    try:
        file = Path(path)
    except TypeError as error:
        raise InputError(f"Expected the path of a file, got {path!r}.") from error
    check_content(file)
    if not file.exists():
        leads = f"; it is a link to {file.readlink()}, which leads nowhere" if file.is_symlink() else ""
        raise InputError(f"{file}: there is no such file{leads}.")
    if not file.is_file():
        raise InputError(f"{file}: is a folder; expected a file.")
    if file.stat().st_size == 0:
        raise InputError(f"{file}: is empty.")
    return file
