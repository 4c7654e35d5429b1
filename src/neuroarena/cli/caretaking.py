"""``neuroarena admin``, continued: backup, restore, export, upgrade, members, and the state of the queue."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neuroarena.cli.admin import Folder
from neuroarena.cli.options import Json
from neuroarena.cli.output import format_value, print_json, print_table

app = typer.Typer()

Target = Annotated[Path, typer.Argument(metavar="OUT", help="A new folder.")]


@app.command("backup")
def backup(
    folder: Folder,
    target: Target,
    without_signals: Annotated[
        bool,
        typer.Option(
            "--without-signals",
            help="Leave out the signals that code is asked about; admin seal writes them again from the data.",
        ),
    ] = False,
) -> None:
    """Copy a competition into a new folder, consistent also while it is in use; vault and tokens are in it."""
    from neuroarena.competition import open_arena
    from neuroarena.competition.keeping import back_up

    back_up(open_arena(folder), target, signals=not without_signals)
    print(f"The backup is in {target}. It holds the truth: keep it as safe as the vault.")


@app.command("restore")
def restore(
    source: Annotated[Path, typer.Argument(metavar="BACKUP", help="Folder of a backup.")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder for the competition.")],
    database: Annotated[
        str | None, typer.Option("--database", help="Address of an empty PostgreSQL database.")
    ] = None,
    vault: Annotated[
        str | None,
        typer.Option(
            "--vault", metavar="ADDRESS", help="Put the vault into PostgreSQL, by the scorer's own role."
        ),
    ] = None,
) -> None:
    """Set a competition up from a backup, after hashes and the list of events were verified."""
    from neuroarena.competition.arena import EMBEDDED
    from neuroarena.competition.keeping import list_missing_signals, restore, verify_arena

    arena = restore(source, folder, database or EMBEDDED, vault)
    found = verify_arena(arena)
    print(
        f"Restored to {folder}: {found['events']} events, {found['files']} files and {found['scores']} scores verified."
    )
    for sheet in list_missing_signals(arena):
        track, _, phase = sheet.partition("@")
        words = f"{track} --phase {phase}" if phase else track
        print(
            f'The signals of "{sheet}" are not in this backup; no code runs on it until: '
            f"neuroarena admin seal {folder} {words} --data DATA"
        )


@app.command("export")
def export(folder: Folder, target: Target, as_json: Json = False) -> None:
    """Write every table as CSV, with the rules and what is public; nothing of the vault."""
    from neuroarena.competition import open_arena
    from neuroarena.competition.keeping import export

    counts = export(open_arena(folder), target)
    if as_json:
        print_json(counts)
    else:
        print(f"{sum(counts.values())} rows of {len(counts)} tables are in {target}.")


@app.command("upgrade")
def upgrade(folder: Folder) -> None:
    """Bring the store up to the version of this neuroarena; workers of an older one stop."""
    from neuroarena import __version__
    from neuroarena.competition.keeping import upgrade_arena

    upgrade_arena(folder)
    print(f"The store of {folder} belongs to neuroarena {__version__} now.")


@app.command("member")
def member(
    folder: Folder,
    team: Annotated[str, typer.Argument(help="Name of the team.")],
    name: Annotated[str | None, typer.Argument(help="Name of the person; without it, list them.")] = None,
    contact: Annotated[str | None, typer.Option("--contact", help="How to reach the person.")] = None,
    leaves: Annotated[bool, typer.Option("--leaves", help="The person has left the team.")] = False,
) -> None:
    """Add a person to a team, or list the team; nobody belongs to two."""
    from neuroarena.competition import open_arena
    from neuroarena.competition.teams import add_member, list_members, remove_member

    arena = open_arena(folder)
    if name is None:
        with arena.store.reading() as connection:
            people = list_members(connection, team)
        print("\n".join(people) if people else f'The team "{team}" has named nobody.')
    elif leaves:
        remove_member(arena, team, name)
        print(f'{name} has left the team "{team}".')
    else:
        add_member(arena, team, name, contact)
        print(f'{name} belongs to the team "{team}".')


@app.command("organiser")
def organiser(
    folder: Folder,
    email: Annotated[
        str | None, typer.Argument(help="Address of somebody with an account; without it, list them.")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take the right away.")] = False,
    as_json: Json = False,
) -> None:
    """Let somebody with an account run the competition on its pages, or list who may; they sign in anew."""
    from neuroarena.competition import open_arena
    from neuroarena.competition.people.accounts import list_organisers, set_organiser

    arena = open_arena(folder)
    if email is not None:
        set_organiser(arena, email, not remove)
        print(f"{email} is {'not an organiser any more' if remove else 'an organiser now'}.")
        return
    rows = list_organisers(arena)
    if as_json:
        print_json(rows)
    else:
        print("\n".join(f"{row['email']} ({row['name']})" for row in rows) or "There is no organiser yet.")


@app.command("queue")
def queue(folder: Folder, as_json: Json = False) -> None:
    """Show what waits, who works, what is kept for you, and when each duty is due."""
    from neuroarena.competition import open_arena
    from neuroarena.competition.overview import describe_queue

    said = describe_queue(open_arena(folder))
    if as_json:
        print_json(said)
        return
    for title, rows in said.items():
        print(f"{title}:" if rows else f"{title}: none")
        if rows:
            print_table(list(rows[0]), [[format_value(value) for value in row.values()] for row in rows])
