"""``neuroarena plan``: what a run would take, before it is started."""

from __future__ import annotations

import dataclasses
import sys
from typing import Annotated, Any

import typer

from neuroarena.cli import options
from neuroarena.cli.output import print_json, print_table


def plan(
    benchmark: options.BenchmarkName,
    decoder: options.DecoderNames,
    split: options.Splits = None,
    data: options.Data = None,
    option: options.Option = None,
    seed: options.Seed = 0,
    repeats: options.Repeats = 1,
    workers: options.Workers = None,
    cache: options.Cache = None,
    measure: Annotated[
        bool,
        typer.Option(
            "--measure/--no-measure",
            help="Compute a cell or two of every kind that has no figure yet; they are kept.",
        ),
    ] = True,
    as_json: options.Json = False,
) -> None:
    """Count the cells of a run and estimate its time, memory and room, from what cells took on this machine."""
    from neuroarena.benchmarks import load_benchmarks
    from neuroarena.evaluation import available_cores
    from neuroarena.evaluation.cache import default_cache
    from neuroarena.evaluation.costs import (
        estimate_costs,
        find_what_does_not_fit,
        measure_features,
        measure_unknown,
    )
    from neuroarena.evaluation.evaluate import name_decoder
    from neuroarena.evaluation.plan import plan_runs

    sys.path.insert(0, "")
    loaded: list[Any] = list(load_benchmarks(benchmark, data, **options.parse_values(option or [])))
    named = [name_decoder(None, name) for name in decoder]
    plans = plan_runs(named, loaded, list(split) if split else [None], seed, repeats)
    folder = cache or default_cache()
    folder.mkdir(parents=True, exist_ok=True)
    if measure:
        measure_unknown(plans, folder)
    costs, features = estimate_costs(plans, folder), measure_features(plans, folder)
    processes = workers or available_cores()
    known = [cost.seconds for cost in costs if cost.seconds is not None]
    warnings = find_what_does_not_fit(costs, features, folder, processes)
    if as_json:
        rows = [{**dataclasses.asdict(cost), "seconds": cost.seconds, "pack": cost.pack} for cost in costs]
        total = {"seconds": sum(known) / processes, "workers": processes, "feature_bytes": features}
        print_json({"runs": rows, **total, "does_not_fit": warnings})
        return
    columns = ["benchmark", "split", "decoder", "cells", "cached", "s per cell", "time", "memory", "pack"]
    print_table(columns, [_row(cost) for cost in costs], title=f"Plan of {benchmark}")
    left = sum(cost.cells - cost.cached for cost in costs)
    print(
        f"{left} cells are left, about {_duration(sum(known) / processes)} with {processes} workers. ", end=""
    )
    print(f"Features that the cache lacks: {features / 1e6:.0f} MB.")
    if len(known) < len(costs):
        print("Runs without a figure were never computed on this machine; leave out --no-measure.")
    for sentence in warnings:
        print(sentence)


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
