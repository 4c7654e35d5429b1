"""``submit``, ``status`` and ``board`` with ``--url``: the same verbs on a server."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neuroarena.cli.output import format_value, print_json, print_table

if TYPE_CHECKING:
    from neuroarena.server.client import RemoteArena

Url = Annotated[
    str | None,
    typer.Option("--url", metavar="URL", help="Address of a competition on a server, instead of a folder."),
]


def open_remote(url: str, token: str | None = None) -> RemoteArena:
    """Return a competition by its address."""
    from neuroarena.server.client import RemoteArena

    return RemoteArena(url, token)


def send(remote: RemoteArena, file: Path, fields: dict[str, str], dry_run: bool) -> dict[str, Any]:
    """Send a file with progress on a terminal, and return the receipt, or the checker's verdict."""
    sent = remote.submit(file, fields, check=dry_run, report=show_progress if sys.stderr.isatty() else None)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return sent if dry_run else remote.read_receipt(sent["submission"])


def show_progress(sent: int, total: int) -> None:
    """Print how much was sent, on one line."""
    print(f"\rsent {sent / 2**20:.1f} of {total / 2**20:.1f} MB", end="", file=sys.stderr, flush=True)


def show_board(url: str, names: list[str], as_json: bool) -> None:
    """Print the boards of a server, or those that are named."""
    remote = open_remote(url)
    if not names:
        said = remote.list_boards()
        if as_json:
            print_json(said)
            return
        rows = [
            [
                str(row["page"]).removeprefix("boards/").removesuffix(".html"),
                row["title"],
                row["leader"],
                row["lead"],
            ]
            for row in said.get("boards", [])
        ]
        print_table(["board", "title", "leader", "lead"], rows, title=str(said["title"]), unbroken=("board",))
        return
    for name in names:
        board = remote.read_board(name)
        if as_json:
            print_json(board)
            continue
        table: list[dict[str, Any]] = board.get("table") or board.get("shown") or []
        wanted = ("rank", "team", "score", "shown", "ci95_low", "ci95_high", "verdict_leader", "letters")
        columns = [column for column in wanted if table and column in table[0]]
        cells = [[format_value(row[column]) for column in columns] for row in table]
        print_table(columns, cells, title=str(board["title"]))
