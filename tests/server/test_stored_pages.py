"""What stored pages show while scores are hidden, in halves, and after the reveal, from the rows to the answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from arena_making import FILE, MANIFEST, MANY, Clock, join, make_arena, make_truth, write_answers
from neuroarena.competition import submit, work
from neuroarena.competition.arena import Arena
from neuroarena.competition.reveal import reveal
from neuroarena.competition.site_pages import publish_everything
from neuroarena.competition.tables import PAGE
from neuroarena.scoring import write_submission
from neuroarena.server import create_app

BLIND = FILE.replace('display = "ladder"\nstep = 0.02\n', 'display = "blind"\n')
HALVES = FILE + "\n[halves]\npublic_share = 0.5\n"
NUMBERS = ("score", "shown", "rank", "ci_low", "ci_high", "delta_leader")


@pytest.fixture
def clock() -> Clock:
    return Clock("2026-03-11 12:00 UTC")


def publish(arena: Arena) -> tuple[dict[str, Any], dict[str, Any]]:
    """Publish, and return every page as it is stored, and as visitors get it."""
    publish_everything(arena)
    with arena.store.reading() as connection:
        rows = connection.execute(select(PAGE.c.address, PAGE.c.view, PAGE.c.template)).all()
    client = TestClient(create_app(arena))
    answered = {row.address: client.get(f"/{row.address}.json").json() for row in rows if row.template}
    return {row.address: row.view for row in rows}, answered


def find_numbers(value: Any) -> list[Any]:
    """All that is said under the name of a score or rank, however deep."""
    if isinstance(value, list):
        return [found for one in value for found in find_numbers(one)]
    if not isinstance(value, dict):
        return []
    own = [one for name, one in value.items() if name in NUMBERS and isinstance(one, int | float)]
    return own + [found for one in value.values() for found in find_numbers(one)]


def find_titled(answered: dict[str, Any], word: str) -> dict[str, Any]:
    (found,) = [page for name, page in answered.items() if name.startswith("boards/") and word in name]
    return dict(found)


def test_a_blind_phase_stores_no_number_before_the_reveal_and_all_after_it(tmp_path: Path, clock: Clock):
    arena = make_arena(tmp_path, clock, BLIND)
    for team, wrong in (("reds", 4), ("blues", 1)):
        submit(arena, join(arena, team), "commands", write_answers(tmp_path / "mine.parquet", wrong))
    work(arena, until_idle=True)
    stored, answered = publish(arena)
    board = find_titled(answered, "sealed")
    assert {row["team"] for row in board["shown"]} == {"reds", "blues"}
    assert [(row["rank"], row["shown"]) for row in board["shown"]] == [(None, None)] * 2
    sealed = {name: view for name, view in stored.items() if "sealed" in name}
    assert find_numbers(list(sealed.values())) == []
    assert find_numbers(list(answered.values())) == []
    for hidden in ("0.6", "0.9", '"u0"', "60.0", "90.0"):
        assert hidden not in json.dumps(sealed)
    clock.set("2026-03-21 12:00 UTC")
    reveal(arena)
    work(arena, until_idle=True)
    _, answered = publish(arena)
    assert [(row["rank"], row["team"], row["score"]) for row in find_titled(answered, "final")["table"]] == [
        (1, "blues", pytest.approx(0.9)),
        (2, "reds", pytest.approx(0.6)),
    ]


def test_with_halves_pages_show_the_public_half_until_the_reveal(tmp_path: Path, clock: Clock):
    arena = make_arena(tmp_path, clock, HALVES, per_unit=MANY)
    public = arena.vault.public_units("commands@sealed", half="public")
    truth = make_truth(per_unit=MANY)
    other = truth["target"].map({"left": "right", "right": "left"})
    for team, right in (("reds", truth["unit"].isin(public)), ("blues", ~truth["unit"].isin(public))):
        table = pd.DataFrame({"id": truth["id"], "label": truth["target"].where(right, other)})
        write_submission(tmp_path / "mine.parquet", table, MANIFEST, model=team, contact="a@example.org")
        submit(arena, join(arena, team), "commands", tmp_path / "mine.parquet")
    work(arena, until_idle=True)
    stored, answered = publish(arena)
    shown = {row["team"]: row["shown"] for row in find_titled(answered, "sealed")["shown"]}
    assert shown == {"reds": 1.0, "blues": None}
    assert not [name for name in stored if "final" in name]
    assert not [unit for unit in set(truth["unit"]) if f'"{unit}"' in json.dumps(stored)]
    clock.set("2026-03-21 12:00 UTC")
    work(arena, until_idle=True)
    before = publish(arena)[1]
    assert {row["team"]: row["shown"] for row in find_titled(before, "sealed")["shown"]} == shown
    reveal(arena)
    _, answered = publish(arena)
    final = find_titled(answered, "final")["table"]
    assert [(row["team"], row["score"]) for row in final] == [("blues", 1.0), ("reds", 0.0)]
