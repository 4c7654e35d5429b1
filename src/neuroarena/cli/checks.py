"""``neuroarena check``: look before you run."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from neuroarena.cli.options import Json
from neuroarena.cli.output import print_json

app = typer.Typer(help="Check a decoder before it is run.", no_args_is_help=True)


@app.callback()
def _root() -> None:
    """Check a decoder before it is run."""


@app.command("decoder")
def decoder(
    name: Annotated[str, typer.Argument(help="Name of a decoder, or module:attribute.")],
    benchmark: Annotated[str, typer.Option("--benchmark", "-b", help="Benchmark whose windows to imagine.")],
    as_json: Json = False,
) -> None:
    """Check a decoder's contract on synthetic windows of a benchmark's shape; no data are needed."""
    from neuroarena.benchmarks import resolve
    from neuroarena.decoders import check_decoder, load_decoder

    sys.path.insert(0, "")
    family, definition, tasks = resolve(benchmark)
    window = family.window(tasks[0], definition)
    classes = family.manifest(tasks[0], definition).classes
    checks = check_decoder(load_decoder(name), window.channels, window.rate_hz, window.n_samples, classes)
    if as_json:
        print_json(
            [{"check": check.name, "passed": check.passed, "detail": check.detail} for check in checks]
        )
    else:
        for check in checks:
            print(
                f"{'ok  ' if check.passed else 'FAIL'}  {check.name}{': ' if check.detail else ''}{check.detail}"
            )
    if not all(check.passed for check in checks):
        raise typer.Exit(1)
