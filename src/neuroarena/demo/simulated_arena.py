"""A competition to show a friend: simulated tracks, a dozen simulated teams, and two accounts to sign in with."""

from __future__ import annotations

import datetime
import json
import secrets
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from neuroarena.competition.announcements import post_announcement
from neuroarena.competition.arena import Arena, create_arena, open_arena
from neuroarena.competition.intake import submit
from neuroarena.competition.opening import open_competition
from neuroarena.competition.people.accounts import create_account
from neuroarena.competition.sealing import keep_truth
from neuroarena.competition.site_pages import publish_everything
from neuroarena.competition.teams import accept_terms, add_team, issue_token
from neuroarena.competition.worker import work
from neuroarena.demo.simulated_tracks import TRACKS, SimulatedTrack
from neuroarena.scoring import write_submission

DAY = datetime.timedelta(days=1)
# Team -> its skill from 0 to 1. The first two and a few others are too close to be told apart, as teams are.
TEAMS = {
    "Blue Heron": 0.80, "Night Owls": 0.785, "Cortex Crew": 0.74, "Gamma Band": 0.73, "Quiet Electrodes": 0.69,
    "Theta Wave": 0.64, "Lab 42": 0.63, "Spike Sorters": 0.58, "Wandering Montage": 0.53, "First Steps": 0.45,
    "Linear Friends": 0.36, "Coin Flippers": 0.0,
}  # fmt: skip
# Track -> a team that is better there than elsewhere, so that one lead is real.
STRENGTHS = {"typing": {"Night Owls": 0.15}}
YOURS = "Your team"
PILOT, OPEN = "pilot", "open"
LAST_ROUND = 2


@dataclass(frozen=True)
class Demonstration:
    """A competition that was made to be shown.

    Attributes
    ----------
    arena : Arena
    team, organiser : (str, str)
        Address and password of an account of a team, and of an organiser.
    good, bad : Path
        A file that is accepted on the track "commands", and one that is refused.
    """

    arena: Arena
    team: tuple[str, str]
    organiser: tuple[str, str]
    good: Path
    bad: Path


def make_demonstration(folder: Path, now: datetime.datetime | None = None, seed: int = 0) -> Demonstration:
    """Set up a competition with simulated tracks and teams in a new folder, play its first days, and return it.

    Parameters
    ----------
    folder : Path
        New or empty.
    now : datetime, optional
        When it is shown; by default the time of the clock.
    seed : int
        Of the questions and of the answers.
    """
    moment = now or datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    rng = np.random.default_rng(seed)
    folder.parent.mkdir(parents=True, exist_ok=True)
    file = folder.parent / f".{folder.name}-competition.toml"
    try:
        file.write_text(_write_competition(moment), encoding="utf-8")
        create_arena(folder, file).store.close()
    finally:
        file.unlink(missing_ok=True)
    clock = _Clock(moment - 30 * DAY)
    past = open_arena(folder, clock)
    truths = {
        track.sheet(phase.name): _keep(past, track.name, track.sheet(phase.name), phase.name, rng)
        for track in past.competition.tracks
        for phase in past.competition.phases
    }
    open_competition(past, accept_one_user=True, without_baselines=True)
    tokens = _let_in(past)
    _play(past, clock, truths, tokens, moment, folder, rng)
    clock.now = moment - datetime.timedelta(minutes=10)
    post_announcement(
        past,
        "Welcome",
        "Everything here is simulated: tracks, teams and scores. Sign in, submit a file, and watch it being judged.",
        actor="organiser",
    )
    publish_everything(past)
    past.store.close()
    arena = open_arena(folder)
    good, bad = _write_examples(folder, truths["commands"], rng)
    return Demonstration(arena, *_make_accounts(arena), good, bad)


class _Clock:
    """The clock of a competition whose first days have passed already."""

    def __init__(self, now: datetime.datetime) -> None:
        self.now = now

    def __call__(self, connection: object) -> datetime.datetime:  # noqa: ARG002 - every clock is asked so
        return self.now


def _write_competition(moment: datetime.datetime) -> str:
    """Return the competition file: a sealed pilot that is over, and an open phase that shows full scores."""
    lines = [
        'name = "demo"',
        'title = "Simulated challenge"',
        'contact = "demo@example.org"',
        'description = "A competition to try: every track, team and score is simulated."',
        'terms = "This is a demonstration. Nothing you submit is kept longer than the folder it lies in."',
        'affiliations = "shown"',
        'external_data = "declared"',
        "[final]",
        'rule = "best-of-last-5"',
        "[timetable]",
        "board_minutes = 0.2",
    ]
    for track in TRACKS:
        lines += [
            "[[tracks]]",
            f"name = {json.dumps(track.name)}",
            f"title = {json.dumps(track.title)}",
            f"benchmark = {json.dumps(track.manifest.name)}",
            f"description = {json.dumps(track.description)}",
            f"sponsor = {json.dumps(track.sponsor)}",
            f"constraint = {json.dumps(track.constraint)}",
            'audit = "none: simulated teams have no training to replay"',
            f"[tracks.sheets.{PILOT}]",
            f'split = "{PILOT}"',
        ]
    start, middle, end = moment - 21 * DAY, moment - 10 * DAY, moment + 20 * DAY
    lines += [
        *_phase(PILOT, "Sealed pilot", start, middle),
        "sealed = true",
        'display = "ladder"',
        "steps = { commands = 0.02, sleep-onset = 5.0, typing = 1.0 }",
        *_phase(OPEN, "Open phase", middle, end),
        "per_day = 50",
    ]
    return "\n".join(lines) + "\n"


def _phase(name: str, title: str, start: datetime.datetime, end: datetime.datetime) -> list[str]:
    times = [f'{key} = "{time:%Y-%m-%d %H:%M} UTC"' for key, time in (("start", start), ("end", end))]
    return ["[[phases]]", f'name = "{name}"', f'title = "{title}"', *times]


def _keep(arena: Arena, name: str, sheet: str, phase: str, rng: np.random.Generator) -> pd.DataFrame:
    track = _find(name)
    truth = track.make_truth(rng, "p" if phase == PILOT else "s")
    facts = {"benchmark": f"simulated@demo/{name}", "split": phase, "simulated": True}
    keep_truth(arena, sheet, truth, track.manifest, facts)
    return truth


def _find(name: str) -> SimulatedTrack:
    return next(track for track in TRACKS if track.name == name)


def _let_in(arena: Arena) -> dict[str, str]:
    tokens = {}
    for team in (*TEAMS, YOURS):
        add_team(arena, team, affiliation="simulated" if team in TEAMS else "you")
        accept_terms(arena, team)
        if team in TEAMS:
            tokens[team] = issue_token(arena, team)
    return tokens


def _play(
    arena: Arena,
    clock: _Clock,
    truths: dict[str, pd.DataFrame],
    tokens: dict[str, str],
    moment: datetime.datetime,
    folder: Path,
    rng: np.random.Generator,
) -> None:
    """Let teams hand in once to the pilot and once or twice to the open phase, and judge all of it."""
    rounds = ((PILOT, 15, -0.1), (OPEN, 8, -0.05), (OPEN, LAST_ROUND, 0.0))
    file = folder / "answers.parquet"
    for phase, days, less in rounds:
        clock.now = moment - days * DAY
        for at, track in enumerate(arena.competition.tracks):
            simulated, truth = _find(track.name), truths[track.sheet(phase)]
            for number, team in enumerate(TEAMS):
                # Not every team enters every track, or hands in every time.
                if days > LAST_ROUND and (number + at) % 3 == 0:
                    continue
                more = STRENGTHS.get(track.name, {}).get(team, 0.0) + less
                skill = max(0.0, TEAMS[team] + more) if TEAMS[team] else 0.0
                answers = simulated.make_answers(truth, skill, rng)
                write_submission(
                    file, answers, simulated.manifest, model=f"{team} v{days}", contact="demo@example.org"
                )
                clock.now += datetime.timedelta(minutes=7)
                submit(arena, tokens[team], track.name, file)
        work(arena, until_idle=True, duties=False)
    file.unlink()


def _write_examples(folder: Path, truth: pd.DataFrame, rng: np.random.Generator) -> tuple[Path, Path]:
    """Write a file that is accepted, and one that lacks its last rows."""
    track = _find("commands")
    answers = track.make_answers(truth, 0.75, rng)
    place = folder / "try"
    place.mkdir()
    good, bad = place / "good.parquet", place / "bad.parquet"
    for path, table in ((good, answers), (bad, answers.iloc[:-3])):
        write_submission(path, table, track.manifest, model="my first model", contact="you@example.org")
    return good, bad


def _make_accounts(arena: Arena) -> tuple[tuple[str, str], tuple[str, str]]:
    made = []
    for email, name, team, organiser in (
        ("you@example.org", "You", YOURS, False),
        ("organiser@example.org", "Organiser", None, True),
    ):
        password = secrets.token_urlsafe(9)
        create_account(arena, email, name, password, team=team, organiser=organiser)
        made.append((email, password))
    return made[0], made[1]
