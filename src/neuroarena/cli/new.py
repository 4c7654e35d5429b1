"""``neuroarena new``: a start for something of your own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neuroarena.cli.options import Json
from neuroarena.cli.output import print_json

app = typer.Typer(help="Write a commented skeleton of something new.", no_args_is_help=True)


@app.callback()
def _root() -> None:
    """Write a commented skeleton of something new."""


@app.command("decoder")
def decoder(
    name: Annotated[str, typer.Argument(help="Name, for example my-decoder.")],
    folder: Annotated[Path, typer.Option("--folder", metavar="DIR", help="Where to write it.")] = Path(),
    as_json: Json = False,
) -> None:
    """Write a decoder that works, with comments and a test."""
    from neuroarena.decoders.scaffold import new_decoder

    paths = new_decoder(name, folder)
    if as_json:
        print_json([str(path) for path in paths])
        return
    for path in paths:
        print(f"wrote {path}")
    module = paths[0].stem
    print(f"Try it: cd {folder} && python -m pytest {paths[1].name}")
    print(f"Then change {module}.py to your idea; its comments say where.")


@app.command("benchmark")
def benchmark(
    name: Annotated[str, typer.Argument(help="Name of the experiment, for example MyExperiment.")],
    folder: Annotated[Path, typer.Option("--folder", metavar="DIR", help="Where to write it.")] = Path(),
    as_json: Json = False,
) -> None:
    """Write a Brain-Score benchmark that works: a plugin folder with registration, benchmark and test."""
    from neuroarena.families.brainscore.scaffold import new_benchmark

    paths = new_benchmark(name, folder)
    if as_json:
        print_json([str(path) for path in paths])
        return
    for path in paths:
        print(f"wrote {path}")
    print(f"Try it: cd {folder} && python -m pytest {paths[2].relative_to(folder)}")
    print(f"Use it anywhere: export NEUROARENA_PLUGINS={folder.resolve()}")
