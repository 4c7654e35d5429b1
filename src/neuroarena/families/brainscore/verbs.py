"""``neuroarena brainscore``: compare a model of vision with recordings."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neuroarena.cli.options import Json
from neuroarena.cli.output import print_json, print_table

if TYPE_CHECKING:
    from neuroarena.evaluation.record import RunRecord
    from neuroarena.evaluation.results import Result
    from neuroarena.families.brainscore.brain_score import Score

SPLIT = "neuroids"


def brainscore(
    model: Annotated[
        str, typer.Argument(help="Name of a model (pixels, tiny-cnn), or module:function of a file here.")
    ],
    benchmarks: Annotated[list[str], typer.Argument(help="Names such as MajajHong2015.IT-pls.")],
    data: Annotated[
        str | None,
        typer.Option(
            "--data", metavar="DIR", help="Folder of the recordings; by default $NEUROARENA_BRAINSCORE."
        ),
    ] = None,
    version: Annotated[
        int | None,
        typer.Option("--version", metavar="N", help="Version of the benchmarks: 3 scores by (r / c)^2."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Also keep the scores, for neuroarena board."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare a model of vision with recordings; the scores are normalised by what the recordings allow."""
    from neuroarena.families.brainscore import load_model, score
    from neuroarena.families.brainscore.family import FAMILY, LATEST, BrainScoreOptions

    sys.path.insert(0, "")  # a model may be given as module:function of a file in this folder
    candidate = load_model(model)
    rows = []
    for name in benchmarks:
        task, chosen = name.removeprefix(f"{FAMILY.name}/"), BrainScoreOptions(version=version)
        asked = FAMILY.load(task, LATEST, data, chosen)
        found = score(candidate, asked)
        kept = save_score(found, asked, out) if out is not None else None
        rows.append(_row(found, asked, kept))
        if out is not None and kept is None:
            print(f"{name}: its score has no neuroids to rank by, so nothing was kept.", file=sys.stderr)
    if as_json:
        print_json(rows)
        return
    columns = ("benchmark", "score", "error", "raw", "ceiling", "formula")
    shown = [[_shown(row[column]) for column in columns] for row in rows]
    mark = " (simulated recordings)" if any(row["simulated"] for row in rows) else ""
    print_table(columns, shown, f"{candidate.identifier}{mark}")


def save_score(score: Score, benchmark: Any, out: str | Path) -> Result | None:
    """Keep a Score as a run that boards can rank: one unit a neuroid.

    Parameters
    ----------
    score : Score
        As :func:`neuroarena.families.brainscore.brain_score` gave it.
    benchmark : Benchmark
        What it was scored on.
    out : path
        Folder of results; the run gets a folder of its own in it.

    Returns
    -------
    Result or None
        None when the Score does not tell neuroids apart (properties, dissimilarities, solution times).
    """
    from neuroarena.evaluation.results import Result, save_result
    from neuroarena.families.brainscore.neuroids import neuroid_values
    from neuroarena.families.brainscore.unit_scores import manifest_of, unit_scores

    if neuroid_values(score) is None:
        return None
    units, manifest = unit_scores(score, benchmark), manifest_of(benchmark, score)
    record = _record(score, benchmark, manifest, units)
    return save_result(Result(record, None, units), Path(out))


def _record(score: Score, benchmark: Any, manifest: Any, units: Any) -> RunRecord:
    from neuroarena.evaluation.record import (
        BenchmarkRecord,
        CellRecord,
        DecoderRecord,
        RunRecord,
        SplitRecord,
        current_time,
        made_with,
    )
    from neuroarena.fingerprint import digest

    model, known = str(score.attrs["model_identifier"]), score.provenance
    family, _, task = manifest.name.partition("/")
    data = digest(known.get("data", {}))
    units_digest = digest(
        [[str(unit), float(value)] for unit, value in units.table[["unit", "score"]].values]
    )
    return RunRecord(
        kind="model",
        run_key=digest([manifest.hash, model, data, units_digest]),
        status="complete",
        simulated=bool(getattr(benchmark, "simulated", False)),
        benchmark=BenchmarkRecord(
            name=f"{family}@{manifest.definition}/{task}",
            options={"normalisation": score.formula},
            notes=manifest.notes,
            manifest_hash=manifest.hash,
        ),
        split=SplitRecord(name=SPLIT, hash=data, folds=score.n_splits or 1),
        decoder=DecoderRecord(
            name=model, type="brain model", parameters={"comment": score.attrs.get("comment", "")}
        ),
        seed=known.get("seed") or 0,
        score=units.value,
        metric=manifest.metric,
        scorer_version=units.scorer_version,
        started=current_time(),
        finished=current_time(),
        cells=(CellRecord(fold="all", status="complete"),),
        reported=_numbers(score),
        manifest=manifest,
        **made_with(),
    )


def _numbers(score: Score) -> dict[str, Any]:
    return {
        "score": float(score),
        "error": score.error,
        "raw": None if score.raw is None or score.formula is None else float(score.raw),
        "ceiling": None if score.ceiling is None else float(score.ceiling),
        "formula": score.formula,
    }


def _row(score: Score, benchmark: Any, kept: Result | None) -> dict[str, Any]:
    return {
        "benchmark": benchmark.identifier,
        "version": benchmark.version,
        "model": score.attrs["model_identifier"],
        **_numbers(score),
        "n_neuroids": score.n_neuroids_used,
        "simulated": bool(getattr(benchmark, "simulated", False)),
        "folder": None if kept is None else str(kept.folder),
    }


def _shown(value: Any) -> str:
    return "-" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
