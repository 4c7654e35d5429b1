"""``neuroarena admin selftest`` and ``admin runtime``: what stands before a stranger's code is accepted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neuroarena.cli.options import Json
from neuroarena.cli.output import print_json, print_table


def add_to(app: typer.Typer) -> None:
    """Add the verbs of this file to ``neuroarena admin``."""
    app.command("selftest")(selftest)
    app.command("runtime")(runtime)


def selftest(
    hidden: Annotated[
        list[Path] | None,
        typer.Option("--hidden", metavar="PATH", help="Must be invisible too, such as a vault; repeatable."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Let a hostile guest try every wall of the sandbox on this machine; exit code 1 when one does not hold."""
    from neuroarena.evaluation import TerminalProgress
    from neuroarena.sandbox.runtime import find_runtime
    from neuroarena.sandbox.selftest import run_self_test

    with TerminalProgress() as progress:
        runtime = find_runtime(progress)
    test = run_self_test(hidden or ())
    if as_json:
        probes = {probe.name: {"holds": probe.holds, "seen": probe.seen} for probe in test.probes}
        print_json({"holds": not test.open, "runtime": runtime.digest, "probes": probes})
    else:
        rows = [
            (probe.name, "holds" if probe.holds else f"OPEN {probe.seen}".strip()) for probe in test.probes
        ]
        print_table(["wall", "verdict"], rows)
        print(
            f"{len(test.probes) - len(test.open)} of {len(test.probes)} walls hold. Runtime {runtime.digest}."
        )
    if test.open:
        raise typer.Exit(1)


def runtime(
    lock: Annotated[
        Path | None,
        typer.Option(
            "--lock", metavar="FILE", help="Compare with this file; it is written where there is none."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Build what submitted code runs in, unless it is there, and print its digest and libraries."""
    from neuroarena.evaluation import TerminalProgress
    from neuroarena.sandbox.runtime import check_lock, find_runtime

    with TerminalProgress() as progress:
        found = find_runtime(progress)
    if lock is not None:
        check_lock(found, lock)
    if as_json:
        print_json({"digest": found.digest, "folder": str(found.folder), "packages": list(found.packages)})
        return
    print(f"{found.digest}  {found.folder}")
    for package in found.packages:
        print(f"  {package}")
