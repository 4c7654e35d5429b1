"""``neuroarena brainscore``: the old name of ``neuroarena run brainscore/NAME -d MODEL``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neuroarena.cli.options import Json
from neuroarena.cli.output import print_json, print_table

if TYPE_CHECKING:
    from neuroarena.evaluation import Result
    from neuroarena.families.brainscore.comparison import NeuralComparison


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
    from neuroarena.benchmarks.options import read_options
    from neuroarena.evaluation.comparisons import judge_models
    from neuroarena.families.brainscore import load_model
    from neuroarena.families.brainscore.family import FAMILY, LATEST, BrainScoreOptions

    sys.path.insert(0, "")  # a model may be given as module:function of a file in this folder
    candidate = load_model(model)
    given = {} if version is None else {"version": version}
    chosen = read_options(BrainScoreOptions, given, "brainscore", benchmarks[0])
    comparisons = [
        FAMILY.load(name.removeprefix(f"{FAMILY.name}/"), LATEST, data, chosen) for name in benchmarks
    ]
    results = judge_models([(None, candidate)], comparisons, out=out)
    rows = [_row(result, asked) for result, asked in zip(results, comparisons, strict=True)]
    if as_json:
        print_json(rows)
        _exit_with_failures(results)
        return
    columns = ("benchmark", "score", "error", "raw", "ceiling", "formula")
    shown = [[_format_cell(row[column]) for column in columns] for row in rows]
    mark = " (simulated recordings)" if any(row["simulated"] for row in rows) else ""
    print_table(columns, shown, f"{candidate.identifier}{mark}")
    for result in results:
        why = result.record.left_out.get("unit_scores")
        if result.complete and out is not None and why is not None:
            print(f"{result.record.task} is kept, but boards cannot rank it: {why}", file=sys.stderr)
    _exit_with_failures(results)


def _exit_with_failures(results: list[Result]) -> None:
    """Say on standard error why a model could not be judged, and exit with code 1 where that happened."""
    failed = [result for result in results if not result.complete]
    for result in failed:
        print(f"{result.record.task}: {result.record.failed_cells[0].error}", file=sys.stderr)
    if failed:
        raise typer.Exit(1)


def _row(result: Result, asked: NeuralComparison) -> dict[str, Any]:
    said = {
        name: result.record.reported.get(name) for name in ("score", "error", "raw", "ceiling", "formula")
    }
    return {
        "benchmark": asked.benchmark.identifier,
        "version": asked.benchmark.version,
        "model": result.record.decoder.name,
        **said,
        "n_neuroids": result.record.reported.get("n_neuroids"),
        "simulated": result.record.simulated,
        "folder": None if result.folder is None else str(result.folder),
    }


def _format_cell(value: Any) -> str:
    return "-" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
