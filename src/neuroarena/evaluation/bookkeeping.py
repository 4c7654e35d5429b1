"""Rename and remove kept results: explicit, logged beside the runs, and safe against a crash."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from neuroarena.atomic import write_json
from neuroarena.errors import InputError
from neuroarena.evaluation.digests import RECORD, replace_digests
from neuroarena.evaluation.record import read_record
from neuroarena.evaluation.results import load_record, load_result, read_plain_record
from neuroarena.evaluation.shelf import shelve, write_log
from neuroarena.scoring import check_name


def describe_result(folder: Path) -> dict[str, Any]:
    """Return one line about a kept result, as ``neuroarena results list`` prints it.

    A result that cannot be read has the status "damaged" and a reason, and nothing else.
    """
    try:
        result = load_result(folder)
    except InputError as error:
        unknown = dict.fromkeys(("kind", "name", "benchmark", "split", "metric", "score"))
        return {"folder": str(folder), **unknown, "status": "damaged", "reason": str(error)}
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
    plain, digests = read_plain_record(folder)
    record = read_record(plain, folder / RECORD)
    check_name(name, folder.name)
    write_log(folder, {"act": "rename", "run_key": record.run_key, "from": record.decoder.name, "to": name})
    renamed = {**plain, "decoder": {**plain["decoder"], "name": name}}
    write_json(folder / RECORD, replace_digests(renamed, digests) if digests else renamed)
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
        When the folder holds no result. A damaged one can be removed.
    """
    folder = Path(folder)
    about = check_removable(folder)
    target = shelve(folder, {"act": "delete", **about, "to": None} if forever else {"act": "remove", **about})
    if not forever:
        return target
    shutil.rmtree(target)
    return None


def check_removable(folder: Path) -> dict[str, Any]:
    """Return what the log will say about a result that is to be removed.

    Raises
    ------
    InputError
        When the folder holds no result.
    """
    try:
        record = load_record(folder)
    except InputError:
        if not (folder / RECORD).is_file():
            raise
        return {"run_key": None, "name": None, "benchmark": None, "damaged": True}
    return {"run_key": record.run_key, "name": record.decoder.name, "benchmark": record.benchmark.name}
