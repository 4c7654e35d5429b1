"""``neuroarena serve``: a competition on the web."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Annotated, Any

import typer


def serve(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DIR]",
            help="Folder of the competition; with --demo a new one, by default a temporary one.",
        ),
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Make a competition of simulated tracks and teams, and serve it.")
    ] = False,
    host: Annotated[str | None, typer.Option("--host", help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option("--port", help="Port to listen on; 0 for a free one.")] = None,
) -> None:
    """Serve the boards of a competition, its accounts and its intake, until stopped; the zones are started apart."""
    from neuroarena.errors import InputError

    said = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    if demo:
        _serve_demo(folder, said)
        return
    if folder is None:
        raise InputError("Name the folder of a competition, or serve a simulated one with --demo.")
    from neuroarena.competition import open_arena
    from neuroarena.server.serving import run_server
    from neuroarena.server.settings import read_server_settings

    run_server(open_arena(folder), read_server_settings(folder).model_copy(update=said))


def _serve_demo(folder: Path | None, said: dict[str, Any]) -> None:
    from neuroarena.demo.serving import demonstrating, describe_demonstration
    from neuroarena.server.serving import run_server
    from neuroarena.server.settings import read_server_settings

    print("Simulating a competition ...", file=sys.stderr)
    # The judge and the temporary folder are ours to end, whichever signal ends the server.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with demonstrating(folder) as made:
        print("\n".join(describe_demonstration(made)))
        run_server(made.arena, read_server_settings(made.arena.folder).model_copy(update=said))
