"""``neuroarena list``: what there is."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable, Iterator
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neuroarena.cli.completion import complete_families
from neuroarena.cli.options import Json
from neuroarena.cli.output import print_json, print_table

if TYPE_CHECKING:
    from neuroarena.benchmarks.options import OptionInfo

# A longer benchmark name gets its own line.
_NAME_WIDTH = 36
_PIPE_WIDTH = 120
# Where an option of an importer is given; an option of a family has its tasks there.
_IMPORTING = "board --from"


class Kind(StrEnum):
    """What can be listed."""

    benchmarks = "benchmarks"
    decoders = "decoders"
    datasets = "datasets"
    metrics = "metrics"
    maps = "maps"
    options = "options"


def list_things(
    kind: Annotated[Kind, typer.Argument(help="What to list.")],
    name: Annotated[
        str | None,
        typer.Argument(
            help="Family whose benchmarks or options are listed; for options also a task, an engine or an importer.",
            autocompletion=complete_families,
        ),
    ] = None,
    definitions: Annotated[
        bool, typer.Option("--definitions", help="Benchmarks of every definition, not only the default ones.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List benchmarks, decoders, datasets, metrics, published maps, or options of families and importers."""
    if name is not None and kind not in (Kind.benchmarks, Kind.options):
        from neuroarena.errors import InputError

        raise InputError(f"list {kind} takes no name; list benchmarks and list options do.")
    makers: dict[Kind, Callable[[], list[dict[str, Any]]]] = {
        Kind.benchmarks: lambda: _benchmarks(definitions, name),
        Kind.decoders: _decoders,
        Kind.datasets: _datasets,
        Kind.metrics: _metrics,
        Kind.maps: _maps,
        Kind.options: lambda: _families() if name is None else _options(name),
    }
    rows = makers[kind]()
    if as_json:
        print_json(rows)
    elif kind is Kind.benchmarks:
        _print_benchmarks(rows)
        _print_open_families(name)
    elif kind is Kind.options and not rows:
        print(f"{name} has no options.")
    elif kind is Kind.options and name is not None:
        _print_options(rows)
    else:
        _print_rows(rows)


def _print_rows(rows: list[dict[str, Any]], title: str | None = None) -> None:
    columns = list(rows[0]) if rows else ["name"]
    print_table(columns, [list(row.values()) for row in rows], title, unbroken=columns[:1])


def _print_options(rows: list[dict[str, Any]]) -> None:
    """Print the options of a family, and apart from them those of an importer, which may have the same names."""
    for imported, group in groupby(rows, lambda row: row["tasks"].startswith(_IMPORTING)):
        some = list(group)
        if imported:
            title = f"Options of: neuroarena {some[0]['tasks']}"
            _print_rows([{key: row[key] for key in ("option", "value", "what")} for row in some], title)
        else:
            _print_rows(some)


def _print_benchmarks(rows: list[dict[str, Any]]) -> None:
    """Print the tasks of each family and definition; what they have in common is printed above them."""
    from neuroarena.benchmarks import FAMILIES, resolve

    for (family, definition), group in groupby(
        rows, lambda row: (resolve(row["name"])[0], row["definition"])
    ):
        tasks = list(group)
        shared = [column for column in ("metric", "splits") if len({task[column] for task in tasks}) == 1]
        facts = [f"{family.name}@{definition} from {FAMILIES.origin(family.name)}"]
        facts += [f"{column}: {tasks[0][column]}" for column in shared]
        print("\n".join([*_wrap(family.title, 0), *_wrap("; ".join(facts), 2)]))
        width = min(_NAME_WIDTH, max(len(task["name"]) for task in tasks))
        for task in tasks:
            own = [f"{column}: {task[column]}" for column in ("metric", "splits") if column not in shared]
            _print_task(task["name"], " ".join([task["question"], *(f"({fact})" for fact in own)]), width)
        print()


def _print_open_families(only: str | None) -> None:
    """Print how the tasks of families are named that have too many to be listed."""
    from neuroarena.benchmarks import FAMILIES

    for name in FAMILIES.names() if only is None else {only} & set(FAMILIES.names()):
        family = FAMILIES.get(name)
        form = getattr(family, "task_form", None)
        if form is not None:
            facts = f"{name}@{family.definitions[0]} from {FAMILIES.origin(name)}; its tasks are named {form}"
            print("\n".join([*_wrap(family.title, 0), *_wrap(facts, 2)]), end="\n\n")


def _print_task(name: str, text: str, width: int) -> None:
    """Print a name and a sentence beside it, or below it where the name is too long for its column."""
    lines = _wrap(text, width + 4)
    if len(name) <= width:
        lines[0] = f"  {name:{width}}  {lines[0].lstrip()}"
    else:
        lines.insert(0, f"  {name}")
    print("\n".join(lines))


def _wrap(text: str, indent: int) -> list[str]:
    """Break a text into lines that fit the terminal, each indented."""
    width = shutil.get_terminal_size((_PIPE_WIDTH, 24)).columns
    margin = " " * indent
    return textwrap.wrap(
        text, max(width, indent + 20), initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False
    )


def _benchmarks(every_definition: bool, of_family: str | None) -> list[dict[str, Any]]:
    from neuroarena.benchmarks import FAMILIES, list_benchmarks, resolve

    wanted = of_family if of_family in (None, *FAMILIES.names()) else resolve(str(of_family))[0].name
    rows = []
    for name in list_benchmarks(every_definition):
        family, definition, (task,) = resolve(name)
        if wanted not in (None, family.name):
            continue
        manifest = family.manifest(task, definition)
        rows.append(
            {
                "name": name,
                "definition": definition,
                "question": manifest.readable_question,
                "metric": manifest.metric,
                "splits": ", ".join(family.splits(task, definition)),
                "from": FAMILIES.origin(family.name),
            }
        )
    return rows


def _decoders() -> list[dict[str, Any]]:
    from neuroarena.decoders import DECODERS, describe_decoder, zoo_models

    rows = [
        {"name": name, "for": "signals", "what": describe_decoder(name), "from": DECODERS.origin(name)}
        for name in DECODERS.names()
    ]
    what = "Network of the braindecode zoo, trained from random weights."
    zoo = [
        {"name": f"braindecode/{name}", "for": "signals", "what": what, "from": "braindecode"}
        for name in zoo_models()
    ]
    return [*rows, *zoo, *_models()]


def _models() -> Iterator[dict[str, Any]]:
    """List the models of stimuli that families judge, beside the decoders of signals."""
    from neuroarena.benchmarks import FAMILIES
    from neuroarena.benchmarks.faces import families_with

    for family, models in families_with("models").items():
        seen = getattr(FAMILIES.get(family), "modality", family)
        for name, what in models.items():
            yield {"name": name, "for": seen, "what": what, "from": FAMILIES.origin(family)}


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


def _maps() -> list[dict[str, Any]]:
    """List the families whose maps have published time bins; ``neuroarena map`` takes any benchmark of windows."""
    from neuroarena.benchmarks.faces import families_with
    from neuroarena.benchmarks.names import FAMILIES

    rows = []
    for family, face in families_with("maps").items():
        published = face.published
        stated = {name: f"{value:g} s" for name, value in vars(published).items() if isinstance(value, float)}
        lengths = [
            stated.get(name, "as the windows are") for name in ("window_s", "stride_s", "first_s", "last_s")
        ]
        rows.append(
            {
                "name": family,
                "time bins": " every ".join(lengths[:2]),
                "from the event": " to ".join(lengths[2:]),
                "features": published.features or "by the rate",
                "--as-published": "no" if face.conventions is None else "yes",
                "--with": ", ".join(face.sections),
                "from": FAMILIES.origin(family),
            }
        )
    return rows


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


def _families() -> list[dict[str, Any]]:
    """List the families with the names of their options."""
    from neuroarena.benchmarks import FAMILIES
    from neuroarena.benchmarks.faces import find_face
    from neuroarena.benchmarks.options import list_options

    rows = []
    for name in FAMILIES.names():
        family = FAMILIES.get(name)
        offered = [option.name for option in list_options(find_face(family, "options"))]
        rows.append(
            {
                "family": name,
                "options": ", ".join(offered),
                "what": family.title,
                "from": FAMILIES.origin(name),
            }
        )
    return rows


def _options(name: str) -> list[dict[str, Any]]:
    """List the options of a family, of one of its tasks, of an engine or of an importer; a name may be two of these."""
    from neuroarena.benchmarks import FAMILIES
    from neuroarena.benchmarks.faces import named_faces
    from neuroarena.benchmarks.options import list_options
    from neuroarena.board.importing import find_importer
    from neuroarena.evaluation.engines import ENGINE_OPTIONS

    if name in ENGINE_OPTIONS:
        return [_describe_option(option) for option in list_options(ENGINE_OPTIONS[name])]
    imported = name in named_faces("importers")
    rows = [] if imported and name not in FAMILIES.names() else _family_options(name)
    if imported:
        for option, help_text in find_importer(name).options.items():
            rows.append(_option_row(option, "text", "-", f"{_IMPORTING} {name}", help_text))
    return rows


def _family_options(name: str) -> list[dict[str, Any]]:
    from neuroarena.benchmarks import FAMILIES, resolve
    from neuroarena.benchmarks.faces import find_face, named_faces
    from neuroarena.benchmarks.options import list_options
    from neuroarena.errors import UnknownName
    from neuroarena.registry import unknown_name

    task = None
    if name in FAMILIES.names():
        family = FAMILIES.get(name)
    else:
        try:
            family, _, tasks = resolve(name)
        except UnknownName:
            if "/" in name:
                raise
            known = [*FAMILIES.names(), *named_faces("importers")]
            raise unknown_name("family", name, dict.fromkeys(known), "options") from None
        task = tasks[0] if len(tasks) == 1 else None
    return [_describe_option(option) for option in list_options(find_face(family, "options"), task)]


def _describe_option(option: OptionInfo) -> dict[str, Any]:
    tasks = ", ".join(option.tasks) or "all"
    return _option_row(option.name, option.value, _describe_default(option.default), tasks, option.help)


def _option_row(option: str, value: str, default: str, tasks: str, what: str) -> dict[str, Any]:
    return {"option": option, "value": value, "default": default, "tasks": tasks, "what": what}


def _describe_default(value: Any) -> str:
    """Return a default as it would be typed on the command line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ",".join(format(part, "g") if isinstance(part, float) else str(part) for part in value)
    return "-" if value is None else str(value)
