"""Submitted zip files: everything at the root, nothing outside the folder, no zip bombs."""

from __future__ import annotations

import contextlib
import secrets
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from neuroarena.datasets.fetch_plan import FetchError, RemoteFile
from neuroarena.datasets.unpack import BadArchive, unpack
from neuroarena.errors import InputError, NeuroarenaError


class SubmissionRefused(InputError):
    """The file is not what the contract asks for; nothing in it was judged."""


@contextlib.contextmanager
def unpack_submission(archive: Path, entry: str, most_mb: int = 2048) -> Iterator[Path]:
    """Unpack a submission for the duration of the block.

    Parameters
    ----------
    archive : Path
        The zip.
    entry : str
        The file that must lie at its root, e.g. ``submission.py``.
    most_mb : int, default 2048
        Most that it may unpack to; archives that grow more than 200 times are refused in any case.

    Yields
    ------
    Path
        The folder with its files.

    Raises
    ------
    SubmissionRefused
        When it is not a zip, is damaged, reaches outside its folder, grows too much, or has no `entry`
        at its root.

    Examples
    --------
    >>> folder = Path(tempfile.mkdtemp())
    >>> with zipfile.ZipFile(folder / "mine.zip", "w") as file:
    ...     file.writestr("submission.py", "class Submission: ...")
    >>> with unpack_submission(folder / "mine.zip", "submission.py") as files:
    ...     [path.name for path in files.iterdir()]
    ['submission.py']
    """
    archive = Path(archive)
    if not archive.is_file():
        raise SubmissionRefused(f"{archive}: there is no such file. Expected a zip with {entry} at its root.")
    if not zipfile.is_zipfile(archive):
        raise SubmissionRefused(
            f"{archive.name}: is not a zip archive. Expected a zip with {entry} at its root."
        )
    # An unguessable name: otherwise a folder of the same name inside the archive would be mistaken for it.
    folder = secrets.token_hex(8)
    described = RemoteFile("submission.zip", (), archive=True, folder=folder, unpacked_limit=most_mb * 2**20)
    with tempfile.TemporaryDirectory(prefix="neuroarena-") as work:
        root = Path(work)
        try:
            products = unpack(archive, described, root, root)
        except BadArchive as error:
            raise SubmissionRefused(_refusal(archive, error, described.path)) from error
        except FetchError as error:
            raise NeuroarenaError(f"{archive.name}: could not be unpacked ({error})") from error
        _check_entry([product.file.removeprefix(f"{folder}/") for product in products], entry, archive.name)
        yield root / folder


def _refusal(archive: Path, error: BadArchive, called: str) -> str:
    if isinstance(error.__cause__, Exception):
        return f"{archive.name}: is a damaged zip archive ({error.__cause__}). Zip the files again."
    return str(error).replace(called, archive.name, 1)


def _check_entry(files: list[str], entry: str, name: str) -> None:
    if entry in files:
        return
    nested = [file for file in files if file.endswith(f"/{entry}")]
    if nested:
        folder = nested[0].rpartition("/")[0]
        raise SubmissionRefused(
            f'{name}: {entry} lies in the folder "{folder}", expected at the root. '
            f"Zip the files themselves, not the folder around them."
        )
    some = ", ".join(sorted(files)[:5]) or "nothing"
    raise SubmissionRefused(f"{name}: has no {entry} at its root; it holds {some}.")
