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
    """Simulate recordings, run a few decoders on a few tasks, print a board, write a report and build a site."""
    from neuroarena.board import print_board
    from neuroarena.demo import find_demo, run_demo
    from neuroarena.evaluation import TerminalProgress, available_cores

    started = time.monotonic()
    plan = find_demo()
    print(f"Simulating recordings, then running {plan.size} ...", file=sys.stderr)
    with TerminalProgress() as progress:
        made = run_demo(plan, out, data, workers or available_cores(), cache, progress)
    if as_json:
        print(made.board.to_json())
        return
    print_board(made.board)
    ideal = ", ".join(f"{task} {value:.2f}" for task, value in made.ideal.items())
    best = f" The best any decoder could reach: {ideal}." if ideal else ""
    print(f"Everything above is simulated.{best}")
    print(f"Site: {made.site / 'index.html'}   Report: {made.report}")
    print(f"Runs: {out / 'runs'}   ({time.monotonic() - started:.0f} s)")
