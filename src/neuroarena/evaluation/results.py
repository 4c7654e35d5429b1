"""Results on disk: one folder per run with record, predictions and unit scores; one writer for all paths."""

from __future__ import annotations

import errno
import functools
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from neuroarena.atomic import building, sweep, write_json
from neuroarena.errors import InputError
from neuroarena.evaluation.digests import RECORD, DamagedResult, add_digests, check_file, take_digests
from neuroarena.evaluation.intervals import score_interval
from neuroarena.evaluation.record import RunRecord, read_record
from neuroarena.evaluation.repeats import Repeat, read_scores_by_seed, write_scores_by_seed
from neuroarena.evaluation.shelf import shelve
from neuroarena.scoring import Manifest, UnitScores, read_predictions, write_predictions
from neuroarena.scoring.files import MAX_VECTOR_LENGTH
from neuroarena.scoring.parquet import open_parquet, read_rows, write_parquet
from neuroarena.sealed import report

PREDICTIONS, UNIT_SCORES = "predictions.parquet", "unit_scores.parquet"
SCORES_BY_SEED = "unit_scores_by_seed.parquet"
_EXPECTED = "Expected a folder that neuroarena run or score wrote."


@dataclass(frozen=True, repr=False)
class Result:
    """The result of a run of a decoder, a file of predictions, a code submission or a model of vision.

    Attributes
    ----------
    record : RunRecord
        What was asked, on which data, with which code, and how each cell ended.
    predictions : DataFrame or None
        None when no cell could be computed; ``record.left_out`` says it where a path keeps none. Of a decoder, a file
        or code: as :func:`neuroarena.scoring.score` takes them. Of a model: ``split``, ``id`` and ``values``, a list of
        numbers over neuroids (or over images, for rows of a dissimilarity matrix). Of a decoder that was trained with
        several seeds: those of the first; averaging them would make a different decoder.
    unit_scores : UnitScores or None
        Averaged over training seeds, where there are several.
    folder : Path or None
        Where it is kept, if it is.
    repeats : tuple of Repeat
        One per training seed; empty for a run that was trained once, or is not complete.
    """

    record: RunRecord
    predictions: pd.DataFrame | None
    unit_scores: UnitScores | None
    folder: Path | None = None
    repeats: tuple[Repeat, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every cell was computed."""
        return self.record.complete

    @property
    def score(self) -> float | None:
        """The score of the whole run; None when it is not complete."""
        if not self.complete or self.record.score is not None or self.unit_scores is None:
            return self.record.score
        return self.unit_scores.value

    @functools.cached_property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the score over units and training seeds, as on boards; None below six levels."""
        if not self.complete or self.unit_scores is None:
            return None
        return score_interval(self.unit_scores, self.manifest, [each.unit_scores for each in self.repeats])

    def predictions_of(self, seed: int) -> pd.DataFrame:
        """Return the predictions of one training seed.

        Raises
        ------
        InputError
            When the run was not trained with this seed, or kept no predictions.
        """
        if seed not in self.record.seeds or self.predictions is None:
            known = ", ".join(map(str, self.record.seeds))
            raise InputError(f"{run_name(self.record)}: no predictions of seed {seed}; there are: {known}.")
        held = {each.seed: each.predictions for each in self.repeats}.get(seed)
        if held is not None:
            return held
        path = None if self.folder is None else self.folder / predictions_name(seed)
        if seed == self.record.seed or path is None or not path.exists():
            # A decoder that draws nothing was trained once: every seed has the predictions of the first.
            return self.predictions
        assert self.folder is not None
        check_file(path, read_plain_record(self.folder)[1])
        return _read_predictions(path, self.record)

    @property
    def manifest(self) -> Manifest:
        """The rules the run was judged by."""
        return self.record.manifest

    def __repr__(self) -> str:
        record, interval = self.record, self.interval
        score = "no score" if self.score is None else f"{record.metric} {self.score:.4f}"
        within = (
            "no interval" if interval is None else f"95 % interval {interval[0]:.4f} to {interval[1]:.4f}"
        )
        mark = ", simulated" if record.simulated else ""
        name = f"{record.benchmark.name}, {record.split.name}"
        return f"<Result: {record.decoder.name} on {name}: {score}, {within}{mark}>"


def save_result(result: Result, out: Path) -> Result:
    """Write a run into its own folder below `out`, completely or not at all.

    An existing complete run is left as it is, also one that another process finished at the same moment. A run
    whose earlier attempt failed gets a new folder beside it: nothing is overwritten. A damaged earlier result
    is moved to ``.removed`` and reported, and this one takes its place.

    Raises
    ------
    DiskFull
        When there is no room; nothing is left of the folder then.
    """
    out.mkdir(parents=True, exist_ok=True)
    sweep(out)
    folder, earlier = _find_place(result.record, out)
    if earlier is not None:
        return earlier
    with building(out / run_name(result.record)) as temporary:
        if result.predictions is not None:
            _write_predictions(temporary / PREDICTIONS, result.predictions, result.record)
        if result.unit_scores is not None:
            result.unit_scores.write(temporary / UNIT_SCORES)
        if result.repeats:
            _write_repeats(temporary, result)
        write_json(temporary / RECORD, add_digests(result.record.to_json(), temporary))
        while earlier is None:
            try:
                os.rename(temporary, folder)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
                # Another process was faster: what it wrote is as good, or takes the next attempt's name.
                folder, earlier = _find_place(result.record, out)
            else:
                return replace(result, folder=folder)
    return earlier


def _find_place(record: RunRecord, out: Path) -> tuple[Path, Result | None]:
    """Find a folder that is free for a run, or the same run, complete and whole, in a folder of its own."""
    name = run_name(record)
    folder, attempt = out / name, 1
    while folder.exists():
        try:
            earlier = load_result(folder)
        except DamagedResult as error:
            now = shelve(folder, {"act": "set aside", "run_key": record.run_key, "because": str(error)})
            report(f"{folder}: the result kept there was damaged and was moved to {now}; it is written anew.")
            continue
        except InputError:
            # A folder of another version, or not a result at all: boards name it, and it stays as it is.
            earlier = None
        if earlier is not None and earlier.complete and earlier.record.run_key == record.run_key:
            return folder, earlier
        attempt += 1
        folder = out / f"{name}-attempt{attempt}"
    return folder, None


def run_name(record: RunRecord) -> str:
    """Name the folder of a run: readable first, then the start of its key."""
    words = [record.benchmark.name, record.split.name, record.decoder.name]
    readable = "--".join(re.sub(r"[^A-Za-z0-9.@_-]+", "-", word).strip("-") for word in words)
    return f"{readable[:160]}--{record.run_key[:10]}"


def load_result(folder: str | Path) -> Result:
    """Read a run back; folders that 0.1.0 wrote are read too.

    Raises
    ------
    InputError
        When the folder holds no record, or one that cannot be read.
    """
    folder = Path(folder)
    plain, digests = read_plain_record(folder)
    record = read_record(plain, folder / RECORD)
    predictions, scores = folder / PREDICTIONS, folder / UNIT_SCORES
    by_seed = folder / SCORES_BY_SEED
    if record.repeats is not None and record.complete:
        check_file(by_seed, digests)
    return Result(
        record,
        _read_predictions(predictions, record) if check_file(predictions, digests) else None,
        UnitScores.read(scores) if check_file(scores, digests) else None,
        folder,
        read_scores_by_seed(by_seed, record.seeds) if record.repeats is not None and record.complete else (),
    )


def load_record(folder: Path) -> RunRecord:
    """Read the record of a run alone.

    Raises
    ------
    InputError
        When the folder holds no record, or one that cannot be read.
    """
    return read_record(read_plain_record(folder)[0], folder / RECORD)


def read_plain_record(folder: Path) -> tuple[Any, dict[str, str]]:
    """Read the record of a folder exactly as the file has it, and the digests that it keeps.

    Raises
    ------
    InputError
        When the folder holds no record, or one that is not what was written.
    """
    path = folder / RECORD
    if not path.is_file():
        raise InputError(f"{folder}: there is no {RECORD} here. {_EXPECTED}")
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise DamagedResult(
            path, f"it is not a record of neuroarena ({type(error).__name__}: {error})"
        ) from error
    return take_digests(plain, path)


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
            raise InputError(f"{path}: there is no such folder. {_EXPECTED}")
        if not path.is_dir():
            raise InputError(f"{path}: this is a file. {_EXPECTED}")
        found = sorted(_folders_with_record(path))
        for scores in _visible(path, UNIT_SCORES):
            if scores.parent not in found:
                raise InputError(
                    f"{scores.parent}: there are unit scores and no {RECORD}, so this run cannot be read. "
                    "Restore the record, or move the folder away."
                )
        if not found:
            raise InputError(f"{path}: there is no run in this folder. {_EXPECTED}")
        folders += found
    return list(dict.fromkeys(folders))


def holds_results(path: Path) -> bool:
    """Return whether a folder holds at least one run."""
    return path.is_dir() and next(_folders_with_record(path), None) is not None


def _folders_with_record(path: Path) -> Iterator[Path]:
    """Find the folders of runs below a folder; hidden ones hold what was removed."""
    for record in _visible(path, RECORD):
        yield record.parent


def _visible(path: Path, name: str) -> Iterator[Path]:
    """Find the files of a name below a folder, but for those in hidden folders."""
    for file in path.rglob(name):
        if not any(part.startswith(".") for part in file.parent.relative_to(path).parts):
            yield file


def predictions_name(seed: int) -> str:
    """Name the file with the predictions of a training seed after the first, which has the usual name."""
    return f"predictions_seed_{seed}.parquet"


def _write_repeats(folder: Path, result: Result) -> None:
    """Write the scores of every seed, and the predictions of those that differ from the first seed's."""
    write_scores_by_seed(folder / SCORES_BY_SEED, result.repeats)
    if result.record.repeats is not None and result.record.repeats.chance:
        for each in result.repeats[1:]:
            assert each.predictions is not None
            _write_predictions(folder / predictions_name(each.seed), each.predictions, result.record)


def _write_predictions(path: Path, table: pd.DataFrame, record: RunRecord) -> None:
    if record.kind != "model":
        write_predictions(path, table, record.manifest)
        return
    columns = {name: pa.array(table[name].astype(str), pa.string()) for name in ("split", "id")}
    for name in ("values", "contributions"):
        if name in table.columns:
            columns[name] = pa.array(list(table[name]), pa.list_(pa.float32()))
    said = {"schema_version": 1, "kind": "model", "benchmark": record.manifest.name}
    write_parquet(path, pa.table(columns), said)


def _read_predictions(path: Path, record: RunRecord) -> pd.DataFrame:
    if record.kind != "model":
        return read_predictions(path, record.manifest)
    with open_parquet(path) as (file, _):
        table: pd.DataFrame = read_rows(file, path, None, MAX_VECTOR_LENGTH).to_pandas(ignore_metadata=True)
    return table
