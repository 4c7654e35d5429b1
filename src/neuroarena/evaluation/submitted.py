"""Judge answers that were made elsewhere: a file of predictions, or what code answered in the sandbox."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.benchmarks import Benchmark, judges_models, load_benchmarks, resolve
from neuroarena.errors import InputError
from neuroarena.evaluation.leak_identity import identity_probes
from neuroarena.evaluation.record import (
    BenchmarkRecord,
    CellRecord,
    DecoderRecord,
    Kind,
    RunRecord,
    SourceRecord,
    current_time,
    describe_software,
)
from neuroarena.evaluation.results import Result, save_result
from neuroarena.evaluation.split_record import describe_split
from neuroarena.fingerprint import digest
from neuroarena.scoring import (
    Manifest,
    Submission,
    check_name,
    check_possible,
    check_submission,
    read_metadata,
    read_predictions,
    read_words,
    score,
)


@dataclass(frozen=True)
class HandedIn:
    """What was submitted: by which path it came, its name on boards, and the file.

    Attributes
    ----------
    kind : {"predictions", "code"}
    name : str
    source : SourceRecord
    reported : mapping
        What else is known about how it was made; goes into the record.
    started : datetime, optional
        When the work on it began.
    """

    kind: Kind
    name: str
    source: SourceRecord
    reported: Mapping[str, Any] = field(default_factory=dict)
    started: datetime.datetime | None = None


def check_by_questions(file: str | Path, questions: str | Path) -> Submission:
    """Check a file of predictions by what a competition publishes of sealed questions; no data are needed.

    Parameters
    ----------
    file : path
    questions : path
        A folder with ``manifest.json``, the rules, and ``ids.parquet``, the ids to answer: the folder of a track or
        phase below ``public`` of a competition.

    Raises
    ------
    InputError
        When the folder does not hold them, or the file is refused.
    """
    rules, ids = Path(questions) / "manifest.json", Path(questions) / "ids.parquet"
    try:
        manifest = Manifest.model_validate_json(rules.read_bytes())
        asked = pd.read_parquet(ids, columns=["id"])
    except (OSError, ValueError) as error:
        raise InputError(
            f"{questions}: this folder does not have the questions of a competition (manifest.json and ids.parquet). "
            "Name one below its folder public."
        ) from error
    return check_submission(Path(file), manifest, asked)


def score_predictions(
    file: str | Path,
    benchmark: Benchmark | str,
    split: str | None = None,
    *,
    data: str | None = None,
    name: str | None = None,
    out: str | Path | None = None,
    **options: Any,
) -> Result:
    """Score a file of predictions, and return a result that ranks beside the runs of decoders.

    Parameters
    ----------
    file : path
        Predictions as ``.parquet`` or ``.csv``: a submission, or the predictions of a run.
    benchmark : Benchmark or str
        A loaded benchmark, or its name; `data` and `options` then go to ``load_benchmark``. The name of a family is
        enough where the file says its task.
    split : str, optional
        By default the benchmark's first.
    name : str, optional
        What boards call it; by default the ``model`` of the file's metadata, else the name of the file.
    out : path, optional
        Folder to keep the result in; without it the result is only returned.

    Returns
    -------
    Result
        Of the kind "predictions".

    Raises
    ------
    InputError
        When the file is refused; file, row and cure are named, and nothing is written.
    """
    path = Path(file)
    chosen = (
        load_benchmark_of_file(benchmark, path, data, options) if isinstance(benchmark, str) else benchmark
    )
    cut = chosen.split(split or chosen.splits[0])
    n_rows = sum(len(fold.test) for fold in cut.folds)
    started = current_time()
    said = read_words(path, chosen.manifest) if path.suffix.lower() == ".parquet" else {}
    table = read_predictions(path, chosen.manifest, expected_rows=n_rows)
    check_possible(table, chosen.manifest, path.name)
    shown = check_name(said.get("model") or path.stem if name is None else name, path.name)
    known = {word: said[word] for word in ("model", "contact", "external_data") if word in said}
    about = HandedIn("predictions", shown, source_of(path), {"metadata": known} if known else {}, started)
    result = judge_answers(chosen, cut.name, table, about)
    return result if out is None else save_result(result, Path(out))


def judge_answers(benchmark: Benchmark, split: str, predictions: pd.DataFrame, about: HandedIn) -> Result:
    """Score answers to a split of a benchmark, and return them as a result that boards can rank.

    Raises
    ------
    InputError
        When the predictions are refused.
    """
    cut, manifest = benchmark.split(split), benchmark.manifest
    truth = benchmark.truth(cut)
    units = score(predictions, truth, manifest, source=about.source.file)
    asked: list[Any] = [about.kind, benchmark.name, manifest.hash, cut.hash, about.name, about.source.sha256]
    # The split hash covers ids only: corrected labels, or a twin beside the real data, are another question.
    asked += [benchmark.simulated, _digest_truth(truth), units.table["score"].tolist()]
    finished = current_time()
    record = RunRecord(
        kind=about.kind,
        run_key=digest(asked),
        status="complete",
        simulated=benchmark.simulated,
        benchmark=BenchmarkRecord(
            name=benchmark.name,
            options=dict(benchmark.options),
            notes=(*benchmark.notes, *cut.notes),
            manifest_hash=manifest.hash,
        ),
        split=describe_split(cut, identity_probes(benchmark, cut)),
        decoder=DecoderRecord(name=about.name),
        source=about.source,
        seed=0,
        score=units.value,
        metric=manifest.metric,
        scorer_version=units.scorer_version,
        started=about.started or finished,
        finished=finished,
        cells=tuple(
            CellRecord(fold=fold.name, status="complete", n_test=len(fold.test)) for fold in cut.folds
        ),
        reported=dict(about.reported),
        manifest=manifest,
        **describe_software(),
    )
    ordered = predictions.sort_values("id", ignore_index=True)
    return Result(record, ordered, units)


def source_of(path: Path) -> SourceRecord:
    """Return the name of a submitted file, with the SHA-256 of its bytes."""
    with path.open("rb") as opened:
        return SourceRecord(file=path.name, sha256=hashlib.file_digest(opened, "sha256").hexdigest())


def load_benchmark_of_file(
    name: str, file: Path, data: str | None, options: Mapping[str, Any] | None = None
) -> Benchmark:
    """Load the task that a file of predictions is for: as named, the family's only one, or what the file says.

    Raises
    ------
    InputError
        When there is no such file, or a family of several tasks is named and the file does not say which.
    """
    family, definition, tasks = resolve(name)
    if judges_models(family):
        raise InputError(
            f'"{name}" judges models, not files of predictions. Use: neuroarena run {name} -d MODEL'
        )
    if not file.exists():
        raise InputError(f"{file}: there is no such file. Expected predictions in parquet or csv.")
    if len(tasks) == 1:
        return load_benchmarks(name, data, **(options or {}))[0]
    said = read_metadata(file) if file.suffix.lower() == ".parquet" else None
    tasks = tuple(task for task in tasks if said is not None and f'"{family.name}/{task}"'.encode() in said)
    if len(tasks) != 1:
        raise InputError(
            f'"{name}" is a family of several tasks and {file.name} does not say which; name one, as in {name}/TASK.'
        )
    return load_benchmarks(f"{family.name}@{definition}/{tasks[0]}", data, **(options or {}))[0]


def _digest_truth(truth: pd.DataFrame) -> str:
    """Return a digest of what the answers were compared with: ids, units and targets."""
    targets = [str(value.tolist() if isinstance(value, np.ndarray) else value) for value in truth["target"]]
    return digest([truth["id"].astype(str).tolist(), truth["unit"].astype(str).tolist(), targets])
