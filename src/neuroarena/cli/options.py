"""Options that several verbs share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from neuroarena.errors import InputError

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
Splits = Annotated[
    list[str] | None,
    typer.Option("--split", "-s", help="Split; may be repeated. By default the benchmark's first."),
]
Submission = Annotated[
    Path | None,
    typer.Option(
        "--submission", metavar="FILE.parquet", help="Also write the predictions as a file to hand in."
    ),
]
Contact = Annotated[
    str | None, typer.Option("--contact", help="Whom to write to; goes into the submission file.")
]
ExternalData = Annotated[
    list[str] | None,
    typer.Option("--external-data", help="Declare data from elsewhere; goes into the submission file."),
]
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


Grid = Annotated[
    list[str] | None,
    typer.Option(
        "--grid",
        metavar="NAME=V,V",
        help="Try these values of a parameter; may be repeated. Features' own: features.nperseg=256,512.",
    ),
]


Notch = Annotated[
    str | None,
    typer.Option("--notch", metavar="HZ,HZ", help="Remove line noise at these frequencies first."),
]
Downsample = Annotated[
    float | None,
    typer.Option("--downsample", metavar="HZ", help="Bring signals to this sampling rate first."),
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


Judged = Annotated[
    str | None,
    typer.Option(
        "--judged", metavar="1_1,1_2", help="Judge only these; train on the others too (Neuroprobe)."
    ),
]
Folds = Annotated[
    int | None, typer.Option("--folds", min=2, help="Folds within a session, by default 2 (Neuroprobe).")
]
MaxSamples = Annotated[
    int | None,
    typer.Option("--max-samples", min=2, help="Keep the earliest items of each session (Neuroprobe)."),
]
TrainOn = Annotated[
    str | None,
    typer.Option("--train-on", help="longest or all: training sessions of the full subset (Neuroprobe)."),
]
Level = Annotated[
    str | None,
    typer.Option("--level", help="population, or electrode for one electrode at a time (Neuroprobe)."),
]
Electrode = Annotated[
    str | None,
    typer.Option(
        "--electrode", metavar="LABEL,...", help="Only these electrodes, one at a time (Neuroprobe)."
    ),
]
Offset = Annotated[
    str | None,
    typer.Option(
        "--offset", metavar="BEGIN,END", help="Window in seconds from the onset, by default 0,1 (Neuroprobe)."
    ),
]


Option = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-O",
        metavar="NAME=VALUE",
        help="Any option of the benchmark's family; may be repeated. A wrong name lists those there are.",
    ),
]


def family_options(
    subset: SubsetName | None,
    multiclass: bool,
    sessions: str | None,
    judged: str | None = None,
    folds: int | None = None,
    max_samples: int | None = None,
    train_on: str | None = None,
    level: str | None = None,
    electrode: str | None = None,
    offset: str | None = None,
    option: list[str] | None = None,
) -> dict[str, Any]:
    """Collect the options that were given, as a benchmark family takes them."""
    given: dict[str, Any] = {
        "subset": None if subset is None else subset.value,
        "multiclass": multiclass or None,
        "sessions": _listed(sessions),
        "judged": _listed(judged),
        "folds": folds,
        "max_samples": max_samples,
        "train_on": train_on,
        "level": level,
        "electrode": _listed(electrode),
        "offset_s": _listed(offset),
    }
    return {name: value for name, value in given.items() if value is not None} | named_values(option or [])


def named_values(texts: list[str]) -> dict[str, str]:
    """Read ``name=value`` texts; the model of the family's options makes values of them.

    Raises
    ------
    InputError
        When a text has another form, or a name occurs twice.

    Examples
    --------
    >>> named_values(["folds=5", "sessions=1_1,1_2", "max-samples = 60"])
    {'folds': '5', 'sessions': '1_1,1_2', 'max_samples': '60'}
    """
    values: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise InputError(f'"{text}" is not an option. Expected -O NAME=VALUE.')
        if name in values:
            raise InputError(f"The option {name} was given twice; several values are separated by commas.")
        values[name] = value.strip()
    return values


def _listed(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]
