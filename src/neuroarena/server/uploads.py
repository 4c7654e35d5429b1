"""Uploads: a form with one file, read while it is bounded, and kept in a folder that goes when it was taken."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from neuroarena.atomic import building, sweep
from neuroarena.competition.admission import MEGABYTE
from neuroarena.competition.arena import Arena
from neuroarena.competition.checking import ENDING
from neuroarena.competition.intake import clean_name, drop_unclaimed
from neuroarena.server.guarding import allow_body
from neuroarena.server.refusals import Refusal

# What a form has besides its file: borders, names, the other fields.
FORM_BYTES = 1 << 16
MOST_FIELDS = 40
# What the folder of an upload is called while its request lasts.
INCOMING = "incoming"


@dataclass(frozen=True)
class Upload:
    """A file that was sent with a form.

    Attributes
    ----------
    path : Path
        Where it lies until the request has ended, under its own name.
    fields : mapping
        The other fields of the form, one value each.
    """

    path: Path
    fields: dict[str, str]


@contextlib.asynccontextmanager
async def receive_upload(request: Request, arena: Arena) -> AsyncIterator[Upload]:
    """Read a form with one file, as long as it is within bounds, and keep the file while the caller works.

    It lies where uploads of the competition lie, in a folder that is locked: if the server is killed, the next one
    knows by it what was not finished.

    Raises
    ------
    Refusal
        When it is too large: reading stops there. Or when the form has no file.
    """
    most_bytes = arena.competition.limits.file_mb * MEGABYTE
    allow_body(request, most_bytes + FORM_BYTES)
    try:
        form = request.form(max_files=1, max_fields=MOST_FIELDS)
        async with form as sent:
            file = sent.get("file")
            if not isinstance(file, UploadFile) or not file.filename:
                raise Refusal(422, "file: this is missing. Choose a file.")
            fields = {name: value for name, value in sent.items() if isinstance(value, str)}
            with building(find_home(arena) / INCOMING) as folder:
                path = folder / clean_name(file.filename)
                await run_in_threadpool(_save, file, path)
                yield Upload(path, fields)
    except HTTPException as error:
        if error.status_code != 413:
            raise
        megabytes = most_bytes // (1 << 20)
        raise Refusal(413, f"The file is larger than {megabytes} MB, and was not taken.") from error


def find_home(arena: Arena) -> Path:
    """Return the folder of uploads, which intake may write and the scorer cannot open."""
    return arena.artifacts.home(ENDING["code"])


def clear_uploads(arena: Arena) -> int:
    """Remove what servers that were killed left of uploads, and return how many were cut short.

    Neither a part of a file nor a kept file without its submission stays; those of a living server do.
    """

    def drop(folder: Path) -> None:
        for file in folder.iterdir():
            drop_unclaimed(arena, file)

    arena.artifacts.sweep()
    return len(sweep(find_home(arena), INCOMING, drop))


def _save(file: UploadFile, path: Path) -> None:
    with path.open("wb") as kept:
        shutil.copyfileobj(file.file, kept)
