"""``neuroarena startkit``: a project of your own, ready to run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neuroarena.cli.completion import complete_families
from neuroarena.cli.options import Json
from neuroarena.cli.output import print_json


def startkit(
    track: Annotated[
        str,
        typer.Argument(
            help="Name of a family that provides a kit, such as bci.", autocompletion=complete_families
        ),
    ],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="An empty or a new folder.")],
    as_json: Json = False,
) -> None:
    """Write a small commented project: simulate, train, predict, check and score, in fifteen minutes."""
    from neuroarena.cli.startkits import write_kit

    paths = write_kit(track, folder)
    if as_json:
        print_json([str(path) for path in paths])
        return
    for path in paths:
        print(f"wrote {path}")
    print(f"Begin with {folder / 'README.md'}: its commands run from top to bottom.")
