"""``neuroarena admin``: set up and run a competition."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neuroarena.cli.options import Json
from neuroarena.cli.output import print_json

app = typer.Typer(help="Set up and run a competition (extra: competition).", no_args_is_help=True)

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the competition.")]


@app.callback()
def _root() -> None:
    """Set up and run a competition."""


@app.command("init")
def init(
    folder: Folder,
    file: Annotated[
        str,
        typer.Option(
            "--from", metavar="FILE|NAME", help="The competition file (TOML), or the name of a ready one."
        ),
    ],
    database: Annotated[
        str | None,
        typer.Option("--database", help="Address of a PostgreSQL database; by default a SQLite file in DIR."),
    ] = None,
    vault: Annotated[
        str | None,
        typer.Option(
            "--vault",
            metavar="ADDRESS",
            help="Keep truth and sums in a schema of PostgreSQL, by the scorer's own role; by default in DIR/vault.",
        ),
    ] = None,
) -> None:
    """Set up a competition in a new folder; it is closed until `admin open`."""
    from neuroarena.competition.arena import EMBEDDED, create_arena
    from neuroarena.competition.ready import find_file

    arena = create_arena(folder, find_file(file), database or EMBEDDED, vault)
    print(f"{arena.competition.title} is set up in {folder}. Next: neuroarena admin seal {folder} TRACK")


@app.command("check")
def check(folder: Folder, as_json: Json = False) -> None:
    """Report whether the configuration is valid, when its phases are, and what is missing before it can open."""
    from dataclasses import asdict

    from neuroarena.competition import open_arena
    from neuroarena.competition.budget import measure_budgets
    from neuroarena.competition.opening import find_user_problem, list_missing
    from neuroarena.competition.times import format_aoe, format_utc

    arena = open_arena(folder)
    users = find_user_problem(arena)
    missing, budgets = [*list_missing(arena), *([users] if users else [])], measure_budgets(arena)
    phases = [
        {
            "phase": phase.name,
            "start": format_utc(phase.start),
            "end": format_utc(phase.end),
            "end_aoe": format_aoe(phase.end),
            "display": phase.display,
            "per_day": phase.per_day,
        }
        for phase in arena.competition.phases
    ]
    if as_json:
        said = {"title": arena.competition.title, "phases": phases, "before_opening": missing}
        print_json({**said, "leak_budget": [asdict(each) for each in budgets]})
        return
    print(f"{arena.competition.title}: the configuration is valid.")
    for phase in phases:
        cap = "no cap" if phase["per_day"] is None else f"{phase['per_day']} a day"
        print(
            f"  {phase['phase']}: {phase['start']} to {phase['end']} ({phase['end_aoe']}), {phase['display']}, {cap}"
        )
    if budgets:
        print("Leak budget:")
    for budget in budgets:
        print(f"  {budget.sentence}")
    if missing:
        print("Before opening:")
    for sentence in missing:
        print(f"  {sentence}")


@app.command("seal")
def seal(
    folder: Folder,
    track: Annotated[str, typer.Argument(help="Name of a track.")],
    data: Annotated[str | None, typer.Option("--data", help="Folder of the track's data.")] = None,
    phase: Annotated[
        str | None, typer.Option("--phase", help="Seal the questions that only this phase asks.")
    ] = None,
) -> None:
    """Read the truth of a track from its data, put it into the vault, and publish rules, ids and a commitment."""
    from neuroarena.competition import open_arena, seal_track

    for part, commitment in seal_track(open_arena(folder), track, data, phase).items():
        print(f"{track}{'/' + part if part else ''}: sealed. Commitment to publish: {commitment}")


@app.command("open")
def open_(
    folder: Folder,
    accept_one_user: Annotated[
        bool, typer.Option("--accept-one-user", help="Open sealed phases although one user runs everything.")
    ] = False,
) -> None:
    """Take submissions whenever a phase is open."""
    from neuroarena.competition import open_arena
    from neuroarena.competition.opening import open_competition

    arena = open_arena(folder)
    open_competition(arena, accept_one_user=accept_one_user)
    print(f"{arena.competition.title} is open.")


@app.command("close")
def close(folder: Folder) -> None:
    """Take no submissions until it is opened again; what was received is still judged."""
    from neuroarena.competition import open_arena
    from neuroarena.competition.opening import close_competition

    arena = open_arena(folder)
    close_competition(arena)
    print(f"{arena.competition.title} is closed.")


@app.command("team")
def team(
    folder: Folder,
    name: Annotated[str, typer.Argument(help="Name of the team.")],
    affiliation: Annotated[
        str | None, typer.Option("--affiliation", help="Hidden until the team reveals it.")
    ] = None,
    organiser: Annotated[
        bool, typer.Option("--organiser", help="A team of the organisers: marked, and without prizes.")
    ] = False,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="Show the affiliation of a team that is in.")
    ] = False,
    no_prize: Annotated[
        str | None, typer.Option("--no-prize", metavar="WHY", help="A team that is in takes no prize.")
    ] = None,
    released: Annotated[
        str | None,
        typer.Option(
            "--code-released", metavar="ADDRESS", help="A team that is in has published its code there."
        ),
    ] = None,
) -> None:
    """Let a team in; or reveal the affiliation of one, or say that it takes no prize, or published its code."""
    from neuroarena.competition import add_team, open_arena
    from neuroarena.competition.prizes import record_release
    from neuroarena.competition.teams import reveal_affiliation, set_prize

    if no_prize is not None:
        set_prize(open_arena(folder), name, no_prize)
        print(f'The team "{name}" takes no prize.')
    if released is not None:
        record_release(open_arena(folder), name, released)
        print(f'The team "{name}" has published its code.')
    if reveal:
        reveal_affiliation(open_arena(folder), name, affiliation)
        print(f'The affiliation of the team "{name}" is shown from now on.')
    if reveal or no_prize is not None or released is not None:
        return
    add_team(open_arena(folder), name, affiliation=affiliation, organiser=organiser)
    print(f'The team "{name}" is in. Give it a token: neuroarena admin token {folder} "{name}"')


@app.command("token")
def token(
    folder: Folder,
    name: Annotated[str | None, typer.Argument(help="Name of the team.")] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="A token that cannot submit.")] = False,
    days: Annotated[float, typer.Option("--days", min=0.01, help="How long it is valid.")] = 90,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write it to a file that only you can read.")
    ] = None,
    revoke: Annotated[
        str | None, typer.Option("--revoke", metavar="ID", help="Make a token invalid.")
    ] = None,
) -> None:
    """Make a token for a team and print it, once; or revoke one by the part before its dot."""
    from neuroarena.competition import issue_token, open_arena, revoke_token
    from neuroarena.errors import InputError

    arena = open_arena(folder)
    if (name is None) == (revoke is None):
        raise InputError("Name a team to make a token for, or a token to --revoke.")
    if out is not None and out.exists():
        raise InputError(f"{out} exists already. Name a new file for the token.")
    if revoke is not None:
        revoke_token(arena, revoke)
        print(f"The token {revoke} is not valid any more.")
    elif name is not None:
        _hand_out(issue_token(arena, name, scope="read" if read_only else "submit", days=days), out)


def _hand_out(token: str, out: Path | None) -> None:
    import os

    if out is None:
        print(token)
        return
    with open(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(f"{token}\n")
    print(f"The token is in {out}. Hand it over; it cannot be shown again.")


@app.command("events")
def events(folder: Folder, as_json: Json = False) -> None:
    """Verify the list of events, and print how many there are with the last one's hash."""
    from neuroarena.competition import open_arena
    from neuroarena.competition.events import newest_hash, verify_events

    with open_arena(folder).store.reading() as connection:
        count, head = verify_events(connection), newest_hash(connection)
    if as_json:
        print_json({"events": count, "hash": head})
    else:
        print(f"{count} events, none changed. The last one's hash: {head}")
