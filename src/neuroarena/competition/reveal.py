"""The reveal: key, salts and truth become public at the end, and anyone can compare them with the commitments."""

from __future__ import annotations

import csv
import datetime
import hashlib
import io
import json
from pathlib import Path
from typing import Any

from sqlalchemy import select

from neuroarena import atomic
from neuroarena.competition.arena import Arena, read_about, write_about
from neuroarena.competition.boards import read_scored, read_units
from neuroarena.competition.events import append_event
from neuroarena.competition.judging import judge_half
from neuroarena.competition.orders import derive_seed
from neuroarena.competition.tables import RUN, SUBMISSION
from neuroarena.errors import InputError

FOLDER = "reveal"
SCORES = "scores.json"
ORDERS = ("submission", "sha256", "purpose", "seed")


def reveal(arena: Arena, *, truth: bool = True, early: bool = False) -> Path:
    """Publish what was committed to at the start, and return the folder.

    Parameters
    ----------
    arena : Arena
    truth : bool
        Whether the truth itself is published; without it only the key of the orders is, and named auditors get the
        truth by other ways.
    early : bool
        Whether to do it although a phase has not ended, after which nobody can compete any more.

    Raises
    ------
    InputError
        When a phase has not ended yet.
    """
    with arena.store.reading() as connection:
        now = arena.store.clock(connection)
    open_phases = [phase for phase in arena.competition.phases if phase.end > now]
    if open_phases and not early:
        raise InputError(
            f'The phase "{open_phases[0].title}" has not ended: who knows the truth cannot compete. '
            "Wait, or end the competition with --early."
        )
    folder = arena.folder / "public" / FOLDER
    folder.mkdir(exist_ok=True)
    atomic.write_text(folder / "key.hex", arena.orders.read_key().hex() + "\n")
    atomic.write_text(folder / "orders.csv", _list_orders(arena))
    if truth:
        for sheet in arena.competition.sheets():
            for part in arena.parts(sheet):
                _reveal_truth(arena, folder, sheet, part)
        # Who has the truth can compute every score: they are no secret any more.
        atomic.write_json(folder / SCORES, _list_scores(arena))
    atomic.write_json(folder / "commitments.json", _list_commitments(arena, truth))
    with arena.store.writing() as connection:
        now = arena.store.clock(connection)
        if truth:
            write_about(connection, "revealed", now.isoformat())
            # Who knows the truth cannot compete: nothing is taken from now on.
            write_about(connection, "status", "closed")
        append_event(connection, now, "organiser", "reveal", arena.competition.name, {"truth": truth})
    return folder


def find_reveal(arena: Arena) -> datetime.datetime | None:
    """Return when the truth was revealed; None when it was not."""
    with arena.store.reading() as connection:
        said = read_about(connection, "revealed")
    return None if said is None else datetime.datetime.fromisoformat(said)


def read_revealed(arena: Arena, submission: str) -> dict[str, Any] | None:
    """Return the scores of a submission that the reveal has published: on all people, or on each half."""
    place = arena.folder / "public" / FOLDER / SCORES
    if not place.exists():
        return None
    scores: dict[str, dict[str, Any]] = json.loads(place.read_text(encoding="utf-8"))
    return scores.get(submission)


def verify_commitments(folder: str | Path) -> list[dict[str, Any]]:
    """Compare what was revealed with what was committed to; nothing but hashes of the published files is needed.

    Parameters
    ----------
    folder : path
        A competition, or its published folder ``public``.

    Returns
    -------
    list of dict
        what, committed, found, holds: one row for the key, for every order, and for every truth.

    Raises
    ------
    InputError
        When nothing was revealed there.
    """
    folder = Path(folder)
    public = folder / "public" if (folder / "public").is_dir() else folder
    place = public / FOLDER
    try:
        said = json.loads((place / "commitments.json").read_text(encoding="utf-8"))
        key = bytes.fromhex((place / "key.hex").read_text(encoding="utf-8").strip())
        orders = (place / "orders.csv").read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(
            f"{place}: nothing was revealed here yet, or the files are damaged. "
            "Organisers publish it: neuroarena admin reveal DIR"
        ) from error
    rows = [_compare("key of the orders", _committed_key(public), hashlib.sha256(key).hexdigest())]
    for row in csv.DictReader(io.StringIO(orders)):
        found = derive_seed(key, row["submission"], row["sha256"], row["purpose"])
        rows.append(_compare(f"order of {row['submission']} ({row['purpose']})", row["seed"], found))
    for name, facts in said["truths"].items():
        salt = bytes.fromhex((place / f"{name}.salt.hex").read_text(encoding="utf-8").strip())
        content = (place / f"{name}.parquet").read_bytes()
        committed = _committed_truth(public, facts["sheet"], facts["part"])
        rows.append(_compare(f"truth of {name}", committed, hashlib.sha256(salt + content).hexdigest()))
    return rows


def _compare(what: str, committed: str, found: str) -> dict[str, Any]:
    return {"what": what, "committed": committed, "found": found, "holds": committed == found}


def _reveal_truth(arena: Arena, folder: Path, sheet: str, part: str) -> None:
    name = _name(sheet, part)
    atomic.write_text(folder / f"{name}.salt.hex", arena.vault.read_salt(sheet, part).hex() + "\n")
    atomic.write_bytes(folder / f"{name}.parquet", arena.vault.read_truth_file(sheet, part))


def _list_scores(arena: Arena) -> dict[str, dict[str, Any]]:
    """Return the scores of every submission to a sealed phase, at full precision, by its id."""
    found = {}
    for phase in arena.competition.phases:
        for track in arena.competition.tracks if phase.sealed else ():
            for row in read_scored(arena, track.name, phase):
                units = read_units(arena, row)
                halves = (
                    ("public", "final") if arena.about(track.sheet(phase.name))["halves"] else ("public",)
                )
                values = {
                    half: judge_half(arena, row, units, half, with_interval=False, with_error=False).value
                    for half in halves
                }
                names = ("team", "track", "phase", "scorer_version")
                scores = values if len(halves) > 1 else {"all": values["public"]}
                found[row["submission"]] = {**{name: row[name] for name in names}, "scores": scores}
    return found


def _list_commitments(arena: Arena, truth: bool) -> dict[str, Any]:
    truths = {
        _name(sheet, part): {"sheet": sheet, "part": part}
        for sheet in (arena.competition.sheets() if truth else ())
        for part in arena.parts(sheet)
    }
    formulas = {
        "key": "sha256(key) = key_commitment of every track.json",
        "orders": "hmac-sha256(key, submission|sha256|purpose) = seed",
        "truths": "sha256(salt followed by the truth file) = truth_commitment of track.json",
    }
    return {"truths": truths, "formulas": formulas}


def _list_orders(arena: Arena) -> str:
    """Return the seed of every order as CSV; retries and reruns of a submission have the same one."""
    asked = (
        select(SUBMISSION.c.id, SUBMISSION.c.sha256, RUN.c.purpose)
        .join(RUN, RUN.c.submission == SUBMISSION.c.id)
        .where(SUBMISSION.c.kind == "code")
        .distinct()
        .order_by(SUBMISSION.c.id, RUN.c.purpose)
    )
    key = arena.orders.read_key()
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(ORDERS)
    with arena.store.reading() as connection:
        for submission, sha256, _ in connection.execute(asked):
            for purpose in ("order", "replay"):
                writer.writerow([submission, sha256, purpose, derive_seed(key, submission, sha256, purpose)])
    return written.getvalue()


def _committed_key(public: Path) -> str:
    said = {
        json.loads(file.read_text(encoding="utf-8"))["key_commitment"] for file in public.glob("*/track.json")
    }
    if len(said) != 1:
        raise InputError(f"{public}: the tracks do not agree on one commitment of the key.")
    return str(said.pop())


def _committed_truth(public: Path, sheet: str, part: str) -> str:
    said = json.loads((public / sheet / "track.json").read_text(encoding="utf-8"))
    return str(said["truth_commitment"][part])


def _name(sheet: str, part: str) -> str:
    return f"{sheet}--{part}" if part else sheet
