"""Put the cells of a run together: predictions, unit scores and the record."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import Any

import pandas as pd
import pyarrow as pa

from neuroarena.evaluation.cache import join_cells
from neuroarena.evaluation.cell import Cell
from neuroarena.evaluation.computed import Computed
from neuroarena.evaluation.plan import RunPlan
from neuroarena.evaluation.record import (
    BenchmarkRecord,
    CellRecord,
    DecoderRecord,
    RepeatsRecord,
    RunRecord,
    current_time,
    describe_software,
)
from neuroarena.evaluation.repeats import Repeat, average_scores
from neuroarena.evaluation.results import Result
from neuroarena.scoring import UnitScores, score


def draws_at_random(plan: RunPlan, computed: Computed) -> bool | None:
    """Return whether the decoder drew anything in its first training; None when that was not completed.

    The generator of the context is the only source of chance that the contract allows, so one that is neither drawn
    from nor kept makes every seed the same.
    """
    if not all(cell.key in computed.kept for cell in plan.cells):
        return None
    return any(computed.kept[cell.key][1].get("drew", True) for cell in plan.cells)


def assemble_all(plans: Iterable[RunPlan], computed: Computed, started: datetime.datetime) -> list[Result]:
    """Put the cells of every run together, score them and write the records."""
    # Decoders on one split are judged by one truth.
    truths: dict[tuple[int, int], pd.DataFrame] = {}
    results = []
    for plan in plans:
        judged = id(plan.benchmark), id(plan.split)
        if judged not in truths:
            truths[judged] = plan.benchmark.truth(plan.split)
        results.append(_assemble(plan, truths[judged], computed, started))
    return results


def _assemble(plan: RunPlan, truth: pd.DataFrame, computed: Computed, started: datetime.datetime) -> Result:
    cells, predictions, unit_scores = _training(plan, plan.cells, truth, computed)
    chance = None if plan.n_repeats == 1 else draws_at_random(plan, computed)
    if chance is None or predictions is None or unit_scores is None:
        # Trained once, or the first training failed and the others were not begun.
        return Result(_record(plan, cells, unit_scores, None, started), predictions, unit_scores)
    repeats = [Repeat(plan.seed, unit_scores, predictions)]
    said = [each.model_copy(update={"seed": plan.seed}) for each in cells]
    for seed in plan.seeds[1:]:
        if not chance:
            repeats.append(Repeat(seed, unit_scores, predictions))
            continue
        others, predicted, scores = _training(plan, plan.cells_of(seed), truth, computed)
        said += [each.model_copy(update={"seed": seed}) for each in others]
        if predicted is not None and scores is not None and all(each.status == "complete" for each in others):
            repeats.append(Repeat(seed, scores, predicted))
    averaged = average_scores(repeats)
    about = RepeatsRecord(seeds=plan.seeds, chance=chance)
    record = _record(plan, tuple(said), averaged, about, started)
    return Result(record, predictions, averaged, repeats=tuple(repeats) if record.complete else ())


def _training(
    plan: RunPlan, cells: tuple[Cell, ...], truth: pd.DataFrame, computed: Computed
) -> tuple[tuple[CellRecord, ...], pd.DataFrame | None, UnitScores | None]:
    """Return how each cell of one training ended, with the predictions and scores of those that went well."""
    tables: list[pa.Table] = []
    said: list[CellRecord] = []
    for cell in cells:
        outcome, found = computed.outcomes.get(cell.key), computed.kept.get(cell.key)
        ended: dict[str, Any] = {"status": "complete"}
        if found is not None:
            tables.append(found[0])
            ended["warnings"] = found[1].get("warnings", [])
        else:
            details = outcome.details if outcome is not None else None
            ended = {"status": "failed", "error": computed.reason(cell.key), "traceback": details}
        said.append(
            CellRecord(
                fold=cell.fold,
                key=cell.key,
                seconds=round(outcome.seconds, 3) if outcome is not None else None,
                n_train=sum(len(windows.starts) for windows in cell.training()),
                n_test=sum(len(windows.starts) for windows in cell.test),
                **ended,
            )
        )
    if not tables:
        return tuple(said), None, None
    predictions = join_cells(tables)
    if len(tables) < len(cells):
        truth = truth[truth["id"].isin(predictions["id"])]
    return tuple(said), predictions, score(predictions, truth, plan.benchmark.manifest)


def _record(
    plan: RunPlan,
    cells: tuple[CellRecord, ...],
    unit_scores: UnitScores | None,
    repeats: RepeatsRecord | None,
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
        split=plan.split_record,
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
        repeats=repeats,
        score=unit_scores.value if unit_scores is not None and complete else None,
        metric=benchmark.manifest.metric,
        scorer_version=unit_scores.scorer_version if unit_scores is not None else None,
        started=started,
        finished=current_time(),
        cells=cells,
        manifest=benchmark.manifest,
        **describe_software(),
    )
