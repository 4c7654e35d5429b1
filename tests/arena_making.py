"""A small competition with a truth of its own: two phases, one track, a clock that the test sets."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from kept_twins import make_place
from neuroarena.competition.arena import EMBEDDED, Arena, create_arena, open_arena
from neuroarena.competition.opening import open_competition
from neuroarena.competition.sealing import keep_truth
from neuroarena.competition.teams import accept_terms, add_team, issue_token
from neuroarena.competition.times import parse_time
from neuroarena.scoring import Manifest, write_submission

FILE = """
name = "spring"
title = "Spring challenge"
contact = "organisers@example.org"
terms = "Be honest."

[[tracks]]
name = "commands"
title = "Commands"
benchmark = "bci/commands"

[tracks.sheets.sealed]
split = "sealed"

[[phases]]
name = "warm-up"
title = "Warm-up"
start = "2026-03-01 00:00 UTC"
end = "2026-03-08 23:59:59 AoE"
per_day = 5

[[phases]]
name = "sealed"
title = "Sealed phase"
start = "2026-03-10 00:00 UTC"
end = "2026-03-20 00:00 UTC"
sealed = true
display = "ladder"
step = 0.02
per_day = 2
"""

MANIFEST = Manifest(
    name="bci/commands",
    definition="test",
    title="Commands",
    question="Which command?",
    metric="balanced_accuracy",
    prediction="label",
    classes=("left", "right"),
    unit="session",
    split_rule="one part",
    licence="none",
)

ABOUT = {"benchmark": "bci@test/commands", "split": "all", "simulated": True}


class Clock:
    """The server's clock, set by hand."""

    def __init__(self, text: str) -> None:
        self.now = parse_time(text)

    def __call__(self, connection: object) -> datetime.datetime:
        return self.now

    def set(self, text: str) -> None:
        self.now = parse_time(text)

    def pass_s(self, seconds: float) -> None:
        self.now += datetime.timedelta(seconds=seconds)


def make_truth(n_units: int = 8, per_unit: int = 10) -> pd.DataFrame:
    rows = [(unit, number) for unit in range(n_units) for number in range(per_unit)]
    # Left and right in turn; in long units each pair in an order of its own, or one bit would be all there is to know.
    turned = np.random.default_rng(0).integers(0, 2, (n_units, per_unit // 2 + 1)) * (per_unit > 10)
    return pd.DataFrame(
        {
            "id": [f"u{unit}-{number}" for unit, number in rows],
            "fold": "all",
            "unit": [f"u{unit}" for unit, _ in rows],
            "cluster": [f"u{unit}" for unit, _ in rows],
            "target": [
                "left" if (number + turned[unit, number // 2]) % 2 else "right" for unit, number in rows
            ],
        }
    )


# So many questions a unit that a tenth more right answers are told from luck, whatever the secret draws.
MANY = 400


def write_answers(path: Path, wrong: int = 0, model: str = "ours", per_unit: int = 10) -> Path:
    """Write a submission with the first `wrong` of every ten rows of every unit wrong."""
    truth = make_truth(per_unit=per_unit)
    other = {"left": "right", "right": "left"}
    number = truth["id"].str.split("-").str[1].astype(int) % 10
    label = [other[t] if n < wrong else t for t, n in zip(truth["target"], number, strict=True)]
    table = pd.DataFrame({"id": truth["id"], "label": label})
    write_submission(path, table, MANIFEST, model=model, contact="a@example.org")
    return path


def make_arena(
    folder: Path,
    clock: Callable[..., datetime.datetime],
    text: str = FILE,
    database: str = EMBEDDED,
    per_unit: int = 10,
) -> Arena:
    """Make an open competition in a folder; on SQLite and a set clock it is a copy of one that was made before."""
    if database != EMBEDDED or not isinstance(clock, Clock):
        return _make_anew(folder, clock, text, database, per_unit)
    (folder / "spring.toml").write_text(text)
    shutil.copytree(_keep_arena(text, clock.now, per_unit), folder / "arena")
    return open_arena(folder / "arena", clock)


@functools.cache
def _keep_arena(text: str, now: datetime.datetime, per_unit: int) -> Path:
    """Return the folder of a competition to copy: making its tables takes longer than most tests do with them."""
    made = _make_anew(make_place(), lambda connection: now, text, EMBEDDED, per_unit)
    made.store.close()
    return made.folder


def _make_anew(
    folder: Path, clock: Callable[..., datetime.datetime], text: str, database: str, per_unit: int
) -> Arena:
    (folder / "spring.toml").write_text(text)
    create_arena(folder / "arena", folder / "spring.toml", database).store.close()
    made = open_arena(folder / "arena", clock)
    for sheet in made.competition.sheets():
        keep_truth(made, sheet, make_truth(per_unit=per_unit), MANIFEST, ABOUT)
    open_competition(made, accept_one_user=True, without_baselines=True)
    return made


def join(arena: Arena, team: str) -> str:
    add_team(arena, team)
    accept_terms(arena, team)
    return issue_token(arena, team)


def with_clock(arena: Arena, clock: Callable[..., datetime.datetime]) -> Arena:
    """The same competition, opened anew."""
    return dataclasses.replace(open_arena(arena.folder, clock))
