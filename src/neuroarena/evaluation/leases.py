"""Leases: notes in a shared cache on who is computing what, so that runs started together divide the work."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

from neuroarena.atomic import naming_full_disk

try:
    import fcntl
except ImportError:  # no such locks on Windows; a lease is then known by its age alone
    fcntl = None  # type: ignore[assignment]

FOLDER = "leases"
# A lease whose name begins so says that a run is waited for, and packs on other machines look for it.
RUN = "run-"
BEAT_S = 20.0
MISSED_BEATS = 3
# The packs of a run stop when its lease is gone: a machine that sleeps for a while must not lose its run.
MISSED_BEATS_OF_RUN = 180
_HERE = socket.gethostname().encode("utf-8", "replace")


class Leases:
    """The leases of one process in one cache.

    A lease only saves work: whoever computes a cell gets the same bytes, and the first one to finish wins. So a
    lease that is lost, or taken over too early, costs a cell that is computed twice and nothing else.

    Parameters
    ----------
    cache : Path
    beat_s : float
        How often a lease that is held is renewed. One that has missed three beats can be taken over.
    """

    def __init__(self, cache: Path, beat_s: float = BEAT_S) -> None:
        self._folder = cache / FOLDER
        self._beat_s = beat_s
        self._held: dict[str, int] = {}
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def renewed(self) -> Iterator[None]:
        """Renew what is held while the block runs; release what is left at its end."""
        with naming_full_disk(self._folder.parent, self._folder.name):
            self._folder.mkdir(parents=True, exist_ok=True)
        over = threading.Event()
        beating = threading.Thread(target=self._beat, args=(over,), daemon=True)
        beating.start()
        try:
            yield
        finally:
            over.set()
            beating.join()
            for name in tuple(self._held):
                self.release(name)

    def take(self, name: str) -> bool:
        """Take the lease of some work; False when another process is at it.

        Raises
        ------
        DiskFull
            When there is no room for a line of text: none for the product either.
        """
        with naming_full_disk(self._folder, name):
            return self._take(name)

    def _take(self, name: str) -> bool:
        path = self._folder / name
        for _ in range(2):
            try:
                descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
            except FileExistsError:
                if not self._is_stale(path):
                    return False
                path.unlink(missing_ok=True)
                continue
            with self._lock:
                self._held[name] = descriptor
            with contextlib.suppress(OSError):  # a disk without locks
                _lock(descriptor)
            os.write(descriptor, _HERE)
            return True
        return False

    def release(self, name: str) -> None:
        """Return the lease of some work, done or not."""
        with self._lock:
            descriptor = self._held.pop(name)
        (self._folder / name).unlink(missing_ok=True)
        os.close(descriptor)

    def find_dead(self) -> list[Path]:
        """List the leases of processes that are gone.

        A process of this machine is known by its lock, one of another machine by the age of its last beat.
        """
        try:
            names = sorted(os.listdir(self._folder))
        except OSError:
            return []
        return [self._folder / name for name in names if self._is_dead(self._folder / name)]

    def sweep(self) -> list[Path]:
        """Remove the leases of processes that are gone, and return their paths."""
        dead = self.find_dead()
        for path in dead:
            with contextlib.suppress(OSError):  # somebody else's, on a disk where only they may remove it
                path.unlink(missing_ok=True)
        return dead

    def _is_dead(self, path: Path) -> bool:
        try:
            return path.name not in self._held and self._is_stale(path) and path.exists()
        except OSError:  # a full disk, or one that is only read: nobody can tell
            return False

    def _is_stale(self, path: Path) -> bool:
        """Ask the lock of a process of this machine, which ends with it; else the time of the last beat."""
        try:
            with open(path, "rb") as file:
                if file.read() == _HERE and fcntl is not None:
                    _lock(file.fileno())
                    return True
        except BlockingIOError:
            return False
        except FileNotFoundError:
            return True  # released meanwhile
        except OSError:  # a disk without locks
            pass
        return self._has_missed_beats(path)

    def _has_missed_beats(self, path: Path) -> bool:
        # The clock of the disk, not of this machine: a note that is made now tells what it shows.
        probe = self._folder / f".clock-{socket.gethostname()}-{os.getpid()}-{threading.get_ident()}"
        try:
            probe.touch()
            age = probe.stat().st_mtime - path.stat().st_mtime
        except FileNotFoundError:
            return True
        finally:
            probe.unlink(missing_ok=True)
        return age > self._beat_s * (MISSED_BEATS_OF_RUN if path.name.startswith(RUN) else MISSED_BEATS)

    def _beat(self, over: threading.Event) -> None:
        while not over.wait(self._beat_s):
            with self._lock:
                held = tuple(self._held)
            for name in held:
                with contextlib.suppress(OSError):  # taken over, or the disk is away for a moment
                    self._renew(self._folder / name)

    def _renew(self, path: Path) -> None:
        if path.name.startswith(RUN):
            path.touch()  # nobody else takes such a lease: one that is gone was removed by mistake
        else:
            os.utime(path)


def _lock(descriptor: int) -> None:
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
