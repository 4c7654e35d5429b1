"""``neuroarena score``: judge a file of predictions, or the code that makes them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neuroarena.cli import options
from neuroarena.cli.completion import complete_benchmarks
from neuroarena.cli.output import format_value, print_json, print_table

if TYPE_CHECKING:
    from neuroarena.evaluation import Result

MOST_UNITS = 10

Name = Annotated[
    str | None,
    typer.Option(
        "--name", help="What boards call it; by default the model that the file names, or the file."
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", metavar="DIR", help="Also keep the result in this folder, for neuroarena board."
    ),
]


def score_file(
    benchmark: Annotated[
        str, typer.Argument(help="family[@definition]/task.", autocompletion=complete_benchmarks)
    ],
    file: Annotated[
        Path, typer.Argument(help="Predictions (parquet or csv), or code (zip) where the benchmark takes it.")
    ],
    split: options.Split = None,
    out: Out = None,
    name: Name = None,
    data: options.Data = None,
    option: options.Option = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="Judge only a few subjects, to see whether the code runs (zip).")
    ] = False,
    seconds: Annotated[
        float | None, typer.Option("--seconds", help="The most time each part of the code may take (zip).")
    ] = None,
    memory_mb: Annotated[
        int | None, typer.Option("--memory-mb", help="The most memory the code may use (zip).")
    ] = None,
    isolation: Annotated[
        str | None,
        typer.Option(
            "--isolation",
            help="bubblewrap, or none: run code that you trust without a sandbox; the result says so (zip).",
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Score predictions, or the code that makes them; the same function judges on a laptop and on a server."""
    from neuroarena.evaluation import score_predictions

    sys.path.insert(0, "")
    options.check_out(out)
    chosen = options.parse_values(option or [])
    limits = {"seconds": seconds, "memory_mb": memory_mb}
    if file.suffix.lower() == ".zip":
        options.refuse_unused({f"-O {name}": value for name, value in chosen.items()}, "code in a zip")
        asked = {"data": data, "split": split, "name": name, "out": out, "isolation": isolation}
        _score_zip(benchmark, file, asked, fast, limits, as_json)
        return
    of_code = {"--fast": fast, "--seconds": seconds, "--memory-mb": memory_mb, "--isolation": isolation}
    options.refuse_unused(of_code, f"{file.name}, a file of predictions: only code in a zip is run")
    result = score_predictions(file, benchmark, split, data=data, name=name, out=out, **chosen)
    if as_json:
        print_json(describe_score(result))
    else:
        _print_score(result)


def describe_score(result: Result) -> dict[str, Any]:
    """Return what ``score --json`` prints: score, interval, tie-break, additional metrics, and every unit."""
    record, units = result.record, result.unit_scores
    assert units is not None
    interval, values = result.interval, units.values()
    tie_break = result.manifest.tie_break
    return {
        "benchmark": record.benchmark.name,
        "split": record.split.name,
        "name": record.decoder.name,
        "kind": record.kind,
        "metric": record.metric,
        "direction": units.direction,
        "score": result.score,
        "interval": None if interval is None else list(interval),
        "tie_break": None if tie_break is None else {"metric": tie_break, "value": values[tie_break]},
        "additional_metrics": {each: values[each] for each in result.manifest.additional_metrics},
        "combiner": units.combiner,
        "n_units": int(units.table["unit"].nunique()),
        "simulated": record.simulated,
        "folder": None if result.folder is None else str(result.folder),
        "units": units.table.to_dict(orient="records"),
    }


def _print_score(result: Result) -> None:
    said, record = describe_score(result), result.record
    mark = " (simulated)" if record.simulated else ""
    rows = said["units"][:MOST_UNITS]
    columns = _shown_columns(result)
    cells = [[format_value(row[column]) for column in columns] for row in rows]
    print_table(
        columns, cells, f"{record.decoder.name} on {record.benchmark.name}, {record.split.name}{mark}"
    )
    more = len(said["units"]) - len(rows)
    if more > 0:
        print(f"and {more} more {'row' if more == 1 else 'rows'}; --json prints everything")
    edges = said["interval"]
    within = "no interval" if edges is None else f"95 % interval {edges[0]:.4f} to {edges[1]:.4f}"
    better = f"{said['direction']} is better"
    combined = "" if said["combiner"] == record.metric else f" ({said['combiner']})"
    print(f"{record.metric} {said['score']:.4f} over {said['n_units']} units{combined}, {within}; {better}")
    if said["tie_break"] is not None:
        print(f"tie-break: {said['tie_break']['metric']} {said['tie_break']['value']:.4f}")
    for metric, value in said["additional_metrics"].items():
        print(f"also: {metric} {value:.4f}")
    if result.folder is not None:
        _print_kept(result.folder.parent)


def _shown_columns(result: Result) -> list[str]:
    """Return the columns of a unit that a person reads; the sums that combiners add up are in the JSON."""
    assert result.unit_scores is not None
    table, manifest = result.unit_scores.table, result.manifest
    wanted = {"unit", "fold", "cluster", "n", "score", manifest.tie_break, *manifest.additional_metrics}
    return [
        column
        for column in table.columns
        if column in wanted and not (column == "cluster" and (table[column] == "").all())
    ]


def _print_kept(out: Path) -> None:
    print(f"The result is in {out}. Rank it with: neuroarena board {out}")


def _score_zip(
    benchmark: str, file: Path, asked: dict[str, Any], fast: bool, limits: dict[str, Any], as_json: bool
) -> None:
    """Run code in the sandbox and print the score of its answers."""
    from neuroarena.evaluation import TerminalProgress
    from neuroarena.evaluation.code import find_contract, score_code
    from neuroarena.sandbox import Limits
    from neuroarena.sandbox.runtime import find_runtime

    given = Limits(**{name: value for name, value in limits.items() if value is not None})
    with TerminalProgress() as progress:
        if asked["isolation"] != "none":
            # Built on first use, with progress; later it is only looked at.
            find_runtime(progress)
        found = score_code(file, benchmark, fast=fast, limits=given, progress=progress, **asked)
    if as_json:
        print_json({**found.report, "results": [describe_score(result) for result in found.results]})
        return
    sheet = find_contract(benchmark)[0].lay_out(found.report)
    print_table(list(sheet.columns), sheet.rows, sheet.title)
    for sentence in sheet.sentences:
        print(sentence)
    if asked["out"] is not None:
        _print_kept(asked["out"])
