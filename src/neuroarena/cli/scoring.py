"""``neuroarena score``: judge a file of predictions, or the code that makes them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neuroarena.cli import options
from neuroarena.cli.output import print_json, print_table, shown

if TYPE_CHECKING:
    from neuroarena.benchmarks import Benchmark
    from neuroarena.scoring import UnitScores


def score_file(
    benchmark: Annotated[str, typer.Argument(help="family[@definition]/task.")],
    file: Annotated[
        Path, typer.Argument(help="Predictions (parquet or csv), or code (zip) where the benchmark takes it.")
    ],
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
    option: options.Option = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="Judge only a few people: does the code run? (zip)")
    ] = False,
    seconds: Annotated[
        float | None, typer.Option("--seconds", help="Most time each part of the code may take (zip).")
    ] = None,
    memory_mb: Annotated[
        int | None, typer.Option("--memory-mb", help="Most memory the code may use (zip).")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Score predictions, or the code that makes them; the same function judges on a laptop and on a server."""
    chosen = options.family_options(
        subset, multiclass, sessions, judged, folds, max_samples, train_on, level, electrode, offset, option
    )
    if file.suffix.lower() == ".zip":
        _refuse_options({**chosen, **({} if out is None else {"out": out})}, file)
        _score_zip(benchmark, file, data, split, fast, {"seconds": seconds, "memory_mb": memory_mb}, as_json)
        return
    loaded = benchmark_of(benchmark, file, data, chosen)
    scores = _scores_of(file, loaded, split)
    if out is not None:
        scores.write(out)
    if as_json:
        rows = scores.table.to_dict(orient="records")
        print_json({"benchmark": loaded.name, "metric": scores.metric, "score": scores.value, "units": rows})
        return
    mark = " (simulated)" if loaded.simulated else ""
    cells = [[shown(value) for value in row] for row in scores.table.to_numpy()]
    print_table(list(scores.table.columns), cells, f"{loaded.name}{mark}")
    n_units = scores.table["unit"].nunique()
    print(f"{scores.metric} {scores.value:.4f} over {n_units} units ({scores.combiner})")


def _scores_of(file: Path, loaded: Benchmark, split: str | None) -> UnitScores:
    from neuroarena.scoring import read_predictions, score

    truth = loaded.truth(loaded.split(split or loaded.splits[0]))
    predictions = read_predictions(file, loaded.manifest, expected_rows=len(truth))
    return score(predictions, truth, loaded.manifest, source=str(file))


def _refuse_options(given: dict[str, Any], file: Path) -> None:
    """Refuse what code in a zip is not scored with, rather than leave it aside."""
    from neuroarena.errors import InputError

    if given:
        raise InputError(f"{file.name}: code in a zip is scored without {', '.join(given)}. Leave it out.")


def _score_zip(
    benchmark: str,
    file: Path,
    data: str | None,
    split: str | None,
    fast: bool,
    limits: dict[str, Any],
    as_json: bool,
) -> None:
    """Run code in the sandbox and print what its answers are worth."""
    from neuroarena.evaluation import TerminalProgress
    from neuroarena.families.eeg2025.code_submissions import score_code
    from neuroarena.sandbox import Limits

    given = Limits(**{name: value for name, value in limits.items() if value is not None})
    with TerminalProgress() as progress:
        said = score_code(benchmark, file, data, split, fast=fast, limits=given, progress=progress)
    if as_json:
        print_json(said)
        return
    rows = []
    for name in ("overall", "challenge1", "challenge2"):
        edges = (said["intervals"] or {}).get(name)
        interval = "-" if edges is None else f"{edges[0]:.5f} to {edges[1]:.5f}"
        rows.append([name, f"{said[name]:.5f}", interval])
    mark = ", simulated" if said["simulated"] else ""
    title = f"eeg2025@{said['definition']}, {said['split']}, {said['n_people']} people{mark}"
    print_table(["score", "nRMSE", "95 % interval over people"], rows, title)
    how = {"bubblewrap": "in bubblewrap", "process": "in a plain child process, which isolates little"}
    print(f"The code ran {how[said['isolation']]}. Lower is better; the constant mean scores 1.")
    for sentence in (*said["warnings"], *said["notes"]):
        print(f"Note: {sentence}")
    if said.get("no_intervals"):
        print(f"No intervals: {said['no_intervals']}")


def benchmark_of(name: str, file: Path, data: str | None, chosen: dict[str, Any]) -> Benchmark:
    """Load the task that a file of predictions is for: as named, the family's only one, or what the file says.

    Raises
    ------
    InputError
        When there is no such file, or a family of several tasks is named and the file does not say which.
    """
    from neuroarena.benchmarks import load_benchmarks, resolve
    from neuroarena.errors import InputError
    from neuroarena.scoring import read_metadata

    family, definition, tasks = resolve(name)
    if not file.exists():
        raise InputError(f"{file}: there is no such file. Expected predictions in parquet or csv.")
    if len(tasks) > 1:
        said = read_metadata(file) if file.suffix.lower() == ".parquet" else None
        tasks = tuple(
            task for task in tasks if said is not None and f'"{family.name}/{task}"'.encode() in said
        )
    if len(tasks) != 1:
        raise InputError(
            f'"{name}" is a family of several tasks and {file.name} does not say which; name one, as in {name}/TASK.'
        )
    return load_benchmarks(f"{family.name}@{definition}/{tasks[0]}", data, **chosen)[0]
