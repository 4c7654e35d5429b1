"""A format of our own: one text file per singer, with a score per person."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from neuroarena.board import Entry
from neuroarena.board.importing import Imported, Importer
from neuroarena.cli.output import print_json
from neuroarena.evaluation import find_results, load_result

HEAD = "hum score sheet"


def read_sheets(
    paths: Sequence[Path], *, split: str | None = None, allow_mixed: bool = False, tempo: int = 1
) -> Imported:
    """Read score sheets; `tempo` is only there to show that an importer may have options."""
    from neuroarena_hum.family import FAMILY

    entries = []
    for path in paths:
        _, *lines = path.read_text().splitlines()
        scores = [line.split() for line in lines]
        units = pd.DataFrame(
            {"unit": [unit for unit, _ in scores], "score": [float(one) for _, one in scores]}
        )
        units = units.assign(cluster=units["unit"], fold="all", n=1)
        entries.append(
            Entry(
                team=path.stem,
                benchmark="hum@1/loud",
                split=split or "other-people",
                manifest=FAMILY.manifest("loud", "1"),
                unit_scores=units,
                time=datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
                simulated=True,
            )
        )
    return Imported(entries, notes=(f"{len(paths)} score sheets at tempo {tempo}",))


def is_sheet(path: Path) -> bool:
    """Return whether a file is a score sheet."""
    return path.is_file() and path.read_bytes().startswith(HEAD.encode())


def export_sheet(
    results: Annotated[list[Path], typer.Argument(help="Folders of results.")],
    out: Annotated[Path, typer.Option("--out", help="File to write.")],
) -> None:
    """Write the unit scores of the one run on hum/loud as a score sheet."""
    runs = [load_result(folder) for folder in find_results(results)]
    (run,) = [run for run in runs if run.manifest.name == "hum/loud"]
    assert run.unit_scores is not None
    rows: Any = run.unit_scores.table[["unit", "score"]].itertuples(index=False)
    out.write_text("\n".join([HEAD, *(f"{unit} {score:.6f}" for unit, score in rows)]) + "\n")
    print_json({"wrote": str(out)})


IMPORTERS = {
    "hum-sheet": Importer("hum score sheets", is_sheet, read_sheets, {"tempo": "beats per breath"}),
}
EXPORTERS = {"hum-sheet": export_sheet}
