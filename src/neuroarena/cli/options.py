"""Options that several verbs share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Data = Annotated[
    str | None,
    typer.Option(
        "--data",
        metavar="DIR",
        help="Folder of the dataset; by default where its environment variables point.",
    ),
]
Split = Annotated[str | None, typer.Option("--split", help="Split; by default the benchmark's first.")]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", min=1, help="Processes to use; by default one a core. The numbers stay the same."
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of everything random.")]
Cache = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        metavar="DIR",
        help="Folder of the cache; by default NEUROARENA_CACHE or the user's cache folder.",
    ),
]


class SubsetName(StrEnum):
    """Subsets of Neuroprobe."""

    lite = "lite"
    nano = "nano"
    full = "full"


Subset = Annotated[
    SubsetName | None,
    typer.Option("--subset", help="Which sessions, electrodes and how many items (Neuroprobe)."),
]
Multiclass = Annotated[
    bool, typer.Option("--multiclass", help="The multiclass form of the task (Neuroprobe).")
]
Sessions = Annotated[
    str | None, typer.Option("--sessions", metavar="1_1,1_2", help="Only these sessions (Neuroprobe).")
]


def family_options(subset: SubsetName | None, multiclass: bool, sessions: str | None) -> dict[str, Any]:
    """Collect the options that were given, as a benchmark family takes them."""
    options: dict[str, Any] = {}
    if subset is not None:
        options["subset"] = subset.value
    if multiclass:
        options["multiclass"] = True
    if sessions is not None:
        options["sessions"] = [session.strip() for session in sessions.split(",") if session.strip()]
    return options
