"""Care for the cache: how large it is, whether its entries are whole, and what can be removed."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from neuroarena.atomic import PART, sweep
from neuroarena.errors import InputError
from neuroarena.evaluation.engines.slurm import FOLDER as SLURM
from neuroarena.evaluation.leases import FOLDER as LEASES
from neuroarena.evaluation.leases import Leases
from neuroarena.evaluation.origins import FOLDER as ORIGINS
from neuroarena.sealed import DAMAGED, UNFINISHED, SealedFolder

# Names that entries have, and had before they carried checksums. Anything else in the folder is not ours to touch.
_ENTRY = re.compile(r"[0-9a-f]{24,64}\.(cell|features|starts|note|array)")
_OF_SLURM = re.compile(r"\d+(_\d+)*_(submission\.sh|submitted\.pkl|result\.pkl|log\.(err|out))")
_ORIGIN = re.compile(r"[0-9a-f]{64}\.json")
_OLD_ENTRY = re.compile(r"[0-9a-f]{24,64}(\.parquet|\.starts\.npy|\.features\.npy|\.npy)?")
_DAY_S = 24 * 3600.0
OLD = "of older versions"


@dataclass(frozen=True)
class Entry:
    """A file of the cache.

    Attributes
    ----------
    name : str
        Path below the cache, with slashes.
    kind : str
        The folder it is in (cells, features, ...), or why it can go: unfinished, damaged, of older versions.
    size : int
        Bytes.
    used : float
        When it was last read or written, in seconds since 1970; disks note readings about once a day.
    """

    name: str
    kind: str
    size: int
    used: float

    @property
    def group(self) -> str:
        """What belongs together: the files of a shard, a cell and the note on its origin, what Slurm had of a job."""
        if self.kind == SLURM:
            return self.name.rpartition("/")[0]
        place = self.name.rpartition(".")[0]
        return f"cells{place.removeprefix(ORIGINS)}" if self.kind == ORIGINS else place


@dataclass(frozen=True)
class Pruned:
    """What was removed, or would be: number of files and bytes, by kind; and what stays."""

    removed: dict[str, tuple[int, int]]
    kept: tuple[int, int]


def list_entries(root: Path) -> list[Entry]:
    """List what is in a cache, sorted by name.

    Raises
    ------
    InputError
        When there is no such folder.
    """
    if not root.is_dir():
        raise InputError(
            f"{root}: there is no cache here. It is made by the first run; name one with --cache."
        )
    found = [entry for path in _walk(root) if (entry := _recognise(path, root)) is not None]
    return sorted(found, key=lambda entry: entry.name)


def sum_by_kind(entries: list[Entry]) -> dict[str, tuple[int, int]]:
    """Return the number of files and their bytes, by kind."""
    total: dict[str, tuple[int, int]] = {}
    for entry in entries:
        files, size = total.get(entry.kind, (0, 0))
        total[entry.kind] = files + 1, size + entry.size
    return dict(sorted(total.items()))


def verify_cache(root: Path) -> tuple[int, list[str]]:
    """Check every entry, and set damaged ones aside, each of which is reported.

    Returns
    -------
    checked, damaged
        How many entries there were, and the paths of those that were damaged.
    """
    folder, checked, damaged = SealedFolder(root), 0, []
    for entry in list_entries(root):
        if entry.kind in (UNFINISHED, DAMAGED, OLD, ORIGINS, SLURM):
            continue
        checked += 1
        fault = folder.check(entry.name)
        if fault is not None:
            damaged.append(str(folder.path(entry.name)))
            folder.set_aside(entry.name, fault)
    return checked, damaged


def prune_cache(
    root: Path, unused_days: float | None = None, keep_bytes: int | None = None, dry_run: bool = False
) -> Pruned:
    """Remove what is of no use, and on request what was not used for long.

    Without a limit, only leftovers go: unfinished files and leases of processes that are gone, damaged entries that
    were set aside, entries of older versions, and features without their starts. A run that is under way computes
    again what it misses, so that nothing but time is lost.

    Parameters
    ----------
    root : Path
    unused_days : float, optional
        Also remove entries that nobody read or wrote for so many days.
    keep_bytes : int, optional
        Also remove the entries that were not used for longest until so many bytes are left.
    dry_run : bool
        Only count.
    """
    entries, now = list_entries(root), time.time()
    complete = {entry.name for entry in entries}
    going, staying = [], []
    for entry in entries:
        orphan = (entry.name.endswith(".features") and f"{entry.group}.starts" not in complete) or (
            entry.kind == ORIGINS and f"{entry.group}.cell" not in complete
        )
        if orphan and now - entry.used > _DAY_S:
            going.append(replace(entry, kind=UNFINISHED))
        elif entry.kind in (DAMAGED, OLD):
            going.append(entry)
        elif entry.kind != UNFINISHED:
            staying.append(entry)
    surplus = _find_surplus(staying, now, unused_days, keep_bytes)
    going += [entry for entry in staying if entry.group in surplus]
    left = [entry for entry in entries if entry.kind == UNFINISHED]
    leases = Leases(root)
    dead = [found for path in leases.find_dead() if (found := _measure(path, root, LEASES)) is not None]
    if not dry_run:
        for entry in going:
            (root / entry.name).unlink(missing_ok=True)
            if entry.kind == SLURM:
                with contextlib.suppress(OSError):  # not empty yet
                    (root / entry.name).parent.rmdir()
        for place in {(root / entry.name).parent for entry in left}:
            sweep(place)
        leases.sweep()
        left = [entry for entry in left if not (root / entry.name).exists()]
    stayed = [entry.size for entry in staying if entry.group not in surplus]
    return Pruned(sum_by_kind([*going, *left, *dead]), (len(stayed), sum(stayed)))


def _find_surplus(
    entries: list[Entry], now: float, unused_days: float | None, keep_bytes: int | None
) -> set[str]:
    """Return the groups that a limit on age or size sends away: those that were not used for longest."""
    used: dict[str, float] = {}
    sizes: dict[str, int] = {}
    for entry in entries:
        used[entry.group] = max(used.get(entry.group, 0.0), entry.used)
        sizes[entry.group] = sizes.get(entry.group, 0) + entry.size
    total, surplus = sum(sizes.values()), set()
    for group in sorted(used, key=lambda each: (used[each], each)):
        too_old = unused_days is not None and now - used[group] >= unused_days * _DAY_S
        if not too_old and (keep_bytes is None or total <= keep_bytes):
            continue
        surplus.add(group)
        total -= sizes[group]
    return surplus


def _walk(root: Path) -> Iterator[Path]:
    """Iterate over the files below the folders of a cache; links are not followed."""
    for folder, folders, files in os.walk(root):
        depth = len(Path(folder).relative_to(root).parts)
        if depth == 3:
            folders.clear()
        if depth:
            yield from (Path(folder) / name for name in files)


def _recognise(path: Path, root: Path) -> Entry | None:
    """Return what a file is; None for one that is not ours, or gone by now."""
    name = path.relative_to(root).as_posix()
    kind = name.partition("/")[0]
    if kind == LEASES:
        return None  # a note on work under way, which is no entry
    if path.name.startswith(".") and path.name.endswith(PART):
        kind = UNFINISHED
    elif _OLD_ENTRY.fullmatch(path.name):
        kind = OLD
    elif kind in (ORIGINS, SLURM):
        if not (_ORIGIN if kind == ORIGINS else _OF_SLURM).fullmatch(path.name):
            return None
    elif kind != DAMAGED and not _ENTRY.fullmatch(path.name):
        return None
    return _measure(path, root, kind)


def _measure(path: Path, root: Path, kind: str) -> Entry | None:
    """Return a file as an entry of some kind; None when it is gone by now."""
    name = path.relative_to(root).as_posix()
    try:
        status = path.lstat()
    except OSError:
        return None
    return Entry(name, kind, status.st_size, max(status.st_atime, status.st_mtime))
