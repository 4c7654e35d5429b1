"""Judge models that are shown stimuli, with the same results as runs of decoders."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from neuroarena.benchmarks.comparison import Comparison, Judgement
from neuroarena.errors import InputError, MissingDependency, NeuroarenaError, UnknownName
from neuroarena.evaluation.record import (
    BenchmarkRecord,
    CellRecord,
    DecoderRecord,
    RunRecord,
    SplitRecord,
    Status,
    current_time,
    describe_software,
)
from neuroarena.evaluation.results import Result, save_result
from neuroarena.fingerprint import digest
from neuroarena.progress import Progress, Silence


def judge_models(
    models: Sequence[tuple[str | None, Any]],
    comparisons: Sequence[Comparison],
    splits: Sequence[str | None] = (None,),
    *,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> list[Result]:
    """Judge every model by every comparison.

    Parameters
    ----------
    models : sequence of (name, model)
        A model is a name, ``module:attribute``, or an object; boards use its own name unless another
        is given.
    comparisons : sequence of Comparison
    splits : sequence of str or None
        Must be those that the comparisons have; None is the first.
    out : path, optional
        Folder to keep the results in.
    progress : Progress, optional

    Raises
    ------
    InputError
        For an unknown model or split; nothing is computed then.
    NeuroarenaError
        When the only model cannot be judged by the only comparison. Of several, those that cannot are kept as failed,
        with the reason, and the others go on.
    """
    for comparison in comparisons:
        for split in splits:
            if split is not None and split not in comparison.splits:
                known = ", ".join(comparison.splits)
                raise InputError(f'No split "{split}" of {comparison.name}; there are: {known}.')
    shown = progress or Silence()
    shown.begin("comparisons", len(comparisons) * len(models))
    results = []
    for comparison in comparisons:
        for name, model in models:
            started = current_time()
            judgement = _judge(comparison, model, alone=len(comparisons) * len(models) == 1)
            result = result_of(judgement, comparison, name, started)
            results.append(result if out is None else save_result(result, Path(out)))
            shown.advance("comparisons")
    return results


def _judge(comparison: Comparison, model: Any, alone: bool) -> Judgement:
    try:
        return comparison.judge(model)
    except (MissingDependency, UnknownName):
        raise
    except NeuroarenaError as error:
        if alone:
            raise
        return comparison.refuse(model, str(error))


def result_of(
    judgement: Judgement, comparison: Comparison, name: str | None, started: datetime.datetime
) -> Result:
    """Turn what a comparison said about a model into a result that boards can rank."""
    manifest, units = judgement.manifest, judgement.unit_scores
    model = name or judgement.model
    family, _, task = manifest.name.partition("/")
    content = (
        judgement.score if units is None else units.table[["unit", "fold", "score"]].to_dict(orient="list")
    )
    status: Status = "complete" if judgement.refused is None else "failed"
    record = RunRecord(
        kind="model",
        run_key=digest(["model", manifest.hash, model, judgement.content, judgement.data_hash, content]),
        status=status,
        simulated=comparison.simulated,
        benchmark=BenchmarkRecord(
            name=f"{family}@{manifest.definition}/{task}",
            options=dict(judgement.options),
            notes=manifest.notes,
            manifest_hash=manifest.hash,
        ),
        split=SplitRecord(name=judgement.split, hash=judgement.data_hash, folds=judgement.n_folds),
        decoder=DecoderRecord(
            name=model, type="model", parameters=dict(judgement.parameters), code=judgement.content
        ),
        seed=judgement.seed,
        score=judgement.score,
        metric=manifest.metric,
        scorer_version=None if units is None else units.scorer_version,
        started=started,
        finished=current_time(),
        cells=(CellRecord(fold="all", status=status, error=judgement.refused),),
        left_out=dict(judgement.left_out),
        reported=dict(judgement.reported),
        manifest=manifest,
        **describe_software(),
    )
    return Result(record, judgement.predictions, units)
