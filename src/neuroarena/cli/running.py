"""``neuroarena run`` and ``neuroarena score``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neuroarena.cli import options
from neuroarena.cli.output import print_json, print_table

if TYPE_CHECKING:
    from neuroarena.decoders import Decoder


def run(
    benchmark: Annotated[
        str, typer.Argument(help="family[@definition]/task, or a family for all its tasks.")
    ],
    decoder: Annotated[
        list[str],
        typer.Option("--decoder", "-d", help="Name of a decoder, or module:attribute; may be repeated."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder to keep the results in.")],
    split: Annotated[
        list[str] | None,
        typer.Option("--split", "-s", help="Split; may be repeated. By default the benchmark's first."),
    ] = None,
    data: options.Data = None,
    subset: options.Subset = None,
    multiclass: options.Multiclass = False,
    sessions: options.Sessions = None,
    judged: options.Judged = None,
    folds: options.Folds = None,
    max_samples: options.MaxSamples = None,
    train_on: options.TrainOn = None,
    level: options.Level = None,
    electrode: options.Electrode = None,
    offset: options.Offset = None,
    workers: options.Workers = None,
    grid: options.Grid = None,
    seed: options.Seed = 0,
    cache: options.Cache = None,
    as_json: options.Json = False,
) -> None:
    """Evaluate decoders on a benchmark; what was computed before is not computed again."""
    from neuroarena.benchmarks import load_benchmarks
    from neuroarena.evaluation import TerminalProgress, available_cores, evaluate_all

    sys.path.insert(0, "")  # a decoder may be given as module:attribute of a file in this folder
    chosen = options.family_options(
        subset, multiclass, sessions, judged, folds, max_samples, train_on, level, electrode, offset
    )
    loaded = load_benchmarks(benchmark, data, **chosen)
    with TerminalProgress() as progress:
        results = evaluate_all(
            _with_grid(decoder, grid or []),
            loaded,
            list(split) if split else [None],
            out=out,
            workers=workers or available_cores(),
            seed=seed,
            cache=cache,
            progress=progress,
        )
    rows = [_row(result) for result in results]
    if as_json:
        print_json(rows)
    else:
        _print_rows(rows, benchmark, out)
    failed = [row for row in rows if row["status"] != "complete"]
    for row in failed:
        print(f"neuroarena: {row['decoder']} on {row['benchmark']}: {row['reason']}", file=sys.stderr)
    if failed:
        raise typer.Exit(1)


def _with_grid(names: list[str], grid: list[str]) -> list[tuple[str | None, Decoder | str]]:
    """Give each decoder with its name, or all the decoders of a grid of its parameters."""
    from neuroarena.decoders import load_decoder
    from neuroarena.decoders.grid import decoder_grid, parse_grid

    if not grid:
        return [(None, name) for name in names]
    return [pair for name in names for pair in decoder_grid(name, load_decoder(name), parse_grid(grid))]


def _print_rows(rows: list[dict[str, object]], benchmark: str, out: Path) -> None:
    mark = " (simulated)" if any(row["simulated"] for row in rows) else ""
    columns = ["benchmark", "split", "decoder", "score", "units", "status"]
    shown = [[_shown(row[name]) for name in columns] for row in rows]
    print_table(columns, shown, title=f"{benchmark}{mark}")
    print(f"Results are in {out}. Rank them with: neuroarena board {out}")


def _row(result: object) -> dict[str, object]:
    from neuroarena.evaluation import Result

    assert isinstance(result, Result)
    record = result.record
    failed = [cell for cell in record["cells"] if cell["status"] != "complete"]
    return {
        "benchmark": record["benchmark"]["name"],
        "split": record["split"]["name"],
        "decoder": record["decoder"]["name"],
        "score": result.score,
        "metric": record["metric"],
        "units": 0 if result.unit_scores is None else result.unit_scores.table["unit"].nunique(),
        "simulated": record["simulated"],
        "status": record["status"],
        "reason": f"{len(failed)} of {len(record['cells'])} cells failed; the first: {failed[0]['error']}"
        if failed
        else None,
        "folder": str(result.folder),
    }


def _shown(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def score_file(
    benchmark: Annotated[str, typer.Argument(help="family[@definition]/task.")],
    file: Annotated[Path, typer.Argument(help="Predictions: parquet or csv.")],
    split: options.Split = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Also write the unit scores, as parquet."),
    ] = None,
    data: options.Data = None,
    subset: options.Subset = None,
    multiclass: options.Multiclass = False,
    sessions: options.Sessions = None,
    judged: options.Judged = None,
    folds: options.Folds = None,
    max_samples: options.MaxSamples = None,
    train_on: options.TrainOn = None,
    level: options.Level = None,
    electrode: options.Electrode = None,
    offset: options.Offset = None,
    as_json: options.Json = False,
) -> None:
    """Score a prediction file; the same function judges on a laptop and on a server."""
    from neuroarena.benchmarks import Suite, load_benchmark, resolve
    from neuroarena.errors import InputError
    from neuroarena.scoring import read_predictions, score

    resolve(benchmark)
    if not file.exists():
        raise InputError(f"{file}: there is no such file. Expected predictions in parquet or csv.")
    chosen = options.family_options(
        subset, multiclass, sessions, judged, folds, max_samples, train_on, level, electrode, offset
    )
    loaded = load_benchmark(benchmark, data, **chosen)
    if isinstance(loaded, Suite):
        raise InputError(
            f'"{benchmark}" is a family of {len(loaded.benchmarks)} tasks; name one, as in {benchmark}/TASK.'
        )
    truth = loaded.truth(loaded.split(split or loaded.splits[0]))
    predictions = read_predictions(file, loaded.manifest, expected_rows=len(truth))
    scores = score(predictions, truth, loaded.manifest, source=str(file))
    if out is not None:
        scores.write(out)
    if as_json:
        rows = scores.table.to_dict(orient="records")
        print_json({"benchmark": loaded.name, "metric": scores.metric, "score": scores.value, "units": rows})
        return
    mark = " (simulated)" if loaded.simulated else ""
    table = scores.table
    print_table(
        list(table.columns),
        [[_shown(value) for value in row] for row in table.to_numpy()],
        f"{loaded.name}{mark}",
    )
    print(f"{scores.metric} {scores.value:.4f}, mean over {table['unit'].nunique()} units")
