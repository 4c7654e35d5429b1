"""Uploads: a form with one file, read while it is bounded, and kept in a folder that goes when it was taken."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from neuroarena.competition.intake import clean_name
from neuroarena.server.guarding import allow_body
from neuroarena.server.refusals import Refusal

# What a form has besides its file: borders, names, the other fields.
FORM_BYTES = 1 << 16
MOST_FIELDS = 40


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
async def receive_upload(request: Request, most_bytes: int) -> AsyncIterator[Upload]:
    """Read a form with one file, as long as it is within bounds, and keep the file while the caller works.

    Raises
    ------
    Refusal
        When it is too large: reading stops there. Or when the form has no file.
    """
    allow_body(request, most_bytes + FORM_BYTES)
    try:
        form = request.form(max_files=1, max_fields=MOST_FIELDS)
        async with form as sent:
            file = sent.get("file")
            if not isinstance(file, UploadFile) or not file.filename:
                raise Refusal(422, "file: this is missing. Choose a file.")
            fields = {name: value for name, value in sent.items() if isinstance(value, str)}
            with tempfile.TemporaryDirectory(prefix="neuroarena-upload-") as folder:
                path = Path(folder) / clean_name(file.filename)
                await run_in_threadpool(_save, file, path)
                yield Upload(path, fields)
    except HTTPException as error:
        if error.status_code != 413:
            raise
        megabytes = most_bytes // (1 << 20)
        raise Refusal(413, f"The file is larger than {megabytes} MB, and was not taken.") from error


def _save(file: UploadFile, path: Path) -> None:
    with path.open("wb") as kept:
        shutil.copyfileobj(file.file, kept)
