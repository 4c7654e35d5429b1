"""Unpack an untrusted zip archive: nothing outside the folder, no zip bombs, all or nothing."""

from __future__ import annotations

import hashlib
import lzma
import os
import shutil
import stat
import struct
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from neuroarena.datasets.fetch_plan import FetchError, NoRoom, RemoteFile, is_inside
from neuroarena.progress import readable_size

_CHUNK = 2**20
_MOST_MEMBERS = 100_000
# Deflate reaches 1:1000 on nothing but zeros; signals and tables stay far below 1:200.
_MOST_GROWTH = 200
_ALWAYS_FINE = 100 * 2**20
# Names that no file system takes, or that only an attack needs.
_MOST_NAME_BYTES, _MOST_DEPTH = 255, 40
_LITTER = ("__MACOSX", ".DS_Store", "Thumbs.db")
_ENCRYPTED = 0x1
_METHODS = {
    zipfile.ZIP_STORED: "stored",
    zipfile.ZIP_DEFLATED: "deflate",
    zipfile.ZIP_BZIP2: "bzip2",
    zipfile.ZIP_LZMA: "LZMA",
}
# What Python raises for the directory or the content of a damaged archive, wherever the bytes lead it: among them
# UnicodeError (names) and bzip2's OSError without a number.
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    OverflowError,
    IndexError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    MemoryError,
)


class BadArchive(FetchError):
    """The archive must not or cannot be unpacked, now or later; its file is useless."""


@dataclass(frozen=True)
class Product:
    """A file that was unpacked.

    Attributes
    ----------
    file : str
        Its path in the dataset's folder.
    size : int
        Bytes.
    sha256 : str
        Hash of its content.
    """

    file: str
    size: int
    sha256: str


def unpack(archive: Path, file: RemoteFile, root: Path, work: Path, *, durable: bool = True) -> list[Product]:
    """Unpack a zip archive into a dataset's folder.

    Every name and size is checked before the first byte is written; every checksum before the first file
    is moved to its place. An existing file is left alone when it is the same, and never replaced.

    Parameters
    ----------
    archive : Path
        The zip file.
    file : RemoteFile
        Says where the content belongs and how large it may be.
    root : Path
        The dataset's folder.
    work : Path
        A folder of the same file system, for unfinished files.
    durable : bool
        Whether each file is flushed to the disk; a folder that is removed soon needs none of that, and thousands of
        small files take a minute with it.

    Returns
    -------
    list of Product
        What lies in `root` now, whether moved or found there.

    Raises
    ------
    BadArchive
        When it is not a zip archive, is damaged, reaches outside the folder, or grows too much.
    FetchError
        When a different file is in the way, or the method of compression is unknown here.
    NoRoom
        When the disk is full.
    """
    try:
        opened = zipfile.ZipFile(archive)
    except DAMAGE as error:
        raise BadArchive(f"{file.path}: {_why_no_zip(archive, error)}") from error
    with opened:
        members = place_members(opened, file, archive.stat().st_size)
        unknown = next((info for info in members.values() if info.compress_type not in _METHODS), None)
        if unknown is not None:
            raise FetchError(
                f"{file.path}: is compressed in a way that Python cannot read (method {unknown.compress_type}). "
                f"Unpack {archive} into {root} with another program and run the same command again."
            )
        _check_room(members, root, file)
        with tempfile.TemporaryDirectory(prefix="unpack-", dir=work) as waiting:
            try:
                place = Path(waiting)
                products = [_write(opened, info, target, place, durable) for target, info in members.items()]
            except _Damaged as error:
                raise BadArchive(f"{file.path}: {_why_no_zip(archive, error)}") from error.__cause__
            _move(products, Path(waiting), root, file)
        return products


class _Damaged(Exception):
    """What an archive holds cannot be read."""


def place_members(opened: zipfile.ZipFile, file: RemoteFile, archive_size: int) -> dict[str, zipfile.ZipInfo]:
    """Decide where each file of an archive belongs, after checking every one of them.

    Raises
    ------
    BadArchive
        For a name that leads outside, a link, a device, an encrypted or duplicate file, or too many bytes.
    """
    infos = opened.infolist()
    if len(infos) > _MOST_MEMBERS:
        raise BadArchive(
            f"{file.path}: holds {len(infos)} files, more than {_MOST_MEMBERS}. Nothing was unpacked."
        )
    limit = min(file.unpacked_limit, max(_ALWAYS_FINE, _MOST_GROWTH * archive_size))
    total = sum(info.file_size for info in infos)
    if total > limit:
        raise BadArchive(
            f"{file.path}: would grow from {readable_size(archive_size)} to {readable_size(total)}, more than the "
            f"{readable_size(limit)} allowed. Nothing was unpacked."
        )
    placed: dict[str, zipfile.ZipInfo] = {}
    taken: set[str] = set()
    for info in infos:
        _check_member(info, file)
        target = None if info.is_dir() else placement(info.filename, file)
        if target is None:
            continue
        # Names that differ only in case or in how accents are written are one file on some systems.
        same = unicodedata.normalize("NFC", target).casefold()
        if same in taken:
            raise BadArchive(f'{file.path}: holds "{target}" twice. Nothing was unpacked.')
        taken.add(same)
        placed[target] = info
    _check_folders(placed, taken, file)
    return placed


def _check_folders(placed: Iterable[str], taken: set[str], file: RemoteFile) -> None:
    """Refuse an archive in which a file is also the folder of another one."""
    for target in placed:
        for folder in PurePosixPath(target).parents:
            if unicodedata.normalize("NFC", str(folder)).casefold() in taken:
                raise BadArchive(
                    f'{file.path}: "{folder}" is a file and also the folder of "{target}". Nothing was unpacked.'
                )


def _check_member(info: zipfile.ZipInfo, file: RemoteFile) -> None:
    # The name as it stands in the archive: zipfile itself cuts at a zero byte and turns backslashes on Windows.
    for name in (info.orig_filename, info.filename):
        if not is_inside(name):
            raise BadArchive(
                f"{file.path}: holds {name!r}, which leads outside the folder. Nothing was unpacked."
            )
    _check_name(info.filename, file)
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        what = "a link" if kind == stat.S_IFLNK else "no plain file"
        raise BadArchive(f'{file.path}: "{info.filename}" is {what}. Nothing was unpacked.')
    if info.flag_bits & _ENCRYPTED:
        raise BadArchive(f'{file.path}: "{info.filename}" is encrypted. Nothing was unpacked.')


def _check_name(name: str, file: RemoteFile) -> None:
    parts = PurePosixPath(name).parts
    try:
        longest = max(len(part.encode()) for part in parts)
    except UnicodeEncodeError as error:
        raise BadArchive(
            f"{file.path}: holds the name {name!r}, which is not text. Nothing was unpacked."
        ) from error
    if len(parts) > _MOST_DEPTH or longest > _MOST_NAME_BYTES:
        raise BadArchive(
            f'{file.path}: holds "{name[:60]}...", {len(parts)} folders deep and up to {longest} bytes per part; '
            f"at most {_MOST_DEPTH} and {_MOST_NAME_BYTES} are allowed. Nothing was unpacked."
        )


def placement(name: str, file: RemoteFile) -> str | None:
    """Find where a member belongs in the dataset's folder; None when it is not wanted.

    Examples
    --------
    >>> labels = RemoteFile("labels.zip", (), archive=True, folder="labels")
    >>> [placement(name, labels) for name in ("labels/a.json", "data/labels/a.json", "a.json", "__MACOSX/a.json")]
    ['labels/a.json', 'labels/a.json', 'labels/a.json', None]
    """
    parts = PurePosixPath(name).parts
    if any(part in _LITTER for part in parts):
        return None
    if file.folder is None:
        wanted = {PurePosixPath(product).name: product for product in file.products}
        return wanted.get(parts[-1])
    inner = parts[parts.index(file.folder) + 1 :] if file.folder in parts[:-1] else parts
    return "/".join((file.folder, *inner))


def _check_room(members: dict[str, zipfile.ZipInfo], root: Path, file: RemoteFile) -> None:
    needed, free = sum(info.file_size for info in members.values()), free_bytes(root)
    if needed > free:
        raise NoRoom(
            f"{root}: unpacking {file.path} needs {readable_size(needed)}, and {readable_size(free)} are free."
        )


def free_bytes(folder: Path) -> int:
    """Return how many bytes are free where a folder is, or would be."""
    folder = folder.resolve()
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def _write(
    opened: zipfile.ZipFile, info: zipfile.ZipInfo, target: str, waiting: Path, durable: bool
) -> Product:
    path = waiting / target
    path.parent.mkdir(parents=True, exist_ok=True)
    content, size = hashlib.sha256(), 0
    with open(path, "xb") as file:
        for chunk in _chunks(opened, info):
            file.write(chunk)
            content.update(chunk)
            size += len(chunk)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    return Product(target, size, content.hexdigest())


def _chunks(opened: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """Iterate over the content of a member; reading fails as `_Damaged`, so that a full disk is not mistaken for it."""
    size = 0
    try:
        # zipfile stops at the size that the directory states, and compares the checksum there.
        with opened.open(info) as source:
            while chunk := source.read(_CHUNK):
                size += len(chunk)
                yield chunk
        if size != info.file_size:
            raise zipfile.BadZipFile(f"{info.filename} has {size} bytes, expected {info.file_size}")
    except DAMAGE as error:
        raise _Damaged(str(error) or type(error).__name__) from error


def _move(products: list[Product], waiting: Path, root: Path, file: RemoteFile) -> None:
    for product in products:
        if is_in_the_way(root / product.file, product.size, product.sha256, root):
            raise FetchError(
                f"{root / product.file}: already exists and differs from the one in {file.path}. Nothing was "
                f"replaced; move it away and run the same command again."
            )
    for product in products:
        target = root / product.file
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(waiting / product.file, target)


def is_in_the_way(target: Path, size: int, sha256: str, root: Path) -> bool:
    """Return whether something else is where a file belongs, or its folder leads outside `root`."""
    if not target.parent.resolve().is_relative_to(root.resolve()):
        return True
    if not os.path.lexists(target):
        return False
    if not target.is_file() or target.is_symlink() or target.stat().st_size != size:
        return True
    with open(target, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() != sha256


def _why_no_zip(archive: Path, error: BaseException) -> str:
    with open(archive, "rb") as file:
        begin = file.read(64)
    if not begin.startswith(b"PK"):
        return f"is not a zip archive; it begins with {begin[:24]!r}. The address may have changed. It was removed."
    return f"is a damaged zip archive ({error}). Nothing was unpacked and it was removed; fetch it again."
