"""``neuroarena new``: start something of your own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neuroarena.cli.options import Json
from neuroarena.cli.output import print_json

app = typer.Typer(help="Write a commented skeleton of something new.", no_args_is_help=True)

Folder = Annotated[Path, typer.Option("--folder", metavar="DIR", help="Where to write it.")]


@app.callback()
def _root() -> None:
    """Write a commented skeleton of something new."""


def _from(folder: Path) -> str:
    """Return how a command begins that is run in a folder: with nothing where it is the current one."""
    return "" if folder == Path() else f"cd {folder} && "


def _report(paths: list[Path], as_json: bool, *lines: str) -> None:
    """Print what was written and what to do next."""
    if as_json:
        print_json([str(path) for path in paths])
        return
    print("\n".join([*(f"wrote {path}" for path in paths), *lines]))


@app.command("decoder")
def decoder(
    name: Annotated[str, typer.Argument(help="Name, for example my-decoder.")],
    folder: Folder = Path(),
    benchmark: Annotated[
        str | None,
        typer.Option("--benchmark", "-b", help="What it is for; by default the first task of the demo."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a decoder that works, with comments and a test."""
    from neuroarena.benchmarks import judges_models, resolve
    from neuroarena.decoders.scaffold import new_decoder
    from neuroarena.demo import find_demo
    from neuroarena.errors import InputError

    if benchmark is None:
        plan = find_demo()
        benchmark = f"{plan.family}/{plan.tasks[0]}"
    family, definition, tasks = resolve(benchmark)
    benchmark = f"{family.name}/{tasks[0]}" if len(tasks) > 1 else benchmark
    if judges_models(family) or not family.manifest(tasks[0], definition).classes:
        raise InputError(
            f"The skeleton predicts classes, and {benchmark} asks for something else. Begin with a start kit of its "
            "family, or with a benchmark of classes."
        )
    paths = new_decoder(name, folder, benchmark)
    _report(
        paths,
        as_json,
        f"Try it: {_from(folder)}python -m pytest {paths[1].name}",
        f"Then change {paths[0].name} to your idea; its comments say where.",
    )


@app.command("dataset")
def dataset(
    name: Annotated[str, typer.Argument(help="Name, for example my-data.")],
    folder: Folder = Path(),
    as_json: Json = False,
) -> None:
    """Write a dataset that works: reader, simulated twin, verifier and a test."""
    from neuroarena.datasets.scaffold import new_dataset

    paths = new_dataset(name, folder)
    _report(
        paths,
        as_json,
        f"Try it: {_from(folder)}neuroarena check dataset {paths[0].stem}:DATASET",
        f"Then change {paths[0].name} to the layout of your files; its comments say where.",
    )


@app.command("family")
def family(
    name: Annotated[str, typer.Argument(help="Name, for example my-family.")],
    folder: Folder = Path(),
    as_json: Json = False,
) -> None:
    """Write a package with a family of benchmarks, its dataset, tests and entry points."""
    from neuroarena.benchmarks.scaffold import new_family

    paths = new_family(name, folder)
    _report(
        paths,
        as_json,
        f"Try it: {_from(paths[1].parent)}neuroarena check family {paths[1].stem}:FAMILY && python -m pytest",
        "Then pip install -e . makes it known by its name.",
    )


@app.command("benchmark")
def benchmark(
    name: Annotated[str, typer.Argument(help="Name of the experiment, for example MyExperiment.")],
    kind: Annotated[
        str, typer.Option("--kind", help="eeg: over a folder of EEG; or a kind that a family offers.")
    ] = "eeg",
    folder: Folder = Path(),
    as_json: Json = False,
) -> None:
    """Write a benchmark that works, with comments and a test."""
    from neuroarena.benchmarks.faces import named_faces
    from neuroarena.benchmarks.scaffold import new_eeg_benchmark
    from neuroarena.registry import unknown_name

    kinds = {"eeg": new_eeg_benchmark, **named_faces("scaffold")}
    if kind not in kinds:
        raise unknown_name("kind of benchmark", kind, kinds, None)
    paths = kinds[kind](name, folder)
    (test,) = (path for path in paths if path.name.startswith("test"))
    lines = [f"Try it: {_from(folder)}python -m pytest {test.relative_to(folder)}"]
    if test.parent != folder:
        lines.append(f"Use it anywhere: export NEUROARENA_PLUGINS={folder.resolve()}")
    _report(paths, as_json, *lines)
