"""``neuroarena arena``: start the zones of a competition."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Start the zones of a competition (extra: competition).", no_args_is_help=True)


@app.callback()
def _root() -> None:
    """Start the zones of a competition."""


@app.command("start")
def start(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the competition.")],
    labels: Annotated[
        str, typer.Option("--labels", help="What the runner takes, with commas: cpu, gpu.")
    ] = "cpu",
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="End when no zone has anything to do.")
    ] = False,
) -> None:
    """Start intake, runner and scorer: as root each under a user of its own, the vault open to the scorer alone."""
    import signal
    import sys
    import threading

    from neuroarena.cli.submitting import prepare_sandbox
    from neuroarena.competition import open_arena
    from neuroarena.competition.zones import start_arena

    arena = open_arena(folder)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    if any("code" in track.kinds for track in arena.competition.tracks):
        prepare_sandbox(arena)
    code = start_arena(
        arena,
        stop=stop,
        until_idle=until_idle,
        labels=[label.strip() for label in labels.split(",")],
        report=lambda sentence: print(sentence, file=sys.stderr),
    )
    if code:
        raise typer.Exit(code)
