"""``neuroarena list``: what there is."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from neuroarena.cli.options import Json
from neuroarena.cli.output import print_json, print_table


class Kind(StrEnum):
    """What can be listed."""

    benchmarks = "benchmarks"
    decoders = "decoders"
    datasets = "datasets"
    metrics = "metrics"


def list_things(
    kind: Annotated[Kind, typer.Argument(help="What to list.")],
    definitions: Annotated[
        bool, typer.Option("--definitions", help="Benchmarks of every definition, not only the default ones.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List benchmarks, decoders, datasets or metrics, with where they come from."""
    rows = {
        Kind.benchmarks: lambda: _benchmarks(definitions),
        Kind.decoders: _decoders,
        Kind.datasets: _datasets,
        Kind.metrics: _metrics,
    }[kind]()
    if as_json:
        print_json(rows)
        return
    print_table(list(rows[0]) if rows else ["name"], [list(row.values()) for row in rows])


def _benchmarks(every_definition: bool) -> list[dict[str, Any]]:
    from neuroarena.benchmarks import FAMILIES, list_benchmarks, resolve

    rows = []
    for name in list_benchmarks(every_definition):
        family, definition, (task,) = resolve(name)
        manifest = family.manifest(task, definition)
        rows.append(
            {
                "name": name,
                "definition": definition,
                "question": manifest.question,
                "metric": manifest.metric,
                "splits": ", ".join(family.splits(task, definition)),
                "from": FAMILIES.origin(family.name),
            }
        )
    return rows


def _decoders() -> list[dict[str, Any]]:
    from neuroarena.decoders import DECODERS, describe_decoder

    return [
        {"name": name, "what": describe_decoder(name), "from": DECODERS.origin(name)}
        for name in DECODERS.names()
    ]


def _datasets() -> list[dict[str, Any]]:
    from neuroarena.datasets import DATASETS, load_dataset

    return [
        {
            "name": name,
            "what": load_dataset(name).title,
            "licence": load_dataset(name).licence,
            "from": DATASETS.origin(name),
        }
        for name in DATASETS.names()
    ]


def _metrics() -> list[dict[str, Any]]:
    from neuroarena.scoring import METRICS

    rows = []
    for name in METRICS.names():
        metric = METRICS.get(name)
        rows.append(
            {
                "name": name,
                "title": metric.title,
                "better": metric.direction,
                "predictions": ", ".join(metric.predictions),
                "undefined cases": metric.undefined,
                "from": METRICS.origin(name),
            }
        )
    return rows
