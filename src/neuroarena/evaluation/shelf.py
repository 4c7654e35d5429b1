"""Take results off the boards without losing them: the folder of removed ones, and the log of what was done."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from neuroarena.errors import InputError
from neuroarena.evaluation.record import current_time

LOG = "results-log.jsonl"
REMOVED = ".removed"


def shelve(folder: Path, entry: dict[str, Any]) -> Path:
    """Move a result to the folder ``.removed`` beside it, log why, and return where it is now.

    The log is written first, so that a crash in between leaves the result and the request in the log.
    """
    shelf = folder.resolve().parent / REMOVED
    target = shelf / f"{folder.resolve().name}-{current_time():%Y%m%dT%H%M%SZ}"
    attempt, plain = 1, target.name
    while target.exists():
        attempt += 1
        target = target.with_name(f"{plain}-{attempt}")
    write_log(folder, {"to": target.name, **entry})
    shelf.mkdir(exist_ok=True)
    # One rename takes all of it off the boards; what follows cannot leave half a result behind.
    os.rename(folder, target)
    return target


def write_log(folder: Path, entry: dict[str, Any]) -> None:
    """Append a line about a result to the log beside the runs, and wait until it is on the disk.

    Raises
    ------
    InputError
        When the log cannot be written.
    """
    place = folder.resolve().parent / LOG
    line = {"time": current_time().isoformat(), "folder": folder.resolve().name, **entry}
    try:
        with place.open("a", encoding="utf-8") as log:
            log.write(json.dumps(line, ensure_ascii=False) + "\n")
            log.flush()
            os.fsync(log.fileno())
    except OSError as error:
        raise InputError(f"{place}: the log cannot be written ({error}). Nothing was changed.") from error
