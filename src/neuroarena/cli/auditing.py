"""``neuroarena audit``: replay committed training, and say whether it gives the score that was claimed."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neuroarena.cli.options import Json
from neuroarena.cli.output import format_value, print_json, print_table

if TYPE_CHECKING:
    from neuroarena.competition.arena import Arena

app = typer.Typer(
    help="Replay committed training, and compare it with what was claimed.", no_args_is_help=True
)

Folder = Annotated[Path, typer.Option("--arena", metavar="DIR", help="Folder of the competition.")]
Data = Annotated[
    str | None,
    typer.Option("--data", help="Folder of the track's data; by default what the competition file says."),
]


class Rule(StrEnum):
    """The rules of an audit."""

    REPLAYS = "replays"
    TWO_SIGMA = "two-sigma"


Queue = Annotated[
    bool,
    typer.Option(
        "--queue", help="Only queue the replays, and leave them to workers (labels cpu and scorer)."
    ),
]
Chosen = Annotated[
    Rule | None,
    typer.Option("--rule", help="By default the competition's: several replays, or one and two sigma."),
]


@app.callback()
def _root() -> None:
    """Replay committed training, and compare it with what was claimed."""


@app.command("run")
def run(
    submission: Annotated[str, typer.Argument(help="Id of a scored submission.")],
    arena: Folder,
    data: Data = None,
    rule: Chosen = None,
    mended: Annotated[
        Path | None,
        typer.Option(
            "--mended", metavar="ZIP", help="A pipeline that was mended after the freeze; it is marked."
        ),
    ] = None,
    queue: Queue = False,
    as_json: Json = False,
) -> None:
    """Train a submission's committed pipeline anew in the sandbox, with new seeds, and judge its score."""
    from neuroarena.competition import open_arena

    opened = open_arena(arena)
    _audit(opened, [submission], data, rule, mended, queue)
    _print_audits(opened, as_json)


@app.command("top")
def top(
    arena: Folder,
    track: Annotated[str, typer.Option("--track", help="Name of a track.")],
    first: Annotated[
        int | None, typer.Option("--first", min=1, help="How many teams; by default the competition's.")
    ] = None,
    data: Data = None,
    rule: Chosen = None,
    queue: Queue = False,
    as_json: Json = False,
) -> None:
    """Audit the first teams of a track by the final rule, and judge all audited entries together."""
    from neuroarena.competition import open_arena
    from neuroarena.competition.audit.selection import find_top
    from neuroarena.competition.rules import AuditRule

    opened = open_arena(arena)
    rules = opened.competition.audit or AuditRule()
    _audit(opened, find_top(opened, track, first or rules.first), data, rule, None, queue)
    _print_audits(opened, as_json)


@app.command("list")
def list_(arena: Folder, as_json: Json = False) -> None:
    """List all audits with their verdicts; scores stay in the vault."""
    from neuroarena.competition import open_arena

    _print_audits(open_arena(arena), as_json)


@app.command("commitment")
def commitment(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A competition, or a copy of its folder public.")
    ],
    as_json: Json = False,
) -> None:
    """Compare the key, the orders and the truth that were revealed with the commitments of the start."""
    from neuroarena.competition.reveal import verify_commitments

    rows = verify_commitments(folder)
    broken = [row for row in rows if not row["holds"]]
    if as_json:
        print_json(rows)
    else:
        for row in rows:
            print(f"{'holds' if row['holds'] else 'BROKEN'}  {row['what']}  {row['committed']}")
        print("All commitments hold." if not broken else f"{len(broken)} of {len(rows)} do not hold.")
    if broken:
        raise typer.Exit(1)


def _audit(
    arena: Arena,
    submissions: list[str],
    data: str | None,
    rule: Rule | None,
    mended: Path | None,
    queue: bool,
) -> None:
    """Queue audits, and do their runs here; where zones have users of their own, workers do them."""
    import sys

    from neuroarena.competition.arena import read_about
    from neuroarena.competition.audit.requests import list_open_runs, load_questions, request_audit
    from neuroarena.competition.worker import work_on
    from neuroarena.competition.zones import SEPARATE

    audits = [
        request_audit(
            arena,
            submission,
            load_questions(arena, submission, data),
            rule=None if rule is None else rule.value,
            mended=mended,
        )
        for submission in submissions
    ]
    with arena.store.reading() as connection:
        separate = read_about(connection, "zones") == SEPARATE
    if queue or separate:
        print("Queued; the workers of the competition do it. See: neuroarena audit list", file=sys.stderr)
        return
    work_on(
        arena,
        lambda: list_open_runs(arena, audits),
        report=lambda job, outcome: print(
            f"  {job.submission}: {job.run} {job.state}: {outcome}", file=sys.stderr
        ),
    )


def _print_audits(arena: Arena, as_json: bool) -> None:
    from neuroarena.competition.audit.requests import list_audits

    rows = list_audits(arena)
    if as_json:
        print_json(rows)
    elif rows:
        columns = ["audit", "submission", "rule", "verdict", "reason"]
        cells = [[format_value(row[name]) for name in columns] for row in rows]
        print_table(columns, cells, unbroken=("audit", "submission"))
    else:
        print("Nothing was audited yet.")
