"""``neuroarena plan``: what a run would take, before it is started."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neuroarena.cli import options
from neuroarena.cli.output import print_json, print_table
from neuroarena.errors import InputError

if TYPE_CHECKING:
    from neuroarena.evaluation.costs import Cost
    from neuroarena.evaluation.feature_costs import FeatureCost


def plan(
    benchmark: options.BenchmarkName,
    decoder: options.DecoderNames,
    split: options.Splits = None,
    data: options.Data = None,
    option: options.Option = None,
    grid: options.Grid = None,
    notch: options.Notch = None,
    downsample: options.Downsample = None,
    seed: options.Seed = 0,
    repeats: options.Repeats = 1,
    train_fraction: options.TrainFraction = "1",
    workers: options.Workers = None,
    cache: options.Cache = None,
    measure: Annotated[
        bool,
        typer.Option(
            "--measure/--no-measure",
            help="Compute a cell or two of every kind that has no figure yet, which are kept, and try its features.",
        ),
    ] = True,
    as_json: options.Json = False,
) -> None:
    """Count the cells of a run and estimate its time, memory and room, from what cells took on this machine."""
    from neuroarena.benchmarks import judges_models, load_benchmarks, resolve
    from neuroarena.cli.running import read_decoders
    from neuroarena.evaluation import TerminalProgress, available_cores
    from neuroarena.evaluation.cache import default_cache
    from neuroarena.evaluation.costs import estimate_costs, find_what_does_not_fit, measure_unknown
    from neuroarena.evaluation.evaluate import name_decoder
    from neuroarena.evaluation.feature_costs import estimate_features
    from neuroarena.evaluation.plan import plan_runs

    sys.path.insert(0, "")
    if judges_models(resolve(benchmark)[0]):
        raise InputError(f"{benchmark} judges models that are shown stimuli: there are no cells to plan.")
    shares = options.parse_fractions(train_fraction)
    loaded: list[Any] = list(load_benchmarks(benchmark, data, **options.parse_values(option or [])))
    named = [name_decoder(*each) for each in read_decoders(decoder, grid or [], notch, downsample)]
    splits = list(split) if split else [None]
    plans = plan_runs(named, loaded, splits, seed, repeats, train_fractions=shares)
    folder = cache or default_cache()
    folder.mkdir(parents=True, exist_ok=True)
    with TerminalProgress() as progress:
        failures = measure_unknown(plans, folder, progress) if measure else {}
    costs, features = estimate_costs(plans, folder, failures), estimate_features(plans, folder, measure)
    processes = workers or available_cores()
    warnings = find_what_does_not_fit(costs, features.bytes, folder, processes)
    if features.reason is not None:
        warnings.append(f"The features could not be tried: {features.reason}")
    if as_json:
        _print_as_json(costs, features, processes, warnings)
        return
    columns = ["benchmark", "split", "decoder", "cells", "cached", "s per cell", "time", "memory", "pack"]
    print_table(columns, [_row(cost) for cost in costs], title=f"Plan of {benchmark}")
    print(_summarise(costs, features, processes))
    for sentence in warnings:
        print(sentence)


def _print_as_json(
    costs: Sequence[Cost], features: FeatureCost, processes: int, warnings: Sequence[str]
) -> None:
    from neuroarena.evaluation.costs import estimate_wall_s

    rows = [{**dataclasses.asdict(cost), "seconds": cost.seconds, "pack": cost.pack} for cost in costs]
    total = {"seconds": estimate_wall_s(costs, features, processes), "workers": processes}
    room = {"feature_bytes": features.bytes, "feature_seconds": features.seconds}
    print_json({"runs": rows, **total, **room, "does_not_fit": warnings})


def _summarise(costs: Sequence[Cost], features: FeatureCost, processes: int) -> str:
    """Say what is left and how long it takes, and what of it is not known."""
    from neuroarena.evaluation.costs import estimate_wall_s
    from neuroarena.progress import readable_size

    left = sum(cost.cells - cost.cached for cost in costs)
    told = f"{left} cells are left" if left != 1 else "1 cell is left"
    if features.bytes:
        took = "" if features.seconds is None else f", {_duration(features.seconds)}"
        told += f", and features that the cache lacks ({readable_size(features.bytes)}{took})"
    unknown = [cost for cost in costs if cost.seconds is None]
    missing = [f"{len(unknown)} of {len(costs)} runs"] if unknown else []
    missing += ["the features"] if features.seconds is None else []
    if len(unknown) < len(costs):
        with_workers = f"{processes} workers" if processes != 1 else "1 worker"
        told += f": about {_duration(estimate_wall_s(costs, features, processes))} with {with_workers}"
    told += "."
    if not missing:
        return told
    why = (
        ""
        if any(cost.reason for cost in unknown) or features.reason
        else " Leave out --no-measure to count them."
    )
    return f"{told} Not counted, because nothing is known of their time: {' and '.join(missing)}.{why}"


def _row(cost: Any) -> list[Any]:
    unknown = cost.seconds_a_cell is None
    return [
        cost.benchmark,
        cost.split,
        cost.decoder,
        cost.cells,
        cost.cached,
        "-" if unknown else f"{cost.seconds_a_cell:.2g}",
        "-" if unknown else _duration(cost.seconds),
        "-" if unknown else f"{cost.peak_mb:.0f} MB",
        "-" if unknown else cost.pack,
    ]


def _duration(seconds: float) -> str:
    """Write a time as people say it.

    Examples
    --------
    >>> [_duration(seconds) for seconds in (0.4, 75, 7300)]
    ['0.4 s', '1 min 15 s', '2 h 1 min']
    """
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes = int(seconds // 60)
    return f"{minutes} min {int(seconds % 60)} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
