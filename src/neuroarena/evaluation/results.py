"""Results on disk: a folder a run with its record, its predictions and its unit scores."""

from __future__ import annotations

import datetime
import json
import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from neuroarena.atomic import write_json
from neuroarena.errors import InputError
from neuroarena.scoring import Manifest, UnitScores, read_predictions, write_predictions

RECORD_SCHEMA = 1
RECORD, PREDICTIONS, UNIT_SCORES = "record.json", "predictions.parquet", "unit_scores.parquet"


@dataclass(frozen=True)
class Result:
    """One run: a decoder on a split of a benchmark.

    Attributes
    ----------
    record : dict
        What was asked, of what, with which code, and how each cell ended.
    predictions : DataFrame or None
        None when no cell could be computed.
    unit_scores : UnitScores or None
    folder : Path or None
        Where it is kept, if it is.
    """

    record: dict[str, Any]
    predictions: pd.DataFrame | None
    unit_scores: UnitScores | None
    folder: Path | None = None

    @property
    def complete(self) -> bool:
        """Whether every cell was computed."""
        return bool(self.record["status"] == "complete")

    @property
    def score(self) -> float | None:
        """The score of the whole run; None when it is not complete."""
        return self.unit_scores.value if self.complete and self.unit_scores is not None else None

    @property
    def manifest(self) -> Manifest:
        """The rules the run was judged by."""
        return Manifest.model_validate(self.record["manifest"])


def save_result(result: Result, out: Path) -> Result:
    """Write a run into a folder of its own below `out`, whole or not at all.

    A complete run that is there already is left as it is. A run whose earlier attempt failed gets
    a new folder beside it: nothing is overwritten.
    """
    out.mkdir(parents=True, exist_ok=True)
    name = run_name(result.record)
    attempt = 1
    folder = out / name
    while folder.exists():
        earlier = load_result(folder)
        if earlier.complete and earlier.record["run_key"] == result.record["run_key"]:
            return earlier
        attempt += 1
        folder = out / f"{name}-attempt{attempt}"
    temporary = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=out))
    try:
        if result.predictions is not None:
            write_predictions(temporary / PREDICTIONS, result.predictions, result.manifest)
        if result.unit_scores is not None:
            result.unit_scores.write(temporary / UNIT_SCORES)
        write_json(temporary / RECORD, result.record)
        temporary.chmod(0o755)
        os.rename(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return Result(result.record, result.predictions, result.unit_scores, folder)


def run_name(record: dict[str, Any]) -> str:
    """Give a run its folder name: readable first, then the start of its key."""
    words = [record["benchmark"]["name"], record["split"]["name"], record["decoder"]["name"]]
    readable = "--".join(re.sub(r"[^A-Za-z0-9.@_-]+", "-", word).strip("-") for word in words)
    return f"{readable}--{record['run_key'][:10]}"


def load_result(folder: str | Path) -> Result:
    """Read a run back.

    Raises
    ------
    InputError
        When the folder holds no record, or one that cannot be read.
    """
    folder = Path(folder)
    path = folder / RECORD
    if not path.is_file():
        raise InputError(f"{folder}: there is no {RECORD} here. Expected a folder written by neuroarena run.")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        version = record["schema_version"]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not a record of neuroarena ({type(error).__name__}: {error}).") from error
    if version != RECORD_SCHEMA:
        raise InputError(
            f"{path}: the record has schema version {version}; this neuroarena reads {RECORD_SCHEMA}."
        )
    problem = _record_problem(record)
    if problem is not None:
        raise InputError(
            f"{path}: the record is damaged: {problem}. Run the decoder again, or leave this folder out."
        )
    manifest = Manifest.model_validate(record["manifest"])
    predictions, scores = folder / PREDICTIONS, folder / UNIT_SCORES
    return Result(
        record,
        read_predictions(predictions, manifest) if predictions.exists() else None,
        UnitScores.read(scores) if scores.exists() else None,
        folder,
    )


# Path of a field in the record, and the type it must have.
_FIELDS: tuple[tuple[str, type], ...] = (
    ("run_key", str),
    ("status", str),
    ("simulated", bool),
    ("benchmark.name", str),
    ("split.name", str),
    ("split.hash", str),
    ("decoder.name", str),
    ("decoder.role", str),
    ("seed", int),
    ("metric", str),
    ("finished", str),
    ("cells", list),
    ("manifest", dict),
)


def _record_problem(record: dict[str, Any]) -> str | None:
    """Say what is wrong with a record, if anything."""
    for path, kind in _FIELDS:
        value: Any = record
        for part in path.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if not isinstance(value, kind):
            return f'"{path}" is {value!r}, expected {kind.__name__}'
    for number, cell in enumerate(record["cells"]):
        if not isinstance(cell, dict) or not isinstance(cell.get("status"), str):
            return f'"cells" entry {number} has no status'
    try:
        datetime.datetime.fromisoformat(record["finished"])
        Manifest.model_validate(record["manifest"])
    except ValueError as error:
        return " ".join(str(error).split())[:200]
    return None


def find_results(paths: list[Path] | tuple[Path, ...]) -> list[Path]:
    """Find the run folders below some paths, sorted.

    Raises
    ------
    InputError
        When a path does not exist or holds no run.
    """
    folders: list[Path] = []
    for path in paths:
        if not path.exists():
            raise InputError(f"{path}: there is no such folder. Expected the results of neuroarena run.")
        found = sorted(
            record.parent for record in path.rglob(RECORD) if not record.parent.name.startswith(".")
        )
        if not found:
            raise InputError(f"{path}: no run in this folder. Expected the results of neuroarena run.")
        folders += found
    return list(dict.fromkeys(folders))
