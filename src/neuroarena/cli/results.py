"""``neuroarena results``: list, rename and remove what was kept."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neuroarena.cli.options import Json
from neuroarena.cli.output import format_value, print_json

app = typer.Typer(
    help="List, rename and remove kept results; every change is logged beside them.", no_args_is_help=True
)


@app.callback()
def _root() -> None:
    """List, rename and remove kept results; every change is logged beside them."""


@app.command("list")
def list_results(
    paths: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Folders of results.")],
    as_json: Json = False,
) -> None:
    """List every result in some folders: runs, scored files, code and models."""
    from neuroarena.evaluation import find_results
    from neuroarena.evaluation.bookkeeping import describe_result

    rows = [describe_result(folder) for folder in find_results(paths)]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        if row["status"] == "damaged":
            print(f"damaged: {row['reason']}")
            print(f"    take it off the boards: neuroarena results remove {row['folder']}")
            continue
        mark = " (simulated)" if row["simulated"] else ""
        status = "" if row["status"] == "complete" else f", {row['status']}"
        print(
            f"{row['name']}  {format_value(row['score'])}{mark}  {row['benchmark']}, {row['split']}{status}"
        )
        print(f"    {row['kind']}, {row['finished']}: {row['folder']}")
    print(f"{len(rows)} results" if len(rows) != 1 else "1 result")


@app.command("rename")
def rename(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of one result.")],
    name: Annotated[str, typer.Argument(help="The name that boards will show.")],
    as_json: Json = False,
) -> None:
    """Change the name that boards show for a result; its folder and its key stay."""
    from neuroarena.evaluation.bookkeeping import rename_result

    before = rename_result(folder, name)
    if as_json:
        print_json({"folder": str(folder), "from": before, "to": name})
    else:
        print(f'{folder}: boards show "{name}" now; it was "{before}".')


@app.command("remove")
def remove(
    folders: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of single results.")],
    forever: Annotated[
        bool,
        typer.Option("--forever", help="Delete them, instead of moving them to .removed beside the runs."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Take results off the boards: they are moved to .removed beside the runs, or deleted with --forever."""
    from neuroarena.evaluation.bookkeeping import check_removable, remove_result

    for folder in folders:
        check_removable(folder)  # all are checked before the first is moved
    rows = []
    for folder in folders:
        now = remove_result(folder, forever)
        rows.append({"folder": str(folder), "now": None if now is None else str(now)})
    if as_json:
        print_json(rows)
        return
    for row in rows:
        print(f"{row['folder']}: {'deleted' if row['now'] is None else 'moved to ' + row['now']}.")
