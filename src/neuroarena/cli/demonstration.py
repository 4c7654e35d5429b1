"""``neuroarena demo``."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from neuroarena.cli import options


def demo(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the results.")] = Path(
        "demo-results"
    ),
    data: Annotated[
        Path, typer.Option("--data", metavar="DIR", help="Folder of the simulated dataset.")
    ] = Path("demo-data"),
    workers: options.Workers = None,
    cache: options.Cache = None,
    as_json: options.Json = False,
) -> None:
    """Simulate recordings, run three decoders on three tasks, print a board and write a report."""
    from neuroarena.board import print_board
    from neuroarena.demo import run_demo
    from neuroarena.evaluation import TerminalProgress, available_cores

    started = time.monotonic()
    print("Simulating recordings, then running 3 decoders x 3 tasks x 2 splits ...", file=sys.stderr)
    with TerminalProgress() as progress:
        made = run_demo(out, data, workers or available_cores(), cache, progress)
    if as_json:
        print(made.board.to_json())
        return
    print_board(made.board)
    ideal = ", ".join(
        f"{task} {made.card['ideal_auroc'][task]:.2f}" for task in ("onset", "speech", "volume")
    )
    print(f"Everything above is simulated. The best any decoder could reach: {ideal}.")
    print(f"Report: {made.report}   Runs: {out / 'runs'}   ({time.monotonic() - started:.0f} s)")
