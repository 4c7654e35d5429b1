"""Rename and remove kept results: explicit, logged beside the runs, and safe against a crash."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from neuroarena.atomic import write_json
from neuroarena.errors import InputError
from neuroarena.evaluation.record import current_time, read_record
from neuroarena.evaluation.results import RECORD, load_result, read_plain_record
from neuroarena.scoring import check_name

LOG = "results-log.jsonl"
REMOVED = ".removed"


def describe_result(folder: Path) -> dict[str, Any]:
    """Return one line about a kept result, as ``neuroarena results list`` prints it.

    Raises
    ------
    InputError
        When the folder holds no result, or one that cannot be read.
    """
    result = load_result(folder)
    record = result.record
    return {
        "folder": str(folder),
        "kind": record.kind,
        "name": record.decoder.name,
        "benchmark": record.benchmark.name,
        "split": record.split.name,
        "metric": record.metric,
        "score": result.score,
        "status": record.status,
        "simulated": record.simulated,
        "finished": record.finished.isoformat(timespec="seconds"),
    }


def rename_result(folder: str | Path, name: str) -> str:
    """Change the name that boards show for a kept result, and return the old name.

    Only the name in the record changes; the folder, the key and the version of the record stay as they are. The log is
    written first, so that a crash in between leaves the old name and the request in the log.

    Raises
    ------
    InputError
        When the folder holds no result, or when the name cannot be shown.
    """
    folder = Path(folder)
    plain = read_plain_record(folder)
    record = read_record(plain, folder / RECORD)
    check_name(name, folder.name)
    _log(folder, {"act": "rename", "run_key": record.run_key, "from": record.decoder.name, "to": name})
    write_json(folder / RECORD, {**plain, "decoder": {**plain["decoder"], "name": name}})
    return record.decoder.name


def remove_result(folder: str | Path, forever: bool = False) -> Path | None:
    """Take a kept result off the boards: move it to the folder ``.removed`` beside it, or delete it.

    Returns
    -------
    Path or None
        Where it is now; None when it was deleted.

    Raises
    ------
    InputError
        When the folder holds no result.
    """
    folder = Path(folder)
    record = read_record(read_plain_record(folder), folder / RECORD)
    shelf = folder.resolve().parent / REMOVED
    target = shelf / f"{folder.resolve().name}-{current_time():%Y%m%dT%H%M%SZ}"
    attempt = 1
    while target.exists():
        attempt += 1
        target = target.with_name(f"{target.name}-{attempt}")
    about = {"run_key": record.run_key, "name": record.decoder.name, "benchmark": record.benchmark.name}
    _log(folder, {"act": "delete" if forever else "remove", **about, "to": None if forever else target.name})
    shelf.mkdir(exist_ok=True)
    # One rename takes all of it off the boards; what follows cannot leave half a result behind.
    os.rename(folder, target)
    if not forever:
        return target
    shutil.rmtree(target)
    return None


def _log(folder: Path, entry: dict[str, Any]) -> None:
    """Append a line to the log beside the runs, and wait until it is on the disk."""
    place = folder.resolve().parent / LOG
    line = {"time": current_time().isoformat(), "folder": folder.resolve().name, **entry}
    try:
        with place.open("a", encoding="utf-8") as log:
            log.write(json.dumps(line, ensure_ascii=False) + "\n")
            log.flush()
            os.fsync(log.fileno())
    except OSError as error:
        raise InputError(f"{place}: the log cannot be written ({error}). Nothing was changed.") from error
