"""User numbers for guests that root starts: one for each running guest, owning nothing, named by nobody."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from neuroarena.errors import NeuroarenaError

FIRST = 64001
COUNT = 200
_LOCKS = Path("/run/neuroarena/uids")


def take_uid(folder: Path = _LOCKS) -> tuple[int, int]:
    """Take a free number, and return it with the descriptor of its lock; closing that gives the number back.

    The lock belongs to the open file: where its holder is killed, the number is free again.

    Raises
    ------
    NeuroarenaError
        When all are in use.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> (first, lock), (second, other) = take_uid(folder), take_uid(folder)
    >>> second - first
    1
    >>> os.close(lock); os.close(other)
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for uid in range(FIRST, FIRST + COUNT):
        lock = os.open(folder / str(uid), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        return uid, lock
    raise NeuroarenaError(f"All {COUNT} user numbers for guests are in use. Start fewer at once.")
