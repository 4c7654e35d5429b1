"""``neuroarena serve``: a competition on the web."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def serve(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the competition.")],
    host: Annotated[str | None, typer.Option("--host", help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option("--port", help="Port to listen on; 0 for a free one.")] = None,
) -> None:
    """Serve the boards of a competition, its accounts and its intake, until stopped; the zones are started apart."""
    from neuroarena.competition import open_arena
    from neuroarena.server.serving import run_server
    from neuroarena.server.settings import read_server_settings

    arena = open_arena(folder)
    said = {"host": host, "port": port}
    settings = read_server_settings(folder).model_copy(
        update={name: value for name, value in said.items() if value is not None}
    )
    run_server(arena, settings)
