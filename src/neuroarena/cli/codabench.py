"""``neuroarena export codabench``: tracks of a competition as bundles for another platform."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neuroarena.cli.options import Json
from neuroarena.cli.output import print_json


def export_codabench(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="An empty or a new folder.")],
    arena: Annotated[
        Path, typer.Option("--from", metavar="ARENA", help="Folder of a competition whose tracks are sealed.")
    ],
    track: Annotated[
        list[str] | None, typer.Option("--track", help="Only this track; may be repeated.")
    ] = None,
    phase: Annotated[
        list[str] | None, typer.Option("--phase", help="Only this phase; may be repeated.")
    ] = None,
    image: Annotated[
        str | None,
        typer.Option("--image", help="Container to score in; by default one built from DIR/Dockerfile."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write each track of a competition as a Codabench bundle, whose scoring program calls the same score().

    A bundle holds the truth: upload it, and show it to nobody else. Where a phase is sealed, its board is hidden,
    because the platform has no display that keeps labels from being asked for.
    """
    from dataclasses import asdict

    from neuroarena.competition import open_arena
    from neuroarena.competition.codabench.bundle import write_bundles

    opened = open_arena(arena)
    written = write_bundles(opened, folder, tracks=track or (), phases=phase or (), image=image)
    for name in {each.name for each in opened.competition.tracks} - {bundle.track for bundle in written}:
        if not track:
            typer.echo(f"note: {name}: takes code only, which a bundle cannot judge; left out", err=True)
    if as_json:
        print_json([{**asdict(bundle), "file": str(bundle.file)} for bundle in written])
        return
    for bundle in written:
        hidden = "; its board is hidden, because a phase is sealed" if bundle.hidden else ""
        print(f"{bundle.file}: holds the truth, for upload only{hidden}")
    if image is None:
        print(f"Build the container first and publish it: docker build -t {written[0].image} {folder}")
