"""``neuroarena data describe``: what a folder of recordings holds, and what to write next."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neuroarena.cli.options import Json
from neuroarena.cli.output import print_json, print_table

if TYPE_CHECKING:
    from neuroarena.benchmarks.own.describing import Description

# Of a large folder the first recordings say enough.
_MOST_ROWS = 40
_MIXED = "recordings and epochs are two benchmarks: describe them one by one, or in folders of their own"


def describe(
    path: Annotated[
        str, typer.Argument(metavar="FOLDER|FILE", help="Recordings: a BIDS folder, any folder, a file.")
    ],
    stim_channel: Annotated[
        str | None,
        typer.Option("--stim-channel", metavar="NAME", help="Take events from this channel of markers."),
    ] = None,
    toml: Annotated[
        bool, typer.Option("--toml", help="Print only the suggested file, to be kept: ... --toml > my.toml")
    ] = False,
    as_json: Json = False,
) -> None:
    """List recordings, channels, events and their counts, and suggest a benchmark of them."""
    from neuroarena.benchmarks.own.describing import describe as look
    from neuroarena.errors import InputError

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default", UserWarning)
        found = look(path, stim_channel)
    if as_json:
        print_json(found.to_dict())
    elif toml:
        if found.suggestion is None:
            raise InputError(
                f"{path}: {_MIXED}."
                if found.mixed
                else f"{path}: no column of its events has two values or more; there is nothing to decode."
            )
        print(found.suggestion, end="")
    else:
        _print(found)
    # What a reader left out is said as a sentence, without the line of code that found it.
    for note in dict.fromkeys(str(each.message) for each in said if each.category is UserWarning):
        typer.echo(f"note: {note}", err=True)
    for problem in found.problems:
        typer.echo(f"cannot be read: {problem}", err=True)


def _say_epochs(row: dict[str, Any]) -> str:
    begin, end = row["window_s"]
    return f"{row['n_events']} epochs of {begin:g} to {end:g} s"


def _print(found: Description) -> None:
    good = [row for row in found.recordings if "problem" not in row]
    entities = list(dict.fromkeys(name for row in good for name in row["entities"]))[:5]
    rows = [
        [
            row["key"],
            *(row["entities"].get(name, "-") for name in entities),
            f"{row['rate_hz']:g}",
            f"{row['seconds']:g}",
            ", ".join(f"{count} {kind}" for kind, count in row["channels"].items()),
            ", ".join(row["bad"]) or "-",
            str(row["n_events"]) if row["window_s"] is None else _say_epochs(row),
        ]
        for row in good[:_MOST_ROWS]
    ]
    kind = "BIDS" if found.bids else "files"
    count = "1 recording" if len(found.recordings) == 1 else f"{len(found.recordings)} recordings"
    title = f"{found.path}: {count} ({kind})"
    print_table(["recording", *entities, "Hz", "seconds", "channels", "bad", "events"], rows, title)
    if len(good) > _MOST_ROWS:
        print(f"and {len(good) - _MOST_ROWS} more; --json lists them all\n")
    for column, counts in found.events.items():
        listed = ", ".join(f"{value} ({count})" for value, count in counts.items())
        many = counts.get("number of values")
        print(f"events by {column}: {listed if many is None else f'{many} different values'}")
    stretches = [(name, own) for row in good for name, own in row["bad_stretches"].items()]
    if stretches:
        names = dict.fromkeys(name for name, _ in stretches)
        listed = ", ".join(
            f"{each} ({sum(own['count'] for name, own in stretches if name == each)})" for each in names
        )
        seconds = sum(own["seconds"] for _, own in stretches)
        print(f"annotated as bad: {listed}, {seconds:g} s in all; windows that overlap them are left out")
    if not found.events:
        markers = list(dict.fromkeys(name for row in good for name in row["stim"]))
        which = f"; there is {', '.join(markers[:4])}" if markers else ""
        print(
            "no events: pass a table of them (key events), or name a channel of markers with --stim-channel"
            f"{which}"
        )
    if found.mixed:
        print(_MIXED)
    if found.suggestion is not None:
        print(
            "\nA benchmark to begin with; keep it with --toml > my.toml, then: neuroarena run my.toml -d csp-lda\n"
        )
        print(found.suggestion, end="")
