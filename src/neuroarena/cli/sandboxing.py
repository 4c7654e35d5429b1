"""``neuroarena admin selftest`` and ``admin runtime``: what stands before a stranger's code is accepted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neuroarena.cli.admin import Folder
from neuroarena.cli.options import Json
from neuroarena.cli.output import print_json, print_table

if TYPE_CHECKING:
    from neuroarena.sandbox.runtime import Runtime


runtimes = typer.Typer(
    help="What submitted code runs in: show, build from a lock file, name, prune.", no_args_is_help=True
)


def add_to(app: typer.Typer) -> None:
    """Add the verbs of this file to ``neuroarena admin``."""
    app.command("selftest")(selftest)
    app.add_typer(runtimes, name="runtime")


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


@runtimes.callback()
def _root() -> None:
    """What submitted code runs in: show, build from a lock file, name, prune."""


@runtimes.command("show")
def show(
    compare: Annotated[
        Path | None,
        typer.Option(
            "--compare", metavar="FILE", help="Compare with this file; it is written where there is none."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print digest and libraries of this interpreter's runtime, which is built unless it is there."""
    from neuroarena.evaluation import TerminalProgress
    from neuroarena.sandbox.runtime import check_listing, find_runtime

    with TerminalProgress() as progress:
        found = find_runtime(progress)
    if compare is not None:
        check_listing(found, compare)
    _print_runtime(found, as_json)


@runtimes.command("build")
def build(
    lock: Annotated[
        Path,
        typer.Argument(metavar="LOCK", help="Libraries as NAME==VERSION --hash=sha256:..., one per line."),
    ],
    wheels: Annotated[
        Path | None,
        typer.Option(
            "--wheels", metavar="DIR", help="Install from the wheels in this folder, without network."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Build the runtime of a lock file with pip's --require-hashes, unless it is there, and print its digest."""
    from neuroarena.evaluation import TerminalProgress
    from neuroarena.sandbox.runtime_lock import build_locked

    with TerminalProgress() as progress:
        found = build_locked(lock, wheels=wheels, progress=progress)
    _print_runtime(found, as_json)


@runtimes.command("use")
def use(
    folder: Folder,
    digest: Annotated[str, typer.Argument(help="Digest of a runtime that was built on this machine.")],
) -> None:
    """Let all code of a competition run in one runtime; a worker that does not have it takes no code."""
    from neuroarena.competition import open_arena
    from neuroarena.competition.runtimes import choose_runtime

    found = choose_runtime(open_arena(folder), digest)
    print(f"Code of {folder} runs in {found.digest} from now on: {len(found.packages)} libraries.")


@runtimes.command("prune")
def prune(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[DIR]...", help="Competitions whose runtimes are kept: all that they ever used."
        ),
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option("--keep", metavar="DIGEST", help="Keep this one too; repeatable.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be removed, and remove nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Remove runtimes that are neither named by these competitions, nor in use, nor this interpreter's own."""
    from neuroarena.competition import open_arena
    from neuroarena.competition.runtimes import list_named_runtimes
    from neuroarena.progress import readable_size
    from neuroarena.sandbox.runtime_pruning import prune_runtimes

    named = {*(keep or ())}
    for folder in folders or ():
        named |= list_named_runtimes(open_arena(folder))
    found = prune_runtimes(named, dry_run=dry_run)
    done = "would be removed" if dry_run else "removed"
    if as_json:
        rows = [{"runtime": each.folder.name, "digest": each.digest, "bytes": each.n_bytes} for each in found]
        print_json([{**row, "verdict": each.kept or done} for row, each in zip(rows, found, strict=True)])
        return
    print_table(
        ["runtime", "digest", "size", "verdict"],
        [
            (each.folder.name, each.digest[:12], readable_size(each.n_bytes), each.kept or done)
            for each in found
        ],
    )
    freed = sum(each.n_bytes for each in found if each.kept is None)
    print(f"{readable_size(freed)} {'would be freed' if dry_run else 'freed'}.")


def _print_runtime(found: Runtime, as_json: bool) -> None:
    if as_json:
        said = {"digest": found.digest, "folder": str(found.folder), "packages": list(found.packages)}
        print_json({**said, "lock_sha256": found.lock_sha256})
        return
    print(f"{found.digest}  {found.folder}")
    for package in found.packages:
        print(f"  {package}")
