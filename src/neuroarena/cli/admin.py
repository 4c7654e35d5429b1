"""``neuroarena admin``: set up and run a competition."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neuroarena.cli.options import Json
from neuroarena.cli.output import format_value, print_json, print_table

app = typer.Typer(help="Set up and run a competition (extra: competition).", no_args_is_help=True)

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the competition.")]


@app.callback()
def _root() -> None:
    """Set up and run a competition."""


@app.command("init")
def init(
    folder: Folder,
    file: Annotated[Path, typer.Option("--from", metavar="FILE", help="The competition file (TOML).")],
    database: Annotated[
        str | None,
        typer.Option("--database", help="Address of a PostgreSQL database; by default a SQLite file in DIR."),
    ] = None,
) -> None:
    """Set up a competition in a new folder; it is closed until `admin open`."""
    from neuroarena.competition.arena import EMBEDDED, create_arena

    arena = create_arena(folder, file, database or EMBEDDED)
    print(f"{arena.competition.title} is set up in {folder}. Next: neuroarena admin seal {folder} TRACK")


@app.command("check")
def check(folder: Folder, as_json: Json = False) -> None:
    """Say whether the configuration is valid, when its phases are, and what is missing before it can open."""
    from neuroarena.competition import open_arena
    from neuroarena.competition.opening import list_missing
    from neuroarena.competition.times import format_aoe, format_utc

    arena = open_arena(folder)
    missing = list_missing(arena)
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
        print_json({"title": arena.competition.title, "phases": phases, "before_opening": missing})
        return
    print(f"{arena.competition.title}: the configuration is valid.")
    for phase in phases:
        cap = "no cap" if phase["per_day"] is None else f"{phase['per_day']} a day"
        print(
            f"  {phase['phase']}: {phase['start']} to {phase['end']} ({phase['end_aoe']}), {phase['display']}, {cap}"
        )
    if missing:
        print("Before opening:")
    for sentence in missing:
        print(f"  {sentence}")


@app.command("seal")
def seal(
    folder: Folder,
    track: Annotated[str, typer.Argument(help="Name of a track.")],
    data: Annotated[str | None, typer.Option("--data", help="Folder of the track's data.")] = None,
) -> None:
    """Read the truth of a track from its data, put it into the vault, and publish rules, ids and a commitment."""
    from neuroarena.competition import open_arena, seal_track

    commitment = seal_track(open_arena(folder), track, data)
    print(f"{track}: sealed. Commitment to publish: {commitment}")


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
) -> None:
    """Let a team in."""
    from neuroarena.competition import add_team, open_arena

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


@app.command("board")
def board(
    folder: Folder,
    track: Annotated[str, typer.Argument(help="Name of a track.")],
    phase: Annotated[str, typer.Option("--phase", help="Name of a phase.")],
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="TIME", help='As of this time: "2026-10-25 12:00 UTC".')
    ] = None,
    final: Annotated[
        bool, typer.Option("--final", help="By the competition's final rule, instead of best-ever.")
    ] = False,
    organiser: Annotated[
        bool, typer.Option("--organiser", help="Of a sealed phase, the full scores; not for publication.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Rank a track: with intervals and verdicts where scores are public, else by the values that were shown."""
    from neuroarena.board.terminal import print_board
    from neuroarena.competition import open_arena
    from neuroarena.competition.boards import find_phase, list_shown, rank_track
    from neuroarena.competition.times import parse_time
    from neuroarena.errors import InputError

    arena = open_arena(folder)
    try:
        time = None if as_of is None else parse_time(as_of)
    except ValueError as error:
        raise InputError(f"--as-of: {error}.") from error
    if find_phase(arena, phase).display == "full" or organiser:
        rule = arena.competition.final.rule if final else "best-ever"
        made = rank_track(arena, track, phase, rule=rule, as_of=time)
        print_json(made.to_dict()) if as_json else print_board(made)
        return
    rows = list_shown(arena, track, phase, time)
    if as_json:
        print_json(rows)
    elif rows:
        print_table(list(rows[0]), [[format_value(value) for value in row.values()] for row in rows])
    else:
        print("Nothing was scored yet.")


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
