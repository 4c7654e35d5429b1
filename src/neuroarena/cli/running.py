"""``neuroarena run``: evaluate decoders on a benchmark."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from neuroarena.cli import options
from neuroarena.cli.output import format_value, print_json, print_table

if TYPE_CHECKING:
    from neuroarena.decoders import Decoder
    from neuroarena.evaluation import Progress, Result
    from neuroarena.evaluation.shards import Shard


def run(
    benchmark: options.BenchmarkName,
    decoder: options.DecoderNames,
    out: options.Out = Path("results"),
    split: options.Splits = None,
    data: options.Data = None,
    option: options.Option = None,
    workers: options.Workers = None,
    grid: options.Grid = None,
    notch: options.Notch = None,
    downsample: options.Downsample = None,
    submission: options.Submission = None,
    contact: options.Contact = None,
    external_data: options.ExternalData = None,
    seed: options.Seed = 0,
    repeats: options.Repeats = 1,
    train_fraction: options.TrainFraction = "1",
    leaks_too: options.LeaksToo = False,
    cache: options.Cache = None,
    engine: options.Engine = "local",
    engine_option: options.EngineOption = None,
    pack: options.Pack = None,
    scheduler: options.Scheduler = None,
    shard: options.Shard = None,
    profile: options.Profiled = False,
    as_json: options.Json = False,
) -> None:
    """Evaluate decoders on a benchmark; what was computed before is not computed again."""
    from neuroarena.benchmarks import judges_models, load_benchmarks, resolve
    from neuroarena.evaluation import TerminalProgress, evaluate_all
    from neuroarena.evaluation.profiling import Profile

    sys.path.insert(0, "")  # a decoder may be given as module:attribute of a file in this folder
    options.check_out(out)
    if judges_models(resolve(benchmark)[0]):
        signals = {"--grid": grid, "--notch": notch, "--downsample": downsample, "--submission": submission}
        elsewhere = {"--engine": None if engine == "local" else engine, "--shard": shard}
        besides = {"--seed": seed or None, "--cache": cache, "--check-leaks": leaks_too, "--profile": profile}
        share_of_training = {"--train-fraction": None if train_fraction == "1" else train_fraction}
        options.refuse_unused(
            {**signals, **elsewhere, **besides, **share_of_training},
            f"{benchmark}, which judges models that are shown stimuli",
        )
    later = {"--submission": submission, "--check-leaks": leaks_too, "--profile": profile}
    share = None if shard is None else _read_share(shard, later)
    _check_words(submission, contact, external_data)
    where = options.choose_engine(engine, workers, pack, scheduler, engine_option or [])
    loaded = load_benchmarks(benchmark, data, **options.parse_values(option or []))
    named = read_decoders(decoder, grid or [], notch, downsample)
    splits, shares = list(split) if split else [None], options.parse_fractions(train_fraction)
    if submission is not None:
        _check_single(len(named) * len(loaded) * len(splits) * len(shares), repeats, submission)
    told = dict[str, Any](engine=where, seed=seed, repeats=repeats, cache=cache, train_fractions=shares)
    with TerminalProgress() as progress:
        if share is not None:
            _run_shard(share, named, loaded, splits, progress, told, as_json)
            return
        told |= {"leaks_too": leaks_too, "profile": Profile() if profile else None}
        results = evaluate_all(named, loaded, splits, out=out, progress=progress, **told)
    _write_submission(results[0], submission, contact, external_data or [], benchmark, data)
    _print_results(results, benchmark, out, as_json)


def _read_share(text: str, later: Mapping[str, object]) -> Shard:
    """Read a share of the cells; refuse what only matters once the results are assembled."""
    from neuroarena.evaluation.shards import Shard

    options.refuse_unused(
        later, "--shard, which computes cells and writes no results; name it when the results are assembled"
    )
    return Shard.parse(text)


def _run_shard(
    shard: Shard,
    named: Sequence[tuple[str | None, Decoder | str]],
    loaded: Sequence[Any],
    splits: Sequence[str | None],
    progress: Progress,
    told: dict[str, Any],
    as_json: bool,
) -> None:
    """Compute one share of the cells and say how many; a cell that fails is shown when all are assembled."""
    from neuroarena.evaluation.evaluate import compute_shard

    done = compute_shard(named, loaded, splits, shard, progress=progress, **told)
    for label, reason in done.failed.items():
        print(f"neuroarena: {label}: {reason}", file=sys.stderr)
    if as_json:
        print_json(
            {
                "shard": f"{shard.number}/{shard.of}",
                "cells": done.cells,
                "planned": done.planned,
                "failed": len(done.failed),
            }
        )
        return
    print(
        f"Share {shard.number} of {shard.of}: {done.cells - len(done.failed)} of its {done.cells} cells are in the "
        f"cache; the whole plan has {done.planned}. When every share is done, the same command without --shard "
        "assembles the results."
    )


def _print_results(results: list[Result], benchmark: str, out: Path, as_json: bool) -> None:
    """Print one row per run, and notes and failures on standard error; exit with code 1 when there are any failures."""
    rows = [_row(result) for result in results]
    for text in _same_for_every_seed(results):
        print(f"neuroarena: {text}", file=sys.stderr)
    if as_json:
        print_json(rows)
    else:
        _print_rows(rows, benchmark, out)
    for note in dict.fromkeys(note for result in results for note in result.record.benchmark.notes):
        print(f"note: {note}", file=sys.stderr)
    for leak in dict.fromkeys(leak for result in results for leak in result.record.split.leaks):
        print(f"LEAK: {leak}", file=sys.stderr)
    failed = [row for row in rows if row["status"] != "complete"]
    for row in failed:
        print(f"neuroarena: {row['decoder']} on {row['benchmark']}: {row['reason']}", file=sys.stderr)
    if failed:
        raise typer.Exit(1)


def _same_for_every_seed(results: list[Result]) -> list[str]:
    """Name the decoders that were trained once although several repeats were asked for."""
    fixed = [each.record for each in results if each.record.repeats and not each.record.repeats.chance]
    several = len({each.record.split.name for each in results}) > 1
    return [
        f"{name} draws nothing at random{f' on {split}' if several else ''}: it was trained once, and every seed gives "
        "the same scores."
        for name, split in dict.fromkeys((record.decoder.name, record.split.name) for record in fixed)
    ]


def _check_words(submission: Path | None, contact: str | None, external_data: list[str] | None) -> None:
    """Refuse what only a submission would hold where none is written."""
    if submission is None:
        said = {"--contact": contact, "--external-data": external_data}
        options.refuse_unused(said, "a run that writes no submission; name its file with --submission")


def _write_submission(
    result: Result,
    path: Path | None,
    contact: str | None,
    external_data: list[str],
    benchmark: str,
    data: str | None,
) -> None:
    from neuroarena.scoring import write_submission

    if path is None:
        return
    if not result.complete or result.predictions is None:
        print(f"neuroarena: {path.name} was not written, because the run is not complete.", file=sys.stderr)
        return
    write_submission(
        path,
        result.predictions,
        result.manifest,
        model=result.record.decoder.name,
        contact=contact or "not given",
        external_data=external_data,
    )
    where = "" if data is None else f" --data {data}"
    named = benchmark if benchmark.endswith(".toml") or ":" in benchmark else result.manifest.name
    asked = f"neuroarena check submission {named} {path}{where}"
    print(f"Wrote {path}. Check it with: {asked}", file=sys.stderr)


def read_decoders(
    names: list[str], grid: list[str], notch: str | None, downsample: float | None
) -> list[tuple[str | None, Decoder | str]]:
    """Return each decoder with its name, or all decoders of a grid of its parameters."""
    from neuroarena.decoders import load_decoder
    from neuroarena.decoders.grid import decoder_grid, parse_grid
    from neuroarena.decoders.preparing import prepare_decoder
    from neuroarena.errors import InputError

    if not grid and notch is None and downsample is None:
        return [(None, name) for name in names]
    try:
        frequencies = [] if notch is None else [float(part) for part in notch.split(",")]
    except ValueError:
        raise InputError(f'"{notch}" is not a list of frequencies. Expected numbers, as in 60,120.') from None
    pairs = [pair for name in names for pair in decoder_grid(name, load_decoder(name), parse_grid(grid))]
    return [prepare_decoder(name, decoder, frequencies, downsample) for name, decoder in pairs]


def _check_single(n_runs: int, repeats: int, submission: Path) -> None:
    from neuroarena.errors import InputError

    if n_runs != 1:
        raise InputError(
            f"{submission.name}: a submission holds the predictions of one decoder on one split of one task, and this "
            f"command makes {n_runs} runs. Name one of each."
        )
    if repeats != 1:
        raise InputError(
            f"{submission.name}: a submission holds the predictions of one trained model, and --repeats {repeats} "
            f"trains {repeats}. Leave --repeats out; --seed chooses the one to submit."
        )
    if not submission.absolute().parent.is_dir():
        raise InputError(f"{submission}: there is no such folder to write into.")
    if submission.suffix != ".parquet":
        raise InputError(f"{submission.name}: a submission is written to a name that ends in .parquet.")


def _print_rows(rows: list[dict[str, object]], benchmark: str, out: Path) -> None:
    mark = " (simulated)" if any(row["simulated"] for row in rows) else ""
    seeds = ["seeds"] if any("seeds" in row for row in rows) else []
    columns = ["benchmark", "split", "decoder", "score", "units", *seeds, "status"]
    print_table(
        columns,
        [[format_value(row.get(name)) for name in columns] for row in rows],
        title=f"{benchmark}{mark}",
    )
    print(f"Results are in {out}. Rank them with: neuroarena board {out}")


def _row(result: object) -> dict[str, object]:
    from neuroarena.evaluation import Result

    assert isinstance(result, Result)
    record, failed = result.record, result.record.failed_cells
    return {
        "benchmark": record.benchmark.name,
        "split": record.split.name,
        "decoder": record.decoder.name,
        "score": result.score,
        "metric": record.metric,
        "units": 0 if result.unit_scores is None else result.unit_scores.table["unit"].nunique(),
        **({} if record.repeats is None else {"seeds": len(record.seeds)}),
        "simulated": record.simulated,
        "status": record.status,
        "reason": f"{len(failed)} of {len(record.cells)} cells failed; the first: {failed[0].error}"
        if failed
        else None,
        "notes": list(record.benchmark.notes),
        "folder": str(result.folder),
    }
