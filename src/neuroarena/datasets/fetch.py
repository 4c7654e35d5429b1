"""Fetch a dataset: see what is there, download with resume, check, unpack, and record what arrived."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from neuroarena import atomic
from neuroarena.datasets.card import CARD
from neuroarena.datasets.download import Patience, ResumingDownloader, remote_size
from neuroarena.datasets.fetch_plan import FetchError, FetchPlan, FetchStopped, NoRoom, RemoteFile
from neuroarena.datasets.unpack import BadArchive, Product, free_bytes, is_in_the_way, unpack
from neuroarena.errors import DiskFull, InputError
from neuroarena.fingerprint import file_digest
from neuroarena.progress import Progress, Silence, readable_size

WORK = ".fetch"
RECORD = "fetched.json"

State = Literal["complete", "partial", "to fetch"]


@dataclass(frozen=True)
class Item:
    """A file of a plan and its state.

    Attributes
    ----------
    file : RemoteFile
        The file.
    url : str
        Its address.
    state : {"complete", "partial", "to fetch"}
        Whether its content is in the folder.
    size : int or None
        Bytes to download in total; None when complete or not stated by the server.
    have : int
        Bytes of these that are already here.
    """

    file: RemoteFile
    url: str
    state: State
    size: int | None = None
    have: int = 0


@dataclass(frozen=True)
class Fetched:
    """What a fetch brought.

    Attributes
    ----------
    root : Path
        The dataset's folder.
    items : list of Item
        The files as they were before.
    record : dict
        What ``fetched.json`` says: by path, the address, size and hash of each file and of what was unpacked.
    missing : list of str
        Wanted files that no archive contained.
    """

    root: Path
    items: list[Item]
    record: dict[str, Any] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)


def survey(
    plan: FetchPlan, root: str | Path, patience: Patience | None = None, ask: bool = True
) -> list[Item]:
    """Find which files of a plan are complete, and ask the server for the sizes of the others.

    Writes nothing.

    Parameters
    ----------
    plan : FetchPlan
        What is wanted.
    root : path
        The dataset's folder; it need not exist.
    patience : Patience, optional
        How long to keep trying.
    ask : bool
        Whether to ask the server; without it, sizes are those that the plan states.

    Raises
    ------
    InputError
        When the folder is a simulated twin or not a folder, or holds a file that differs from what was fetched.
    FetchError
        When the server does not have some of the files; all of them are named.
    FetchStopped
        When the server cannot be reached.
    """
    root, patience = Path(root), patience or Patience()
    _check_folder(root)
    record = read_record(root)
    items, refusals = [], []
    for file in plan.files:
        url = plan.url(file)
        state, have = _state(file, root, record)
        if state == "complete":
            items.append(Item(file, url, state))
            continue
        try:
            told = remote_size(url, patience) if ask else None
        except FetchStopped as error:
            raise FetchStopped(f"{error} {_describe_kept(plan, root)}") from error
        except FetchError as error:
            refusals.append(str(error))
            continue
        items.append(Item(file, url, state, told or file.size, have))
    if refusals:
        raise FetchError(" ".join([*refusals, "Nothing was fetched."]))
    return items


def fetch(
    plan: FetchPlan,
    root: str | Path,
    *,
    items: Sequence[Item] | None = None,
    patience: Patience | None = None,
    progress: Progress | None = None,
) -> Fetched:
    """Fetch a plan into a folder; what is complete already is not fetched again.

    Each file is downloaded into ``.fetch/``, continued where an earlier run ended, checked against its size
    and hash, and only then unpacked or moved to its place. Its hash is written down in ``fetched.json``.

    Parameters
    ----------
    plan : FetchPlan
        What is wanted.
    root : path
        The dataset's folder; it is made when it does not exist.
    items : sequence of Item, optional
        What :func:`survey` returned, when it was called already.
    patience : Patience, optional
        How long to keep trying.
    progress : Progress, optional
        Notified of how far the download has come.

    Raises
    ------
    InputError
        When the folder cannot be used.
    FetchStopped
        When the network fails or the user stops it; says what was kept and how to go on.
    NoRoom
        When the disk is full; says the same.
    FetchError
        When single files failed; the others are complete.
    """
    root, patience, progress = Path(root), patience or Patience(), progress or Silence()
    items = survey(plan, root, patience) if items is None else list(items)
    waiting = [item for item in items if item.state != "complete"]
    _check_space(waiting, root)
    failures: list[str] = []
    if waiting:
        with _workplace(root) as work:
            for item in waiting:
                try:
                    entry = _fetch_one(item, plan, root, work, patience, progress)
                except (FetchStopped, DiskFull, OSError, KeyboardInterrupt) as error:
                    raise _say_what_stays(error, item, plan, root) from error
                except FetchError as error:
                    failures.append(str(error))
                else:
                    _write_down(root, item.file.path, entry)
    if failures:
        raise FetchError(f"{' '.join(failures)} {_describe_kept(plan, root)}")
    missing = [name for file in plan.files for name in file.products if not (root / name).is_file()]
    return Fetched(root, items, read_record(root), missing)


def _fetch_one(
    item: Item, plan: FetchPlan, root: Path, work: Path, patience: Patience, progress: Progress
) -> dict[str, Any]:
    """Download, check and place one file, and return its entry in the record."""
    import pooch  # type: ignore[import-untyped]

    file = item.file
    # The plan's size comes before the server's, and that before none: a cut must not pass for the end.
    size = file.size if file.size is not None else item.size
    downloader = ResumingDownloader(work / f"{file.path}.part", size, patience, progress, file.path)
    # pooch names the files, checks the hash before anything else sees them, and moves them into its folder.
    store = pooch.create(path=work, base_url=plan.base_url, registry={file.path: file.known_hash})
    pooch.get_logger().setLevel("WARNING")
    progress.begin(file.path, item.size, item.have)
    try:
        came = Path(store.fetch(file.path, downloader=downloader))
    except ValueError as error:
        downloader.forget()
        raise FetchError(f"{item.url}: {error} None of it was kept.") from error
    downloader.forget()
    size, sha256 = came.stat().st_size, file.sha256 or file_digest(came)
    try:
        products = _place(came, file, root, work, size, sha256)
    except BadArchive:
        came.unlink()
        raise
    came.unlink(missing_ok=True)
    names = {product.file for product in products}
    return {
        "url": item.url,
        "size": size,
        "sha256": sha256,
        "hash_was_known": file.known_hash is not None,
        "fetched_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "products": [asdict(product) for product in products],
        "lacks": [name for name in file.products if name not in names],
    }


def _place(came: Path, file: RemoteFile, root: Path, work: Path, size: int, sha256: str) -> list[Product]:
    if file.archive:
        return unpack(came, file, root, work)
    target = root / file.products[0]
    if is_in_the_way(target, size, sha256, root):
        raise FetchError(
            f"{target}: already exists and differs from the published file. Nothing was replaced; move it away "
            f"and run the same command again."
        )
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(came, target)
    return [Product(file.products[0], size, sha256)]


def _state(file: RemoteFile, root: Path, record: dict[str, Any]) -> tuple[State, int]:
    """Return the state of a file in the folder, and how many of its bytes wait in the work folder."""
    for waiting in (root / WORK / file.path, root / WORK / f"{file.path}.part"):
        if waiting.is_file():
            return "partial", waiting.stat().st_size
    entry = record.get(file.path, {})
    for product in entry.get("products", []):
        path = root / product["file"]
        if path.is_file() and path.stat().st_size != product["size"]:
            raise InputError(
                f"{path}: has {path.stat().st_size} bytes, but {product['size']} were fetched. "
                f"It was changed since then; move it away and run the same command again. Nothing was fetched."
            )
    lacks = entry.get("lacks", ())
    if not all((root / name).is_file() or name in lacks for name in file.products):
        return "to fetch", 0
    if not file.archive and not file.has_stated_hash(root / file.products[0]):
        raise InputError(
            f"{root / file.products[0]}: is not the published file: its hash is not {file.known_hash}. Move it away "
            f"and run the same command again. Nothing was fetched."
        )
    return "complete", 0


def _check_folder(root: Path) -> None:
    if root.exists() and not root.is_dir():
        raise InputError(f"{root}: is a file. Name a folder to fetch into.")
    if (root / CARD).exists():
        raise InputError(f"{root}: holds a simulated twin. Fetch real data into a separate folder.")


def _check_space(waiting: Sequence[Item], root: Path) -> None:
    """Refuse before the first byte if there is not enough room.

    An archive is removed once it is unpacked, and unpacks to no less than its own size: the least that is needed
    is everything still to come, plus the largest archive a second time.
    """
    to_come = sum(max((item.size or 0) - item.have, 0) for item in waiting)
    needed = to_come + max((item.size or 0 for item in waiting if item.file.archive), default=0)
    free = free_bytes(root)
    if needed > free:
        raise NoRoom(
            f"{root}: at least {readable_size(needed)} are needed and {readable_size(free)} are free, so "
            f"nothing was fetched; make room, or choose fewer sessions or another folder."
        )


@contextlib.contextmanager
def _workplace(root: Path) -> Iterator[Path]:
    """Make the folder for unfinished files, for one process at a time; it is removed when empty at the end."""
    work = root / WORK
    try:
        work.mkdir(parents=True, exist_ok=True)
        lock = open(work / "lock", "w", encoding="ascii")  # noqa: SIM115 - held to the end of the block
    except OSError as error:
        raise InputError(f"{work}: cannot be written: {error.strerror}. Choose another folder.") from error
    with lock:
        _take(lock, root)
        _sweep(work)
        try:
            yield work
        finally:
            _sweep(work)
            if not any(path.is_file() for path in work.rglob("*") if path.name != "lock"):
                shutil.rmtree(work, ignore_errors=True)


def _take(lock: Any, root: Path) -> None:
    try:
        import fcntl
    except ImportError:  # no such locks on Windows
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise InputError(
            f"{root}: another process is fetching into this folder. Wait for it to end."
        ) from error


def _sweep(work: Path) -> None:
    """Remove what a killed process left unfinished: half-unpacked folders and pooch's temporary files."""
    for path in work.glob("unpack-*"):
        shutil.rmtree(path, ignore_errors=True)
    for path in work.rglob("tmp*"):
        if path.is_file() and not path.suffix:
            path.unlink()


def _say_what_stays(error: BaseException, item: Item, plan: FetchPlan, root: Path) -> FetchStopped:
    """Return why fetching ended, with what is kept and how to go on."""
    full = atomic.FULL_DISK.get(getattr(error, "errno", 0))
    if full and not isinstance(error, FetchStopped):
        return NoRoom(
            f"{root}: {full}, so {item.file.path} was not fetched whole; make room and run the same command again: "
            f"{_count_kept(plan, root)} are kept."
        )
    what = str(error) or "Stopped."
    if isinstance(error, OSError):
        what = f"{error.filename or root}: {error.strerror or error}."
    return (NoRoom if full else FetchStopped)(f"{what} {_describe_kept(plan, root)}")


def _describe_kept(plan: FetchPlan, root: Path) -> str:
    return f"{_count_kept(plan, root)} are kept in {root}. Run the same command again to go on."


def _count_kept(plan: FetchPlan, root: Path) -> str:
    record = read_record(root)
    states = [_state(file, root, record) for file in plan.files]
    complete = sum(state == "complete" for state, _ in states)
    partial = sum(have for state, have in states if state == "partial")
    started = f" and {readable_size(partial)} of the next" if partial else ""
    return f"{complete} of {len(states)} files{started}"


def read_record(root: Path) -> dict[str, Any]:
    """Read what was fetched into a folder: by path, address, size, hash and products; empty when nothing was.

    Raises
    ------
    InputError
        When the record is damaged.
    """
    path = root / RECORD
    if not path.exists():
        return {}
    try:
        files = json.loads(path.read_text(encoding="utf-8"))["files"]
        if not all(isinstance(entry, dict) for entry in files.values()):
            raise TypeError
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: is not a record of fetched files. Move it away and run again.") from error
    return dict(files)


def _write_down(root: Path, path: str, entry: dict[str, Any]) -> None:
    files = {**read_record(root), path: entry}
    atomic.write_json(root / RECORD, {"schema_version": 1, "files": files})
