"""Evaluate decoders on benchmarks: plan, compute what the cache lacks, score, save."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from neuroarena.benchmarks import Benchmark, Comparison, Suite, load_benchmark
from neuroarena.decoders import Decoder, load_decoder
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.evaluation.cache import CellCache, default_cache
from neuroarena.evaluation.cell import Cell
from neuroarena.evaluation.comparisons import judge_models
from neuroarena.evaluation.engine import Outcome, run_jobs
from neuroarena.evaluation.plan import RunPlan, plan_features, plan_runs
from neuroarena.evaluation.record import (
    BenchmarkRecord,
    CellRecord,
    DecoderRecord,
    RunRecord,
    SplitRecord,
    current_time,
    made_with,
)
from neuroarena.evaluation.results import Result, save_result
from neuroarena.fingerprint import remember_digests_in
from neuroarena.progress import Progress, Silence
from neuroarena.scoring import UnitScores, score


class Interrupted(NeuroarenaError):
    """The run was stopped; what had been computed is kept."""


def evaluate(
    decoder: Decoder | str,
    benchmark: Benchmark | Comparison | str,
    split: str | None = None,
    *,
    data: str | None = None,
    name: str | None = None,
    out: str | Path | None = None,
    workers: int = 1,
    seed: int = 0,
    cache: str | Path | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Result:
    """Evaluate one decoder on one split of one benchmark.

    Parameters
    ----------
    decoder : Decoder or str
        A decoder, or a name of ``neuroarena list decoders``, or ``module:attribute``; for a comparison, a model.
    benchmark : Benchmark, Comparison or str
        A loaded benchmark, or its name; `data` and `options` then go to ``load_benchmark``.
    split : str, optional
        Name of the split; by default the benchmark's first.
    name : str, optional
        What boards call the decoder; by default its registered name or its class.
    out : path, optional
        Folder to keep the result in; without it the result is only returned.
    workers : int
        Number of processes. The numbers do not depend on it.
    seed : int
        The seed from which every cell's own seed is derived.
    cache : path, optional
        Folder of the cache; by default ``NEUROARENA_CACHE`` or the user's cache folder.
    progress : Progress, optional
        Notified of how far the run has come.

    Returns
    -------
    Result
    """
    chosen = load_benchmark(benchmark, data, **options) if isinstance(benchmark, str) else benchmark
    if isinstance(chosen, Suite):
        raise InputError(
            f'"{benchmark}" is a suite of {len(chosen.benchmarks)} tasks; use evaluate_all, or name a task.'
        )
    return evaluate_all(
        [(name, decoder)],
        [chosen],
        [split],
        out=out,
        workers=workers,
        seed=seed,
        cache=cache,
        progress=progress,
    )[0]


def evaluate_all(
    decoders: Sequence[tuple[str | None, Decoder | str]],
    benchmarks: Iterable[Benchmark | Comparison],
    splits: Sequence[str | None],
    *,
    out: str | Path | None = None,
    workers: int = 1,
    seed: int = 0,
    cache: str | Path | None = None,
    progress: Progress | None = None,
) -> list[Result]:
    """Evaluate every decoder on every split of every benchmark, in one plan.

    Features that several of them share are computed once. Parameters are those of
    :func:`evaluate`; a decoder comes with the name boards give it, or None. Where the benchmarks are comparisons, the
    decoders are models that are shown stimuli.

    Raises
    ------
    InputError
        When comparisons and benchmarks of recordings are mixed.
    """
    asked = list(benchmarks)
    comparisons = [each for each in asked if isinstance(each, Comparison)]
    windows = [each for each in asked if isinstance(each, Benchmark)]
    if comparisons and windows:
        raise InputError(
            f"{comparisons[0].name} judges models and {windows[0].name} decoders of recordings; nothing is both. "
            "Evaluate them one after the other."
        )
    if comparisons:
        return judge_models(decoders, comparisons, splits, out=out, progress=progress)
    folder = Path(cache) if cache is not None else default_cache()
    remember_digests_in(folder / "digests")
    plans = plan_runs([_named(name, decoder) for name, decoder in decoders], windows, splits, seed)
    for place in (folder, *([] if out is None else [Path(out)])):
        # Created before anything is computed: nobody should wait for a result that cannot be saved.
        place.mkdir(parents=True, exist_ok=True)
    started = current_time()
    outcomes = _compute(plans, folder, workers, progress or Silence())
    results = [_assemble(plan, CellCache(folder), outcomes, started) for plan in plans]
    _forget_unnamed(plans, CellCache(folder))
    return results if out is None else [save_result(result, Path(out)) for result in results]


def _named(name: str | None, decoder: Decoder | str) -> tuple[str, Decoder]:
    if isinstance(decoder, str):
        name, decoder = name or decoder, load_decoder(decoder)
    name = name or type(decoder).__name__
    # A pretrained encoder with random weights is a control, and says so wherever it is shown.
    untrained = getattr(decoder, "untrained", False) and not name.endswith("(untrained)")
    return f"{name} (untrained)" if untrained else name, decoder


def _compute(plans: list[RunPlan], cache: Path, workers: int, progress: Progress) -> dict[str, Outcome]:
    """Compute the features and cells that the cache lacks, and return the outcome of each cell by key."""
    kept = CellCache(cache)
    cells = {cell.key: cell for plan in plans for cell in plan.cells}
    todo = [cell for key, cell in cells.items() if key not in kept]
    shards = plan_features(todo, cache)
    outcomes: dict[str, Outcome] = {}

    def shard_done(_: Outcome) -> None:
        progress.advance("features")

    def cell_done(outcome: Outcome) -> None:
        assert isinstance(outcome.job, Cell)
        outcomes[outcome.job.key] = outcome
        progress.advance("cells")

    try:
        if shards:
            progress.begin("features", len(shards))
            # A shard that fails leaves its windows out; the cells that need them say so.
            run_jobs(shards, cache, workers, shard_done)
        progress.begin("cells", len(cells), len(cells) - len(todo))
        run_jobs(todo, cache, workers, cell_done)
    except KeyboardInterrupt as interrupt:
        done = sum(key in kept for key in cells)
        raise Interrupted(
            f"Stopped. {done} of {len(cells)} cells are kept; run the same command again to go on from there."
        ) from interrupt
    return outcomes


def _assemble(
    plan: RunPlan, kept: CellCache, outcomes: dict[str, Outcome], started: datetime.datetime
) -> Result:
    """Put the cells of a run together, score them and write the record."""
    tables: list[pd.DataFrame] = []
    cells: list[CellRecord] = []
    for cell in plan.cells:
        outcome = outcomes.get(cell.key)
        ended: dict[str, Any] = {"status": "complete"}
        if cell.key in kept:
            table, note = kept.read(cell.key)
            tables.append(table)
            ended["warnings"] = note.get("warnings", [])
        else:
            reason = outcome.error if outcome is not None else "it was not computed"
            details = outcome.details if outcome is not None else None
            ended = {"status": "failed", "error": reason, "traceback": details}
        cells.append(
            CellRecord(
                fold=cell.fold,
                key=cell.key,
                seconds=round(outcome.seconds, 3) if outcome is not None else None,
                n_train=sum(len(windows.starts) for windows in cell.train),
                n_test=sum(len(windows.starts) for windows in cell.test),
                **ended,
            )
        )
    predictions, unit_scores = None, None
    if tables:
        predictions = pd.concat(tables, ignore_index=True).sort_values("id", ignore_index=True)
        unit_scores = _score(plan, predictions)
    return Result(_record(plan, tuple(cells), unit_scores, started), predictions, unit_scores)


def _score(plan: RunPlan, predictions: pd.DataFrame) -> UnitScores:
    truth = plan.benchmark.truth(plan.split)
    judged = truth[truth["id"].isin(predictions["id"])]
    return score(predictions, judged, plan.benchmark.manifest)


def _record(
    plan: RunPlan,
    cells: tuple[CellRecord, ...],
    unit_scores: UnitScores | None,
    started: datetime.datetime,
) -> RunRecord:
    benchmark, identity = plan.benchmark, plan.identity
    complete = all(cell.status == "complete" for cell in cells)
    return RunRecord(
        kind="run",
        run_key=plan.key,
        status="complete" if complete else "failed",
        simulated=benchmark.simulated,
        benchmark=BenchmarkRecord(
            name=benchmark.name,
            options=dict(benchmark.options),
            notes=(*benchmark.notes, *plan.split.notes),
            manifest_hash=benchmark.manifest.hash,
        ),
        split=SplitRecord(name=plan.split.name, hash=plan.split.hash, folds=len(plan.split.folds)),
        decoder=DecoderRecord(
            name=plan.decoder_name,
            role=getattr(plan.decoder, "role", "entry"),
            untrained=bool(getattr(plan.decoder, "untrained", False)),
            encoder_weights=getattr(plan.decoder, "encoder_weights", None),
            type=identity.type,
            parameters=identity.parameters,
            code=identity.code,
            not_cached_because=identity.reason,
        ),
        seed=plan.seed,
        score=unit_scores.value if unit_scores is not None and complete else None,
        metric=benchmark.manifest.metric,
        scorer_version=unit_scores.scorer_version if unit_scores is not None else None,
        started=started,
        finished=current_time(),
        cells=cells,
        manifest=benchmark.manifest,
        **made_with(),
    )


def _forget_unnamed(plans: list[RunPlan], kept: CellCache) -> None:
    """Remove the cells of decoders that cannot be told apart: another may get the same key later."""
    for plan in plans:
        if plan.identity.key is None:
            for cell in plan.cells:
                kept.path(cell.key).unlink(missing_ok=True)
