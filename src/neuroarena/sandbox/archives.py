"""Submitted zip files: everything at the root, nothing outside the folder, no zip bombs."""

from __future__ import annotations

import ast
import contextlib
import secrets
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from neuroarena.datasets.fetch_plan import FetchError, RemoteFile
from neuroarena.datasets.unpack import DAMAGE, BadArchive, unpack
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.progress import readable_size

# The record at the end of a zip, which a comment of up to 64 kB may follow, and the directory it may speak of.
_END_MARK, _END_BYTES = b"PK\x05\x06", 22 + 2**16
_MOST_DIRECTORY_BYTES = 32 * 2**20
# Vendored packages have some thousand files; every one of them costs the intake time before an attempt counts.
_MOST_FILES = 10_000
_USUAL = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


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
        When it is not a zip, is too large, damaged or compressed in an unusual way, reaches outside its folder,
        grows too much, or has no `entry` at its root.
    NeuroarenaError
        When this machine cannot unpack it, because its disk is full.

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
    size = archive.stat().st_size
    if size > most_mb * 2**20:
        raise SubmissionRefused(
            f"{archive.name}: has {readable_size(size)}, more than the {readable_size(most_mb * 2**20)} allowed."
        )
    _check_methods(archive, entry)
    # An unguessable name: otherwise a folder of the same name inside the archive would be mistaken for it.
    folder = secrets.token_hex(8)
    described = RemoteFile("submission.zip", (), archive=True, folder=folder, unpacked_limit=most_mb * 2**20)
    with tempfile.TemporaryDirectory(prefix="neuroarena-") as work:
        root = Path(work)
        try:
            products = unpack(archive, described, root, root, durable=False)
        except BadArchive as error:
            refusal = _refusal(archive, error, described.path).replace(f"{folder}/", "")
            raise SubmissionRefused(refusal) from error
        except (FetchError, OSError) as error:
            # The machine's fault; where it unpacks is nobody's business.
            said = error.strerror if isinstance(error, OSError) else str(error).replace(work, "this machine")
            raise NeuroarenaError(f"{archive.name}: could not be unpacked ({said})") from error
        _check_entry([product.file.removeprefix(f"{folder}/") for product in products], entry, archive.name)
        _let_others_read(root / folder)
        yield root / folder


def check_python(file: Path, name: str, defines: Sequence[str]) -> None:
    """Check the text of a submitted module without running it.

    Parameters
    ----------
    file : Path
    name : str
        Of the archive, for messages.
    defines : sequence of str
        Names of which the module must mention one at its top level.

    Raises
    ------
    SubmissionRefused
        When it is not Python, or has none of the names.
    """
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise SubmissionRefused(f"{name}: {file.name} is not Python: {_plain(error)}.") from error
    named: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            named.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            named |= {alias.asname or alias.name for alias in node.names}
        elif not isinstance(node, ast.Expr):
            # Under a condition or in an assignment: whatever is stored there may be it.
            named |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
            named |= {
                each.name for each in ast.walk(node) if isinstance(each, ast.FunctionDef | ast.ClassDef)
            }
    if defines and not named & {*defines, "*"}:
        raise SubmissionRefused(f"{name}: {file.name} does not define {' or '.join(defines)}.")


def _let_others_read(folder: Path) -> None:
    """Make a tree readable for whoever the guest is; the folder around it stays private."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _check_methods(archive: Path, entry: str) -> None:
    """Refuse what is not a zip, and methods of compression that a small file can use to fill the memory."""
    expected = f"Expected a zip with {entry} at its root."
    if _directory_bytes(archive) > _MOST_DIRECTORY_BYTES:
        raise SubmissionRefused(
            f"{archive.name}: its table of contents is larger than {readable_size(_MOST_DIRECTORY_BYTES)}. "
            "Zip only the files that the code needs."
        )
    try:
        if not zipfile.is_zipfile(archive):
            raise SubmissionRefused(f"{archive.name}: is not a zip archive. {expected}")
        with zipfile.ZipFile(archive) as opened:
            infos = opened.infolist()
    except DAMAGE as error:
        raise SubmissionRefused(
            f"{archive.name}: is a damaged zip archive ({_plain(error)}). Zip the files again."
        ) from error
    if len(infos) > _MOST_FILES:
        raise SubmissionRefused(
            f"{archive.name}: holds {len(infos)} files, more than the {_MOST_FILES} allowed. "
            "Zip only the files that the code needs."
        )
    unusual = [info for info in infos if info.compress_type not in _USUAL]
    if unusual:
        raise SubmissionRefused(
            f"{archive.name}: {unusual[0].filename!a} is compressed by method {unusual[0].compress_type}, "
            "expected the usual one of zip (deflate) or none. Zip the files again."
        )


def _directory_bytes(archive: Path) -> int:
    """Return how large a zip says that its table of contents is: Python reads it whole, whatever it says."""
    with open(archive, "rb") as file:
        file.seek(max(0, archive.stat().st_size - _END_BYTES))
        end = file.read()
    said = [0]
    place = end.find(_END_MARK)
    # Wherever the mark occurs: which one counts is the reader's choice.
    while place >= 0:
        said.append(int.from_bytes(end[place + 12 : place + 16], "little"))
        place = end.find(_END_MARK, place + 1)
    return max(said)


def _refusal(archive: Path, error: BadArchive, called: str) -> str:
    if isinstance(error.__cause__, Exception):
        return f"{archive.name}: is a damaged zip archive ({_plain(error.__cause__)}). Zip the files again."
    return str(error).replace(called, archive.name, 1)


def _plain(error: BaseException) -> str:
    """Return what an error says, on one line of printable characters."""
    said = "".join(letter if letter.isprintable() else "?" for letter in str(error))
    return said.encode("utf-8", "replace").decode()[:200] or type(error).__name__


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
