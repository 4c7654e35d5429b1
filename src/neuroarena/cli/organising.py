"""``neuroarena admin``, continued: baselines, decisions about submissions, boards, judging again, the reveal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neuroarena.cli.admin import Folder
from neuroarena.cli.options import Json
from neuroarena.cli.output import format_value, print_json, print_table

if TYPE_CHECKING:
    import datetime

app = typer.Typer()

Track = Annotated[str, typer.Argument(help="Name of a track.")]
Submission = Annotated[str, typer.Argument(help="Id of a submission.")]
Reason = Annotated[str, typer.Option("--reason", help="Why, in a sentence.")]
AsOf = Annotated[
    str | None, typer.Option("--as-of", metavar="TIME", help='As of this time: "2026-10-25 12:00 UTC".')
]


@app.command("baseline")
def baseline(
    folder: Folder,
    track: Track,
    phase: Annotated[str, typer.Option("--phase", help="Name of a phase.")],
    real: Annotated[
        Path | None, typer.Option("--real", metavar="FILE", help="Submission of a real baseline.")
    ] = None,
    constant: Annotated[
        Path | None, typer.Option("--constant", metavar="FILE", help="By default it is made here.")
    ] = None,
    shuffled: Annotated[
        Path | None, typer.Option("--shuffled", metavar="FILE", help="By default it is made here.")
    ] = None,
) -> None:
    """Hand in the host's baselines for a phase, also before it begins: a constant, shuffled labels, a real one."""
    from neuroarena.competition import open_arena
    from neuroarena.competition.baselines import submit_baseline
    from neuroarena.competition.boards import find_phase

    arena = open_arena(folder)
    find_phase(arena, phase)
    print(f"constant: {submit_baseline(arena, track, phase, 'constant', constant)}")
    print(f"shuffled: {submit_baseline(arena, track, phase, 'shuffled', shuffled)}")
    if real is not None:
        print(f"real: {submit_baseline(arena, track, phase, 'real', real)}")
    print(f"Next: neuroarena worker --arena {folder} --until-idle")


@app.command("disqualify")
def disqualify(folder: Folder, submission: Submission, reason: Reason) -> None:
    """Take a submission off the boards; the team reads the reason, and `admin undo` takes it back."""
    from neuroarena.competition import open_arena
    from neuroarena.competition.decisions import disqualify

    disqualify(open_arena(folder), submission, reason)
    print(f"{submission} is disqualified.")


@app.command("delete")
def delete(folder: Folder, submission: Submission, reason: Reason = "") -> None:
    """Take a submission off boards and lists; nothing is removed, and `admin undo` brings it back."""
    from neuroarena.competition import open_arena
    from neuroarena.competition.decisions import delete

    delete(open_arena(folder), submission, reason)
    print(f"{submission} is deleted. Undo: neuroarena admin undo {folder} {submission}")


@app.command("undo")
def undo(folder: Folder, submission: Submission) -> None:
    """Undo the disqualification or deletion of a submission."""
    from neuroarena.competition import open_arena
    from neuroarena.competition.decisions import undo

    undone = undo(open_arena(folder), submission)
    print(f"Undone for {submission}: {' and '.join(undone)}.")


@app.command("withdraw")
def withdraw(folder: Folder, submission: Submission, reason: Reason) -> None:
    """Withdraw a submission on behalf of its team, as long as nobody works on it."""
    from neuroarena.competition import open_arena
    from neuroarena.competition.decisions import withdraw_for_team

    withdraw_for_team(open_arena(folder), submission, reason)
    print(f"{submission} is withdrawn.")


@app.command("rerun")
def rerun(folder: Folder, submission: Submission, reason: Reason) -> None:
    """Run a submission again, with its original time; what it scored before is kept."""
    from neuroarena.competition import open_arena
    from neuroarena.competition.decisions import rerun

    print(f"{submission} runs again as {rerun(open_arena(folder), submission, reason)}.")


@app.command("rejudge")
def rejudge(
    folder: Folder,
    track: Annotated[str | None, typer.Option("--track", help="Only this track.")] = None,
) -> None:
    """Score everything anew with the scorer of this version; older scores and boards are kept."""
    from neuroarena.competition import open_arena
    from neuroarena.competition.rejudging import rejudge
    from neuroarena.scoring import SCORER_VERSION

    done = rejudge(open_arena(folder), track)
    print(f"{done} runs judged by scorer {SCORER_VERSION}." if done else "Everything is judged already.")


@app.command("board")
def board(
    folder: Folder,
    track: Track,
    phase: Annotated[str | None, typer.Option("--phase", help="Name of a phase; not with --final.")] = None,
    as_of: AsOf = None,
    final: Annotated[bool, typer.Option("--final", help="The final ranking, by the final rule.")] = False,
    organiser: Annotated[
        bool, typer.Option("--organiser", help="Of a sealed phase, the full scores; not for publication.")
    ] = False,
    publish: Annotated[
        bool, typer.Option("--publish", help="Publish it now, besides every so many minutes.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Rank a track: with intervals and verdicts where scores are public, else by the values that were shown."""
    from neuroarena.board.terminal import print_board
    from neuroarena.competition import open_arena
    from neuroarena.competition.boards import find_phase, list_shown, rank_track
    from neuroarena.competition.site_pages import publish_pages
    from neuroarena.competition.snapshots import publish_board
    from neuroarena.errors import InputError

    arena, time = open_arena(folder), _read_time(as_of)
    if final and phase is not None:
        raise InputError("The final ranking is of the phase that the rules name: leave --phase out.")
    if final:
        _print_final(folder, track, time, as_json)
        return
    if phase is None:
        raise InputError("Name a phase with --phase, or ask for the ranking at the end with --final.")
    if publish:
        number = publish_board(arena, track, phase)
        publish_pages(arena)
        print("Nothing has changed." if number is None else f"Published as board {number}.")
        return
    if find_phase(arena, phase).display == "full" or organiser:
        made = rank_track(arena, track, phase, as_of=time)
        print_json(made.to_dict()) if as_json else print_board(made)
        return
    rows = list_shown(arena, track, phase, time)
    if as_json:
        print_json(rows)
    elif rows:
        print_table(list(rows[0]), [[format_value(value) for value in row.values()] for row in rows])
    else:
        print("Nothing was scored yet.")


@app.command("reveal")
def reveal(
    folder: Folder,
    key_only: Annotated[
        bool, typer.Option("--key-only", help="Publish the key of the orders and not the truth.")
    ] = False,
    early: Annotated[
        bool, typer.Option("--early", help="Although a phase has not ended; nobody can compete afterwards.")
    ] = False,
) -> None:
    """Publish key, salts and truth, so that anyone can compare them with the commitments of the start."""
    from neuroarena.competition import open_arena
    from neuroarena.competition.reveal import reveal

    place = reveal(open_arena(folder), truth=not key_only, early=early)
    print(f"Revealed in {place}. Everybody can verify it: neuroarena audit commitment {folder}")


def _read_time(text: str | None) -> datetime.datetime | None:
    from neuroarena.competition.times import parse_time
    from neuroarena.errors import InputError

    try:
        return None if text is None else parse_time(text)
    except ValueError as error:
        raise InputError(f"--as-of: {error}.") from error


def _print_final(folder: Path, track: str, time: datetime.datetime | None, as_json: bool) -> None:
    from neuroarena.board.terminal import print_board
    from neuroarena.competition import open_arena
    from neuroarena.competition.final import rank_finally

    ranking = rank_finally(open_arena(folder), track, time)
    if as_json:
        said = {"chosen": ranking.chosen, "left_out": ranking.left_out, "no_prize": ranking.no_prize}
        print_json({**said, "board": ranking.board.to_dict()})
        return
    print_board(ranking.board)
    for name, reason in ranking.left_out.items():
        print(f"Not ranked: {name} ({reason}).")
    for name, reason in ranking.no_prize.items():
        print(f"No prize: {name} ({reason}).")
