"""``neuroarena cache``: check, measure and prune what runs keep for the next time."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from neuroarena.cli.options import Cache, Json
from neuroarena.cli.output import print_json, print_table

_HELP = "Check, measure and prune the cache; it can be deleted at any time, results live elsewhere."
_UNITS = {"": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}

app = typer.Typer(help=_HELP, no_args_is_help=True)


@app.callback()
def _root() -> None:
    """Check, measure and prune the cache; it can be deleted at any time, results live elsewhere."""


@app.command("verify")
def verify(cache: Cache = None, as_json: Json = False) -> None:
    """Check every entry; damaged ones are named and set aside, and the next run computes them again."""
    from neuroarena.evaluation.cache_care import verify_cache
    from neuroarena.sealed import reporting_to

    folder = _folder(cache)
    with reporting_to(lambda text: print(text, file=sys.stderr)):
        checked, damaged = verify_cache(folder)
    if as_json:
        print_json({"cache": str(folder), "checked": checked, "damaged": damaged})
    elif damaged:
        print(f"{folder}: {len(damaged)} of {checked} entries were damaged and have been set aside.")
    elif checked:
        print(f"{folder}: all {checked} entries are good.")
    else:
        print(f"{folder}: there is no entry of a cache here, so nothing was checked.")
    if damaged:
        raise typer.Exit(2)


@app.command("size")
def size(cache: Cache = None, as_json: Json = False) -> None:
    """Print how many files of each kind the cache holds, and how much room they take."""
    from neuroarena.evaluation.cache_care import list_entries, sum_by_kind
    from neuroarena.progress import readable_size

    folder = _folder(cache)
    kinds = sum_by_kind(list_entries(folder))
    if as_json:
        print_json({"cache": str(folder), "kinds": _as_plain(kinds)})
        return
    rows = [[kind, files, readable_size(count)] for kind, (files, count) in kinds.items()]
    total = sum(count for _, count in kinds.values())
    files = sum(number for number, _ in kinds.values())
    print_table(["kind", "files", "size"], [*rows, ["total", files, readable_size(total)]], title=str(folder))


@app.command("prune")
def prune(
    unused_days: Annotated[
        float | None,
        typer.Option(
            "--unused-days", min=0, metavar="N", help="Also remove entries not used for so many days."
        ),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(
            "--keep",
            metavar="SIZE",
            help="Also remove the least recently used entries beyond this size, as 20GB.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Remove leftovers, damaged entries and those of older versions; with a limit, also what was not used for long."""
    from neuroarena.evaluation.cache_care import prune_cache
    from neuroarena.progress import readable_size

    folder = _folder(cache)
    done = prune_cache(folder, unused_days, None if keep is None else read_size(keep), dry_run)
    files, count = done.kept
    if as_json:
        kept = {"files": files, "bytes": count}
        said = {"cache": str(folder), "dry_run": dry_run, "removed": _as_plain(done.removed), "kept": kept}
        print_json(said)
        return
    verb = "would be removed" if dry_run else "removed"
    for kind, (number, freed) in done.removed.items():
        print(f"{kind}: {number} files, {readable_size(freed)} {verb}")
    print(f"{folder}: {files} files, {readable_size(count)} {'would stay' if dry_run else 'stay'}")


def read_size(text: str) -> int:
    """Read a number of bytes with a decimal unit.

    Raises
    ------
    InputError
        When it has another form.

    Examples
    --------
    >>> read_size("20GB"), read_size("1.5 MB"), read_size("0")
    (20000000000, 1500000, 0)
    """
    from neuroarena.errors import InputError

    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)", text.strip())
    units = {name.lower(): factor for name, factor in _UNITS.items()}
    unit = None if found is None else units.get(found[2].lower().rstrip("b") + "b" if found[2] else "")
    if found is None or unit is None:
        raise InputError(f'"{text}" is not a size. Expected a number and kB, MB, GB or TB, as in 20GB.')
    return int(float(found[1]) * unit)


def _folder(cache: Path | None) -> Path:
    from neuroarena.evaluation import default_cache

    return cache if cache is not None else default_cache()


def _as_plain(kinds: dict[str, tuple[int, int]]) -> dict[str, dict[str, int]]:
    return {kind: {"files": files, "bytes": count} for kind, (files, count) in kinds.items()}
