"""Judge models that are shown stimuli, with the same results as runs of decoders."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from neuroarena.benchmarks.comparison import Comparison, Judgement
from neuroarena.errors import InputError
from neuroarena.evaluation.record import (
    BenchmarkRecord,
    CellRecord,
    DecoderRecord,
    RunRecord,
    SplitRecord,
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
            result = result_of(comparison.judge(model), comparison, name, started)
            results.append(result if out is None else save_result(result, Path(out)))
            shown.advance("comparisons")
    return results


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
    record = RunRecord(
        kind="model",
        run_key=digest(["model", manifest.hash, model, judgement.data_hash, content]),
        status="complete",
        simulated=comparison.simulated,
        benchmark=BenchmarkRecord(
            name=f"{family}@{manifest.definition}/{task}",
            options=dict(judgement.options),
            notes=manifest.notes,
            manifest_hash=manifest.hash,
        ),
        split=SplitRecord(name=judgement.split, hash=judgement.data_hash, folds=judgement.n_folds),
        decoder=DecoderRecord(name=model, type="model", parameters=dict(judgement.parameters)),
        seed=judgement.seed,
        score=judgement.score,
        metric=manifest.metric,
        scorer_version=None if units is None else units.scorer_version,
        started=started,
        finished=current_time(),
        cells=(CellRecord(fold="all", status="complete"),),
        left_out=dict(judgement.left_out),
        reported=dict(judgement.reported),
        manifest=manifest,
        **describe_software(),
    )
    return Result(record, judgement.predictions, units)
